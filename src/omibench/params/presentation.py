"""Which problems a setting asks, what it leaves out, shows as examples, or has read first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from omibench.params.blocks import Block, Name
from omibench.schemas.example import Take
from omibench.schemas.problem import Question, Subject
from omibench.schemas.validation import suggest_name

Without = Literal["question", "choices"]
"""What a text ablation takes away (paper USNCO-V, figure 6); pictures go by `images: none`."""

Attribute = Literal["subject", "subset", "language"]
"""What a frozen question says of itself."""

PerceptionInput = Literal["I", "I+QM", "I+QM+DM", "I+QG", "I+QG+DG"]
"""MathReal's names (section 4): the picture, the question's text and the description of its
figures; M as the model reads them from the picture, G as the benchmark gives them."""


class FreezeExamples(Block):
    """Which problems may be shown as solved examples, written apart as examples.jsonl."""

    set_aside: Annotated[int, Field(ge=0)] = 0
    """For `take: sampled`: how many are drawn. Settings with sampled examples do not ask them."""
    seed: int = 0
    """Of that draw."""
    first: Annotated[int, Field(ge=0)] = 0
    """For `take: window`: how many of each subset, from its beginning. All are asked, too."""

    @property
    def wanted(self) -> bool:
        """Whether any may be shown."""
        return self.set_aside > 0 or self.first > 0


class Examples(Block):
    """Solved problems that are shown before the question. `freeze.examples` says which may be."""

    k: Annotated[int, Field(ge=0, le=5)] = 3
    """How many; 0 asks the same problems without any."""
    take: Take = "sampled"
    """`sampled`: drawn once for each question from the problems that were set aside, the first of
    a larger k being those of a smaller (OMIBench, H.4). `window`: in order from the other subset,
    sample n of a question beginning with the n-th, so that five samples are five runs (USNCO-V)."""
    images: Literal["none", "one", "all"] = "none"
    """Which pictures of an example are shown: none, the first that a reader meets, or all."""
    reply: Literal["solution", "answer"] = "solution"
    """What an example's reply holds: the reference solution, or the answer alone."""
    seed: int = 0
    """Of the draw of `sampled`."""

    def lacking(self, samples: int, frozen: FreezeExamples) -> str | None:
        """What must be frozen for as many samples of a question; None where enough is."""
        slides = self.take == "window"
        key, available = ("first", frozen.first) if slides else ("set_aside", frozen.set_aside)
        needed = max(1, self.k + (samples - 1 if slides and self.k else 0))
        if available >= needed:
            return None
        return f"needs freeze.examples.{key}: {needed} or more, and it is {available}"


class Perception(Block):
    """What is known of a picture before it is reasoned about. `perception: I+QM` is short."""

    given: PerceptionInput
    by: Name | None = None
    """The model that reads, where it is not the one that answers."""

    @property
    def reads(self) -> bool:
        """Whether a first stage reads the picture."""
        return "M" in self.given


def _write_out(value: object) -> object:
    return {"given": value} if isinstance(value, str) else value


Perceived = Annotated[
    Perception, BeforeValidator(_write_out, json_schema_input_type=PerceptionInput | Perception)
]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _check_subjects(where: dict[Attribute, list[str]]) -> dict[Attribute, list[str]]:
    subjects = get_args(Subject)
    for name in where.get("subject", []):
        if name not in subjects:
            raise ValueError(
                f"subject names {name!r}, which is none of {', '.join(subjects)}"
                f"{suggest_name(name, subjects)}"
            )
    return where


Values = Annotated[
    list[str],
    BeforeValidator(_as_list, json_schema_input_type=str | list[str]),
    Field(min_length=1),
]
Where = Annotated[dict[Attribute, Values], AfterValidator(_check_subjects)]
"""Attribute -> the values of which a question must have one."""


def is_selected(question: Question, where: Mapping[Attribute, Sequence[str]]) -> bool:
    """Whether a question has one of the values of each attribute."""
    return all(getattr(question, name) in values for name, values in where.items())
