"""The block `infer`: the models to evaluate and their settings."""

from __future__ import annotations

from itertools import chain, product
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name, Rate


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
