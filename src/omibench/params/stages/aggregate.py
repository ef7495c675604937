"""How several samples of one problem become one result: the block `aggregate` of a setting."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name
from omibench.params.names import RuleBookName
from omibench.params.panel import Panel

Marking = Literal["one-by-one", "joint"]
AggregationRule = Literal["mean", "first", "majority", "best-of-n", "tournament"]
BY_JUDGE: tuple[AggregationRule, ...] = ("best-of-n", "tournament")
_WITHOUT_SAMENESS = ("published", "mathreal")
SELF = "self"
"""As a judge's name: the model that gave the samples."""


class Aggregation(Block):
    """One rule for all samples of a problem. `aggregate: majority` is short for it."""

    how: AggregationRule = "mean"
    """`mean`: every sample counts. The others choose one: the first; one with the most frequent
    answer; the one with the highest mark; the winner of a tournament."""
    judge: Panel | None = None
    """The reward model of `best-of-n` and `tournament`: a key of `models`, or `self`."""
    marking: Marking = "one-by-one"
    """Of `best-of-n`: each candidate in a prompt of its own, or all k of them in one prompt
    (`joint`), in as few prompts as the reward model's context holds them (EMMA, 4.3)."""
    captions: Name | None = None
    """For a reward model that takes no pictures: who puts them into words (EMMA, C.4)."""
    caption_prompt: str | None = None
    """A text file whose words take the place of the captioner's instructions."""
    k: list[Annotated[int, Field(ge=1)]] = []
    """Smaller numbers of samples that are reported too; each takes the first k samples."""
    sameness: RuleBookName | None = None
    """The rule book that says which answers are one, for votes and for consistency@k; left out:
    those with the same normal form."""

    @model_validator(mode="after")
    def _compares_answers(self) -> Self:
        if self.sameness in _WITHOUT_SAMENESS:
            raise ValueError(
                f"sameness: {self.sameness} compares no answers by itself; name another rule book"
            )
        return self

    @model_validator(mode="after")
    def _has_its_judge(self) -> Self:
        if (self.how in BY_JUDGE) != (self.judge is not None):
            need = "needs" if self.how in BY_JUDGE else "takes no"
            raise ValueError(f"{self.how!r} {need} `judge`, the model that marks or compares")
        if self.captions and self.judge is None:
            raise ValueError(f"{self.how!r} takes no `captions`: nobody is shown the problem")
        if self.caption_prompt and not self.captions:
            raise ValueError("caption_prompt goes with `captions`, the model that is given it")
        if self.marking == "joint" and self.how != "best-of-n":
            raise ValueError(f"marking: joint goes with best-of-n, not with {self.how}")
        return self

    @property
    def prompt_name(self) -> str:
        """What the words for its reward model are called among the prompts."""
        if self.how == "tournament":
            return "comparison"
        return "joint_marks" if self.marking == "joint" else "mark"

    def name_judges(self, respondent: str) -> list[str]:
        """The models that choose among a respondent's samples, each by its key of `models`."""
        names = self.judge.models if self.judge else []
        return [respondent if name == SELF else name for name in names]


def _write_out(value: object) -> object:
    return {"how": value} if isinstance(value, str) else value


Aggregate = Annotated[
    Aggregation, BeforeValidator(_write_out, json_schema_input_type=AggregationRule | Aggregation)
]
