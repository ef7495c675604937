"""LaTeX formulas in texts: positions, normal form, and differences."""

from omibench.latex.compare import find_differences, find_missing
from omibench.latex.normal_form import normalise
from omibench.latex.spans import FormulaSpan, find_formulas, replace_formulas, split_outside

__all__ = [
    "FormulaSpan",
    "find_differences",
    "find_formulas",
    "find_missing",
    "normalise",
    "replace_formulas",
    "split_outside",
]
