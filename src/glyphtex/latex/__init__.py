"""LaTeX formulas in texts: positions, normal form, and differences."""

from glyphtex.latex.normal_form import find_differences, find_missing, normalise
from glyphtex.latex.spans import FormulaSpan, find_formulas, replace_formulas, split_outside

__all__ = [
    "FormulaSpan",
    "find_differences",
    "find_formulas",
    "find_missing",
    "normalise",
    "replace_formulas",
    "split_outside",
]
