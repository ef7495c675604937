"""Numbers with units, number words and ratios."""
