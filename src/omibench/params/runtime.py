"""How a study is run here: what changes no result, and so makes no job run again.

Where its logs and its store lie, how its models are reached, how much may be asked at once. What
is of this kind is left out of the slices that trigger jobs, and reaches jobs by the environment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from omibench.params.models.registry import block_class
from omibench.params.roles import JOB, Role, join_fields, select_fields

RUNTIME_ENV = "OMIBENCH_RUNTIME"
"""How Snakemake hands it to its jobs: a parameter of the rules would run them all again."""
RUNTIME_INFER = frozenset({"failed_share"})
"""Keys of the block `infer` that decide whether a cell's job has failed, not what it writes."""

RUNTIME_STUDY = frozenset({"name"})
"""Keys of the block `study` that jobs note beside requests, and write nowhere else."""

EXPERIMENTS = (".dvc", "tmp", "exps")
"""Where DVC puts the copies of a project in which it runs queued experiments."""


def log_folder(results: str) -> str:
    """Where the jobs of a study write their logs: `logs`, or a folder in it for other results.

    Two studies share no log: `results/emma` has `logs/emma`, and `elsewhere/a` has
    `logs/elsewhere/a`.
    """
    first, *folders = [p for p in Path(results).parts if p not in (Path(results).anchor, "..")]
    return str(Path("logs", *([] if first == "results" else [first]), *folders))


def store_folder(store: str, folder: Path) -> str:
    """The store of a study that is run in the folder `folder`.

    DVC runs queued experiments in copies of the project that have no store: they use the
    project's own, so that nothing is bought twice and what they buy stays.
    """
    parts = folder.resolve().parts
    for end in range(len(parts) - len(EXPERIMENTS)):
        if parts[end : end + len(EXPERIMENTS)] == EXPERIMENTS:
            return str(Path(*parts[:end]) / store)
    return store


def dump_runtime(values: Mapping[str, Any], folder: Path) -> str:
    """How the study with these values is run in the folder `folder`, as JSON for `RUNTIME_ENV`."""
    models = {
        name: _select(block, (Role.RUNTIME,)) for name, block in values.get("models", {}).items()
    }
    study_fields = {k: v for k, v in values.get("study", {}).items() if k in RUNTIME_STUDY}
    store = store_folder(values.get("study", {}).get("store", "store"), folder)
    blocks = {name: block for name, block in models.items() if block}
    infer = {k: v for k, v in values.get("infer", {}).items() if k in RUNTIME_INFER}
    study = {**study_fields, "store": store}
    runtime = {"study": study, "models": blocks, **({"infer": infer} if infer else {})}
    return json.dumps(runtime, sort_keys=True)


def job_fields(block: Mapping[str, Any]) -> dict[str, Any]:
    """What of a model's block decides whether a job that asks it runs again."""
    return _select(block, JOB)


def _select(block: Mapping[str, Any], roles: Collection[Role]) -> dict[str, Any]:
    return select_fields(block_class(block.get("provider")), block, roles)


def in_graph() -> bool:
    """Whether this is a job that Snakemake runs, and no command that was given by hand."""
    return bool(os.environ.get(RUNTIME_ENV))


def merge_runtime(values: dict[str, Any]) -> dict[str, Any]:
    """The slice of a job with how Snakemake says that it is run; as it is, outside of Snakemake."""
    text = os.environ.get(RUNTIME_ENV)
    if not text:
        return values
    runtime = json.loads(text)
    models = {
        name: join_fields(block, runtime["models"].get(name, {}))
        for name, block in values.get("models", {}).items()
    }
    blocks = {
        name: {**values.get(name, {}), **runtime[name]}
        for name in ("study", "infer")
        if name in runtime
    }
    return {**values, **blocks, **({"models": models} if models else {})}
