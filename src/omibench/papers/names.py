"""Whether two names mean the same model: a paper's, another benchmark's, and the study's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

Item = TypeVar("Item")

_OPTIONAL_ENDING = re.compile(r"(?:instruct|preview|32k)$")
"""Endings of names that some tables of a paper omit."""


@lru_cache(4096)
def normalise_name(name: str) -> str:
    """Return a model's name without case, punctuation and optional endings."""
    return _OPTIONAL_ENDING.sub("", re.sub(r"[\W_]", "", name.casefold()))


def find_same(
    name: str, items: Iterable[Item], names_of: Callable[[Item], Iterable[str]]
) -> tuple[list[Item], bool]:
    """Find the items with a name: exactly this one, otherwise one that is equal when normalised.

    Args:
        name: The name.
        items: The items.
        names_of: The names of an item.

    Returns:
        The items in order, and whether they have exactly this name.
    """
    named = [(item, list(names_of(item))) for item in items]
    exact = [item for item, names in named if name in names]
    if exact:
        return exact, True
    wanted = normalise_name(name)
    return [item for item, names in named if wanted in map(normalise_name, names)], False


def match_models(names: Iterable[str], labels: Mapping[str, str]) -> dict[str, str | None]:
    """Match names of models in another table with the models of a study.

    Args:
        names: Names as printed in the table.
        labels: Labels of the study's models, by name.

    Returns:
        For each name, the model with exactly that name or label. Otherwise the only model whose
        name or label differs just in case, punctuation or an ending such as `-Instruct`, unless
        another name already matches it. Otherwise None.
    """
    found = {name: find_same(name, labels.items(), tuple) for name in dict.fromkeys(names)}
    models = {name: same[0][0] if is_exact else None for name, (same, is_exact) in found.items()}
    taken = set(models.values())
    for name, (same, is_exact) in found.items():
        free = [model for model, _ in same if model not in taken]
        if not is_exact and len(free) == 1:
            models[name] = free[0]
            taken.add(free[0])
    return models
