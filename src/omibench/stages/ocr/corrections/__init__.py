"""Corrections of readings: `corrections.yaml`, applied while papers are read."""
