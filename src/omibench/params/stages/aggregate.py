"""How several samples of one problem become one result: the block `aggregate` of a setting."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block
from omibench.params.panel import Panel

AggregationRule = Literal["mean", "first", "majority", "best-of-n", "tournament"]
BY_JUDGE: tuple[AggregationRule, ...] = ("best-of-n", "tournament")
SELF = "self"
"""As a judge's name: the model that gave the samples."""


class Aggregation(Block):
    """One rule for all samples of a problem. `aggregate: majority` is short for it."""

    how: AggregationRule = "mean"
    """`mean`: every sample counts. The others choose one: the first; one with the most frequent
    answer; the one with the highest mark; the winner of a tournament."""
    judge: Panel | None = None
    """The reward model of `best-of-n` and `tournament`: a key of `models`, or `self`."""
    k: list[Annotated[int, Field(ge=1)]] = []
    """Smaller numbers of samples that are reported too; each takes the first k samples."""

    @model_validator(mode="after")
    def _has_its_judge(self) -> Self:
        if (self.how in BY_JUDGE) != (self.judge is not None):
            need = "needs" if self.how in BY_JUDGE else "takes no"
            raise ValueError(f"{self.how!r} {need} `judge`, the model that marks or compares")
        return self


def _write_out(value: object) -> object:
    return {"how": value} if isinstance(value, str) else value


Aggregate = Annotated[
    Aggregation, BeforeValidator(_write_out, json_schema_input_type=AggregationRule | Aggregation)
]
