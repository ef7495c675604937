"""Comparison of two runs: the share of each change in their difference."""
