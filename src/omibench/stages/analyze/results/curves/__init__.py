"""Curves: accuracy against a quantity that a study varies, and related measures."""
