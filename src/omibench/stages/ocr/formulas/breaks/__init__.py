"""Formulas that are broken at the end of a line."""
