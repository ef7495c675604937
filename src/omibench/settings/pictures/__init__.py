"""Derived pictures: what some conditions show in place of the originals, kept as files."""
