"""The problems of a setting, and how they are presented: omitted parts, examples, transcripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from omibench.params.blocks import Block, Name, short_form
from omibench.schemas.problem import AttributeName, Question, Subject, Take
from omibench.schemas.validation import suggest_name

Without = Literal["question", "choices"]
"""The parts of a text ablation (paper USNCO-V, figure 6); pictures are removed by `images:
none`."""

Attribute = Literal["subject", "subset", "language"]
"""Attributes of a frozen question."""

PerceptionInput = Literal["I", "I+QM", "I+QM+DM", "I+QG", "I+QG+DG"]
"""MathReal's names (section 4): I for the picture, Q for the question's text, D for the
description of its figures; M as the model reads them from the picture, G as given by the
benchmark."""


class FreezeExamples(Block):
    """The problems to use as solved examples, written separately as examples.jsonl."""

    set_aside: Annotated[int, Field(ge=0)] = 0
    """For `take: sampled`: number of problems drawn. Settings with sampled examples exclude
    them."""
    seed: int = 0
    """Seed of that draw."""
    subsets: AttributeName | None = None
    """For `take: window` and problems of papers: the attribute whose values are the subsets, such
    as `exam`. Benchmarks have their own."""
    first: Annotated[int, Field(ge=0)] = 0
    """For `take: window`: number of problems per subset, from its start. They are evaluated too."""

    @property
    def wanted(self) -> bool:
        """Whether any examples are used."""
        return self.set_aside > 0 or self.first > 0


class Examples(Block):
    """Solved problems shown before the question. `freeze.examples` sets the candidates."""

    k: Annotated[int, Field(ge=0, le=5)] = 3
    """Number of examples; 0 evaluates the same problems without any."""
    take: Take = "sampled"
    """`sampled`: drawn once per question from the problems set aside; a smaller k is the start
    of a larger one (OMIBench, H.4). `window`: in order from the other subset, with sample n of a
    question starting at the n-th, so that five samples are five runs (USNCO-V)."""
    images: Literal["none", "one", "all"] = "none"
    """Pictures of an example to show: none, the first in reading order, or all."""
    reply: Literal["solution", "answer"] = "solution"
    """Content of an example's reply: the reference solution, or only the answer."""
    seed: int = 0
    """Seed of the draw of `sampled`."""

    def lacking(self, samples: int, frozen: FreezeExamples) -> str | None:
        """Return the missing frozen examples for the given samples per question, or None."""
        slides = self.take == "window"
        key, available = ("first", frozen.first) if slides else ("set_aside", frozen.set_aside)
        needed = max(1, self.k + (samples - 1 if slides and self.k else 0))
        if available >= needed:
            return None
        return f"needs freeze.examples.{key} of at least {needed}, but it is {available}"


class Perception(Block):
    """A textual description of a picture before the reasoning. `perception: I+QM` is short."""

    given: PerceptionInput
    by: Name | None = None
    """The model that reads the picture, if not the respondent."""

    @property
    def reads(self) -> bool:
        """Whether a first stage reads the picture."""
        return "M" in self.given


Perceived = Annotated[Perception, short_form("given", PerceptionInput | Perception)]


class Perceiver(Block):
    """A model that describes each picture before the question is answered, without seeing it.
    `perceiver: NAME` is short."""

    model: Name
    """Its block, which can have code of its own at a fixed `revision`."""
    put: Literal["with", "instead"] = "with"
    """Whether its descriptions are shown with the pictures, or instead of them."""
    bare: bool = False
    """Send each picture without instructions (prompt `perceive`), to a model that takes none."""
    format: str | None = None
    """What its descriptions consist of, as told to the model that answers."""
    until: Annotated[str, Field(min_length=1)] | None = None
    """Text with which a description ends: it and what follows are left out."""


Described = Annotated[Perceiver, short_form("model", Name | Perceiver)]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _check_subjects(where: dict[Attribute, list[str]]) -> dict[Attribute, list[str]]:
    subjects = get_args(Subject)
    for name in where.get("subject", []):
        if name not in subjects:
            raise ValueError(
                f"subject: {name!r} is not one of "
                f"{', '.join(subjects)}{suggest_name(name, subjects)}"
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
    """Return whether a question has one of the values of each attribute."""
    return all(getattr(question, name) in values for name, values in where.items())
