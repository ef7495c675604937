"""Samples of settled work: audits by seniors, calibration sets, remaining errors."""
