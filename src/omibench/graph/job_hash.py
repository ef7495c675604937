"""Hash of the parameters of a job, and the parts that a stage of a study uses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from omibench.errors import OmibenchError
from omibench.files.yaml_file import read_mapping
from omibench.graph.stage import GraphJob, Stage, pick
from omibench.graph.stages import find_stage
from omibench.params.runtime import job_fields
from omibench.params.setting import Cell
from omibench.params.stages.rationale import WORDS
from omibench.params.study import Study
from omibench.plugins import uses_plugin
from omibench.plugins.built_in import KINDS, built_in_parts
from omibench.plugins.registry import REGISTRIES
from omibench.plugins.sources import SOURCES

IN_CODE: Final = frozenset({"robust"})
"""Scorers that code uses by name: the filter for models that try a problem, votes over samples."""
_EXCEL: Final = (".xlsx", ".xlsm", ".xls")
PROMPT_REGISTRY: Final = f"omibench.{KINDS['prompts'].registry}"


class UsedParts:
    """Names and modules that count for a stage of a study.

    Attributes:
        names: Every text in the blocks of the stage, keys and defaults included.
        modules_apart: Modules of built-in parts that are no part of its code: scorers that it does
            not use, and all prompts. The wording of those that it uses counts instead
            (`prompts`), since one module defines many.
    """

    def __init__(self, study: Study, blocks: Collection[str]) -> None:
        """Read the blocks with these keys of params.yaml."""
        texts = list_texts(study.model_dump(mode="json", include={*blocks}))
        self.names = frozenset(texts) | IN_CODE
        scorers = built_in_parts("scorers")
        used = {module for name, module in scorers.items() if name in self.names}
        prompts = {*built_in_parts("prompts").values()}
        self.modules_apart = frozenset({*scorers.values()} - used | prompts)

    @cached_property
    def prompts(self) -> str:
        """The wording of the built-in prompts that the stage uses."""
        used = {n: home for n, home in built_in_parts("prompts").items() if n in self.names}
        for home in used.values():
            import_module(home)  # registers them; settings are a layer above
        return "".join(f"{name}\0{REGISTRIES['prompts'].get(name)!r}\0" for name in sorted(used))


def find_unneeded_packages(study: Study) -> frozenset[str]:
    """Return the optional packages that cannot affect the results of a study.

    Installing one of them would otherwise rerun the stages that can use it.
    """
    generators = _list_generators(study)
    needed = {
        "openpyxl": _reads_excel(study),
        "transformers": study.rationale.tokenizer != WORDS,
        "sklearn": study.rationale.taxonomy is not None,
        "rdkit": "chemistry" in generators,
        "matplotlib": "coding" in generators,
    }
    return frozenset(name for name, is_needed in needed.items() if not is_needed)


def _list_generators(study: Study) -> set[str]:
    """Return the generators that the manifest names; none if it cannot be read: `ocr` says so."""
    if study.ocr.sources is None:
        return set()
    with suppress(OmibenchError):
        entries = read_mapping(study.ocr.sources).get("generators")
        return {text for text in list_texts(entries) if text in built_in_parts("generators")}
    return set()


def _reads_excel(study: Study) -> bool:
    names = list_texts(study.model_dump(mode="json"))
    folder = Path(study.data) if study.data else None
    found = [path.name for depth in ("*", "*/*") for path in folder.glob(depth)] if folder else []
    is_recorded = any(model.is_recorded for model in study.models.values())
    return is_recorded or any(Path(name).suffix.lower() in _EXCEL for name in (*names, *found))


def list_texts(value: Any) -> Iterable[str]:
    """Return every text in plain values, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from list_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from list_texts(item)


# Slices: the part of a Study that one job depends on; Snakemake reruns the job if it changes.

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
