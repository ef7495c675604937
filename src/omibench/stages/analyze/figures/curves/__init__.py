"""Figures of curves: accuracy against a quantity that a study varies, and related measures."""
