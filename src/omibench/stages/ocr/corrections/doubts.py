"""Remove doubtful formulas that are no longer in a problem."""

from __future__ import annotations

import re
from typing import Final

from omibench.schemas.problem import BBox, DoubtfulFormula, Problem
from omibench.schemas.problem_warning import ProblemWarning

DOUBTFUL: Final = "formula_doubtful"
"""The code of the warning that the reading of a formula is uncertain."""
DIFFERS: Final = "formula_differs"
"""The code of the warning that two readers read a formula differently."""
INK_UNREAD: Final = "ink_unread"
"""The code of the warning that ink is in no text, formula or figure."""
_PLACE: Final = re.compile(r"page (\d+), box \((-?\d+), (-?\d+), (-?\d+), (-?\d+)\)")
"""The start of such a warning: `describe_box`."""


def drop_settled_doubts(problem: Problem) -> Problem:
    """Return a problem without doubtful formulas, and their warnings, that its texts no longer
    have."""
    texts = [problem.question, problem.solution or ""]
    texts += [choice.text or "" for choice in problem.choices or []]
    settled = [
        formula
        for formula in problem.doubtful_formulas
        if not any(formula.latex in text for text in texts)
    ]
    if not settled:
        return problem
    return problem.model_copy(
        update={
            "doubtful_formulas": [f for f in problem.doubtful_formulas if f not in settled],
            "warnings": [
                warning
                for warning in problem.warnings
                if not any(_is_about(warning, formula) for formula in settled)
            ],
        }
    )


def read_place(warning: ProblemWarning) -> tuple[int, BBox] | None:
    """Return page and box of the formula or the ink in a warning; None for other warnings."""
    place = (
        _PLACE.match(warning.detail) if warning.code in (DOUBTFUL, DIFFERS, INK_UNREAD) else None
    )
    if place is None:
        return None
    page, x0, y0, x1, y1 = map(int, place.groups())
    return page, (x0, y0, x1, y1)


def _is_about(warning: ProblemWarning, formula: DoubtfulFormula) -> bool:
    """Return whether a warning gives the place of a formula, with edges rounded to points."""
    place = read_place(warning)
    if place is None or place[0] != formula.page:
        return False
    return all(abs(a - b) <= 1 for a, b in zip(place[1], formula.bbox, strict=True))
