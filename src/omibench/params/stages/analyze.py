"""The block `analyze`: how results are summarised and shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from omibench.params.blocks import Block
from omibench.params.names import RuleBookName

Tables = Annotated[
    list[str],
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value or [],
        json_schema_input_type=str | list[str] | None,
    ),
]


class AnalyzeParams(Block):
    """How results are summarised and shown."""

    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    main_rules: RuleBookName | None = None
    """The rule book of the headline; the first of `score.rules` when left out."""
    published: Tables = []
    """CSV files of printed results to stand beside ours: one, or several."""
    explorer: bool = True
    """One page a problem and a cell, so that every number can be followed to its page."""
