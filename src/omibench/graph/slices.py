"""Slices: the part of a Study that one job depends on, and by which Snakemake reruns it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from omibench.params.aggregate import SELF
from omibench.params.model import TOLD
from omibench.params.runtime import OPERATING_INFER, what_answers
from omibench.params.study import Cell, Study, settings_of


def slice_for(study: Study, stage: str, cell: Cell | None = None) -> dict[str, Any]:
    """The part of the Study that one job of `stage` depends on: itself a valid Study.

    A job is run with this slice and reruns when it changes, so a changed setting reruns only its
    own cells and a changed label or title reruns only the report. A cell without a setting stands
    for all cells of its model.
    """
    full = study.model_dump(mode="json", exclude_defaults=True)
    keep = {key: full[key] for key in _SLICES[stage] if key in full}
    names: set[str] = set()
    if stage == "ocr" and study.ocr.reader:
        names = {study.ocr.reader}
    if stage == "filter":
        names = set(study.filter.models)
    if stage == "rationale":
        names = {n for n in (study.rationale.writer, study.rationale.labeller) if n}
    if stage in ("score", "judge"):
        names = set(study.judges(stage))
    if stage == "judge" and "judge" in keep:
        # Which cells there are is nothing that one of them depends on.
        keep["judge"] = {k: v for k, v in keep["judge"].items() if k != "settings"}
    if stage == "saliency" and cell:
        keep["saliency"] = _looked_into(full.get("saliency", {}), cell.setting)
    if stage in ("infer", "saliency", "help") and cell:
        names = {cell.model}
        settings = full.get("settings", {})
        wanted = [cell.setting] if cell.setting else settings_of(study, stage, cell.model)
        keep["settings"] = {name: dict(settings.get(name, {})) for name in wanted}
        for block in keep["settings"].values():
            for key in ("label", "aggregate"):
                block.pop(key, None)
        names |= {m for name in wanted for m in study.settings[name].helpers}
    if stage == "aggregate" and cell:
        panel = study.settings[cell.setting].aggregate.judge
        names = {cell.model if n == SELF else n for n in (panel.models if panel else [])}
        block = full["settings"][cell.setting]
        keep["settings"] = {cell.setting: _only(block, ("decoding", "aggregate"))}
        keep["score"] = _only(full.get("score", {}), ("rules",))
        keep["study"] = _only(full.get("study", {}), ("seed",))
    if stage == "certify":
        keep = {block: _only(keep.get(block, {}), keys) for block, keys in _CERTIFIED.items()} | {
            "infer": {k: v for k, v in keep.get("infer", {}).items() if k not in OPERATING_INFER},
            "score": keep.get("score", {}),
            "judge": keep.get("judge", {}),
            "settings": {
                name: _only(block, ("decoding", "aggregate"))
                for name, block in keep.get("settings", {}).items()
            },
            "models": {n: _what_answers(block) for n, block in keep.get("models", {}).items()},
        }
    if names:
        keep["models"] = {name: _what_answers(full["models"][name]) for name in sorted(names)}
        asking = (*_ASKING, "limit") if stage in _LIMITED else _ASKING
        keep["study"] = _only(full.get("study", {}), asking)
    return keep


_SLICES = {
    "ocr": ("ocr",),
    "filter": ("filter",),
    "rationale": ("rationale",),
    "freeze": ("benchmark", "data", "review", "freeze"),
    "infer": ("data",),
    "help": ("data",),
    "score": ("score",),
    "judge": ("judge",),
    "saliency": ("data",),
    "aggregate": ("score",),
    "certify": ("study", "models", "settings", "infer", "score", "judge", "certify", "analyze"),
    "analyze": (
        "study", "benchmark", "models", "settings", "infer", "score", "judge", "saliency",
        "certify", "analyze",
    ),
}  # fmt: skip
_CERTIFIED = {
    "study": ("name", "seed"),
    "certify": ("labels", "disagreements"),
    "analyze": ("main_rules", "confidence"),
}
_LIMITED = ("infer", "help", "saliency")
"""The stages that ask the frozen problems; others take those that were asked."""
_ASKING = ("seed",)
"""The study's name, which only stands beside requests, reaches jobs by `operating`."""


def _only(block: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: block[key] for key in keys if key in block}


def _looked_into(block: dict[str, Any], setting: str) -> dict[str, Any]:
    """What one cell depends on: not which other cells are looked into."""
    after = [name for name in block.get("after_response", []) if name == setting]
    own = {key: value for key, value in block.items() if key not in ("models", "after_response")}
    return own | {"settings": [setting]} | ({"after_response": after} if after else {})


def _what_answers(model: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in what_answers(model).items() if key not in TOLD}
