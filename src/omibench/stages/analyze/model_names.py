"""Match model names in other tables with the models of a study."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_OPTIONAL_ENDING = re.compile(r"(?:instruct|preview|32k)$")


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
    """Return the name in lower case, without punctuation and endings such as `-Instruct`."""
    return _OPTIONAL_ENDING.sub("", re.sub(r"[\W_]", "", name.casefold()))
