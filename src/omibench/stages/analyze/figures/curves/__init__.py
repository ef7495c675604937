"""Figures of curves: accuracy against what a study varies on purpose, and what goes with it."""
