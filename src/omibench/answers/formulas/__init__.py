"""Formulas: parsed from LaTeX and compared by value, or by a parser in a killable process."""
