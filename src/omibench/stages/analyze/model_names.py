"""Which model of a study a name in a table of others means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_OPTIONAL_ENDING = re.compile(r"(?:instruct|preview|32k)$")


def match_models(names: Iterable[str], labels: Mapping[str, str]) -> dict[str, str | None]:
    """Find the models that a table of others names.

    Args:
        names: As the table writes them.
        labels: Model -> the name under which the study shows it.

    Returns:
        For each name the model whose name or label is the very same; else the only one whose name
        or label differs in case, signs or an ending such as `-Instruct` alone, where no other name
        means it already; else None.
    """
    every = dict.fromkeys(names)
    models: dict[str, str | None] = {
        name: next((model for model, label in labels.items() if name in (model, label)), None)
        for name in every
    }
    taken = {model for model in models.values() if model}
    for name in [name for name, model in models.items() if model is None]:
        wanted = simplify_name(name)
        similar = [
            model
            for model, label in labels.items()
            if model not in taken and wanted in (simplify_name(model), simplify_name(label))
        ]
        if len(similar) == 1:
            models[name] = similar[0]
            taken.add(similar[0])
    return models


def simplify_name(name: str) -> str:
    """The name in lower case, without signs and without an ending such as `-Instruct`."""
    return _OPTIONAL_ENDING.sub("", re.sub(r"[\W_]", "", name.casefold()))
