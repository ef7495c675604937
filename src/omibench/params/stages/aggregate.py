"""The block `aggregate` of a setting: how several samples of a problem become one result."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name
from omibench.params.names import ScorerName
from omibench.params.panel import Panel

Marking = Literal["one-by-one", "joint"]
AggregationRule = Literal["mean", "first", "majority", "best-of-n", "tournament"]
BY_JUDGE: tuple[AggregationRule, ...] = ("best-of-n", "tournament")
_WITHOUT_SAMENESS = ("published", "mathreal")
SELF = "self"
"""Judge name for the model that generated the samples."""


class Aggregation(Block):
    """One rule for all samples of a problem. `aggregate: majority` is short for it."""

    how: AggregationRule = "mean"
    """`mean`: every sample counts. The others choose one: the first; one with the most frequent
    answer; the one with the highest mark; the winner of a tournament."""
    judge: Panel | None = None
    """The reward model of `best-of-n` and `tournament`: a key of `models`, or `self`."""
    marking: Marking = "one-by-one"
    """For `best-of-n`: each candidate in a separate prompt, or all k of them in one prompt
    (`joint`), in as few prompts as fit into the reward model's context (EMMA, 4.3)."""
    captions: Name | None = None
    """For a reward model without image input: the model that describes the pictures (EMMA, C.4)."""
    caption_prompt: str | None = None
    """Text file that replaces the captioner's instructions."""
    k: list[Annotated[int, Field(ge=1)]] = []
    """Smaller numbers of samples to report as well; each takes the first k samples."""
    sameness: ScorerName | None = None
    """The scorer that determines which answers are equal, for votes and for consistency@k;
    default: answers with the same normal form."""

    @model_validator(mode="after")
    def _compares_answers(self) -> Self:
        if self.sameness in _WITHOUT_SAMENESS:
            raise ValueError(
                f"sameness: {self.sameness} cannot compare answers by itself; set another scorer"
            )
        return self

    @model_validator(mode="after")
    def _has_its_judge(self) -> Self:
        if (self.how in BY_JUDGE) != (self.judge is not None):
            need = "needs" if self.how in BY_JUDGE else "takes no"
            raise ValueError(f"{self.how!r} {need} `judge`, the model that marks or compares")
        if self.captions and self.judge is None:
            raise ValueError(
                f"{self.how!r} takes no `captions`, since no model is shown the problem; remove it"
            )
        if self.caption_prompt and not self.captions:
            raise ValueError("caption_prompt requires `captions`, the model that gets it")
        if self.marking == "joint" and self.how != "best-of-n":
            raise ValueError(f"marking: joint is only for best-of-n, not for {self.how}")
        return self

    @property
    def prompt_name(self) -> str:
        """Name of the prompt for its reward model."""
        if self.how == "tournament":
            return "comparison"
        return "joint_marks" if self.marking == "joint" else "mark"

    def name_judges(self, respondent: str) -> list[str]:
        """Return the keys in `models` of the models that choose among a respondent's samples."""
        names = self.judge.models if self.judge else []
        return [respondent if name == SELF else name for name in names]


def _write_out(value: object) -> object:
    return {"how": value} if isinstance(value, str) else value


Aggregate = Annotated[
    Aggregation, BeforeValidator(_write_out, json_schema_input_type=AggregationRule | Aggregation)
]
