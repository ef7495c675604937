"""The block `infer`: the models to evaluate and their settings."""

from __future__ import annotations

from itertools import chain, pairwise, product
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name, Rate, ScorerName
from omibench.schemas.adaptive import Spending

MOST_BATCH_LOOKS: Final = 3
"""Each look waits for the answers of the one before; a batch can take a day."""


_FIRST, _STEP = 0.05, 0.01
"""Smallest share of the problems at the first look, and from one look to the next."""
_ROUNDED = 1e-9


class Adaptive(Block):
    """Stop asking models that cannot be the best.

    All cells answer the problems in one order. At each look, cells that are behind the leader stop;
    the others go on. It finds the best cell and ranks no other.
    """

    goal: Literal["leader"] = "leader"
    """What is found: the best cell."""
    looks: Annotated[list[Annotated[float, Field(gt=0, le=1)]], Field(min_length=2, max_length=50)]
    """Share of the problems at each look, ascending; the first is 0.05 or more, the last is 1."""
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """Probability with which the best cell may be stopped, over all looks and cells together."""
    spending: Spending = "obrien-fleming"
    """How `alpha` is spent over the looks: little at first, or evenly."""
    scorer: ScorerName = "robust"
    """The scorer whose verdicts are compared: one of `score.scorers` that needs no model."""
    order: list[Literal["subject", "n_images", "answer_type", "language", "subset"]] = [
        "subject",
        "n_images",
    ]
    """Attributes of which each part of the order has about the same mix."""
    keep: list[Name] = []
    """Models that are never stopped."""

    @model_validator(mode="after")
    def _looks_ascend_to_one(self) -> Self:
        if sorted(set(self.looks)) != self.looks or self.looks[-1] != 1:
            raise ValueError(f"looks must ascend to 1, such as [0.25, 0.5, 1], not {self.looks}")
        steps = [after - before for before, after in pairwise(self.looks)]
        if self.looks[0] < _FIRST or min(steps) < _STEP - _ROUNDED:
            raise ValueError(
                f"looks: the first must be at least {_FIRST:g} and each {_STEP:g} after the one "
                f"before, since fewer problems decide nothing; they are {self.looks}"
            )
        return self


class Crossed(Block):
    """Each of the models under each of the settings."""

    models: Annotated[list[Name], Field(min_length=1)]
    settings: Annotated[list[Name], Field(min_length=1)]


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


Crossings = Annotated[
    list[Crossed],
    BeforeValidator(_as_list, json_schema_input_type=Crossed | list[Crossed]),
    Field(min_length=1),
]


class InferParams(Block):
    """The models to evaluate and their settings: all pairs unless narrowed."""

    models: list[Name] = []
    """Default: all models in `printed`."""
    settings: list[Name] = []
    """Default: all settings in `printed`."""
    only: dict[str, list[Name]] = {}
    """The settings of a model that is not evaluated under all."""
    printed: dict[str, Crossings] = {}
    """The pairs in each table or figure of a paper (`table 2`). If set, only these pairs are
    evaluated; `models`, `settings` and `only` narrow them further."""
    failed_share: Rate = 0.05
    """Share of a cell's responses that can end as `provider_error`. The job of a cell with more
    of them, or without any answer, fails; its responses stay in the store."""
    adaptive: Adaptive | None = None
    """Stop asking models that cannot be the best (docs/reference/adaptive.md)."""

    @model_validator(mode="before")
    @classmethod
    def _named_by_what_is_printed(cls, values: Any) -> Any:
        if not isinstance(values, dict) or not isinstance(values.get("printed"), dict):
            return values
        collected: dict[str, list[Any]] = {"models": [], "settings": []}
        for crossings in values["printed"].values():
            for crossed in _as_list(crossings):  # type: ignore[attr-defined]
                for key in collected:
                    named = crossed.get(key) if isinstance(crossed, dict) else None
                    collected[key] += named if isinstance(named, list) else []
        return {key: list(dict.fromkeys(names)) for key, names in collected.items()} | values

    def list_pairs(self) -> list[tuple[str, str]]:
        """List the models and settings to evaluate, model by model."""
        pairs = [
            (model, setting)
            for model in self.models
            for setting in self.settings
            if setting in self.only.get(model, self.settings)
        ]
        if not self.printed:
            return pairs
        crossed = chain.from_iterable(self.printed.values())
        printed = {pair for c in crossed for pair in product(c.models, c.settings)}
        return [pair for pair in pairs if pair in printed]

    def list_printed_places(self, model: str, setting: str) -> list[str]:
        """List the tables and figures that print a model under a setting."""
        return [
            name
            for name, crossings in self.printed.items()
            if any(model in c.models and setting in c.settings for c in crossings)
        ]
