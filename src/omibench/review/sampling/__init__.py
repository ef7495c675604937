"""Samples of settled work: what seniors judge again, sets of calibration, errors that remain."""
