"""Formulas: read from LaTeX, compared by their values, or by a parser that can be killed."""
