"""Slices: the part of a Study that one job depends on; Snakemake reruns the job if it changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from omibench.graph.stage import GraphJob, Stage, pick
from omibench.graph.stages import find_stage
from omibench.graph.used_parts import list_texts
from omibench.params.runtime import job_fields
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.plugins import uses_plugin
from omibench.plugins.sources import SOURCES

KINDS_NAMED = {
    "models": {"providers"},
    "settings": {"prompts", "conditions", "strategies", "aggregations"},
    "benchmark": {"benchmarks"},
    "ocr": {"engines"},
    "infer": {"scorers"},
    "filter": {"reasons", "model_reasons", "prompts"},
    "score": {"scorers"},
    "judge": {"judges", "scorers"},
    "analyze": {"scorers"},
}
"""Kinds of parts referenced by a block of params.yaml: a job with the block must know them."""

_ASKING_FROZEN = "respondent"
"""Jobs that query the frozen problems depend on the limit; others process existing responses."""


def slice_study(study: Study, rule: str, cell: Cell | None = None) -> dict[str, Any]:
    """Return the part of the Study that one job depends on: a valid Study.

    A job runs with this slice and reruns if it changes, so a changed setting reruns only its own
    cells, and a changed label or title reruns only the report.

    Args:
        study: The study.
        rule: A stage, or another rule of one, such as `help`.
        cell: The job's cell, if its parameters differ between cells. Without a setting, all
            cells of its model.

    Returns:
        Blocks of params.yaml as plain values, without defaults.
    """
    stage, job = find_stage(rule), GraphJob(rule, cell)
    full, models = _dump(study)
    blocks = {key: full[key] for key in stage.params if key in full}
    if stage.models is None:
        if stage.narrows_models and "models" in blocks:
            blocks["models"] = models
        part = stage.select_blocks(study, job, blocks)
        return deepcopy(_with_plugins(study, stage, part))
    names = sorted({*stage.models(study, job)})
    study_block = blocks.pop("study", {})
    blocks.pop("models", None)
    part = stage.select_blocks(study, job, blocks)
    if names:
        # The study's name, which only tags requests, reaches jobs by the environment.
        keys = ("seed", "limit") if stage.asks == _ASKING_FROZEN else ("seed",)
        part["models"] = {name: models[name] for name in names}
        part["study"] = pick(study_block, keys)
    return deepcopy(_with_plugins(study, stage, part))


_dumped: list[tuple[Study, dict[str, Any], dict[str, Any]]] = []


def _dump(study: Study) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of a study and the job's fields of its models, not to be changed.

    Those of the latest study are kept: one plan needs the slices of all its cells, and each dump
    takes as long as the study has models and settings.
    """
    if not _dumped or _dumped[0][0] is not study:
        full = study.model_dump(mode="json", exclude_defaults=True)
        models = {name: job_fields(block) for name, block in full.get("models", {}).items()}
        _dumped[:] = [(study, full, models)]
    return _dumped[0][1:]


def _with_plugins(study: Study, stage: Stage, blocks: dict[str, Any]) -> dict[str, Any]:
    """Add the plug-ins that a job must load, with the meaning of those that its code uses.

    Only the names in the job's own blocks count, so that the job finds the same from its slice.
    """
    named = {kind for key in stage.params for kind in KINDS_NAMED.get(key, ())}
    used = {*list_texts(blocks)} if study.plugins else set()
    plugins: list[dict[str, str]] = []
    for plugin in study.plugins:
        if uses_plugin(plugin.file, stage.plugins, used):
            plugins.append({"file": plugin.file, "meaning": SOURCES[plugin.file].meaning})
        elif uses_plugin(plugin.file, named, used):
            plugins.append({"file": plugin.file})
    return blocks | ({"plugins": plugins} if plugins else {})


# Hash of a job of the graph: its parameters.


def job_hash(study: Study, stage: str, cell: Cell | None = None) -> str:
    """Return the hash stored in the files of a job.

    Args:
        study: The study, or the job's slice.
        stage: The stage.
        cell: The job's cell, if its parameters differ between cells.

    Returns:
        16 hex digits. The code is not included: a change of code that changes no row leaves the
            file unchanged, so that nothing is rebuilt from it. provenance.json contains the hash
            of the code.
    """
    return hash_slice(stage, slice_study(study, stage, cell))


def hash_slice(stage: str, values: Mapping[str, Any]) -> str:
    """Return the hash of a job of a stage with these parameters; see `job_hash`."""
    text = json.dumps([stage, values], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
