"""Formulas that were not read for certain, read once more by a reader of pictures."""
