"""Finds models and settings that a study defines but never uses."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.params.study import Study


def describe_unused(study: Study) -> str | None:
    """Return a line with the unused models and settings and a remedy; else None.

    Otherwise a study without `infer` would silently end with its dataset.
    """
    models = [name for name in study.models if name not in study.asked_models]
    settings = [name for name in study.settings if name not in study.infer.settings]
    if not models and not settings:
        return None
    ends = "" if study.cells else ", and the study ends with its dataset"
    names = [*_describe_names("model", models), *_describe_names("setting", settings)]
    block = f"infer: {{{_infer(study, models, settings)}}}"
    return f"{' and '.join(names)}: never used{ends}; add `{block}`, or remove them"


def _describe_names(kind: str, names: Sequence[str]) -> list[str]:
    return [f"the {kind}{'s' if len(names) > 1 else ''} {', '.join(names)}"] if names else []


def _infer(study: Study, models: Sequence[str], settings: Sequence[str]) -> str:
    lists = {
        "models": [*study.infer.models, *models] or ["..."],
        "settings": [*study.infer.settings, *settings] or ["..."],
    }
    return ", ".join(f"{key}: [{', '.join(names)}]" for key, names in lists.items())
