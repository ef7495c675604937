"""Rule book `mathreal`: boxes, then extraction and grading by a model (MathReal's protocol)."""

from __future__ import annotations

from typing import NoReturn

from omibench.errors import OmibenchError
from omibench.verdict import ScoredItem

NAME = "mathreal"
VERSION = 0


def score(item: ScoredItem) -> NoReturn:
    """Raise OmibenchError: the rule needs a model that grades, which this version cannot ask."""
    raise OmibenchError(
        "rule book 'mathreal' needs a grading judge, which this version does not have yet;"
        " use --rules robust"
    )
