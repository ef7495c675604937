"""Runtime parameters of a study: they change no result, so they make no job run again.

Examples are the location of logs and store, the access to models, and concurrency. They are omitted
from the slices that trigger jobs, and passed to jobs by the environment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from omibench.files.locations import find_project
from omibench.params.models.registry import block_class
from omibench.params.roles import JOB, Role, join_fields, select_fields

RUNTIME_ENV = "OMIBENCH_RUNTIME"
"""Environment variable from Snakemake to its jobs: as a parameter of the rules it would rerun
all."""
RUNTIME_INFER = frozenset({"failed_share"})
"""Keys of the block `infer` that determine whether a cell's job has failed, not its output."""

RUNTIME_STUDY = frozenset({"name"})
"""Keys of the block `study` that jobs store only with requests."""


def log_folder(results: str) -> str:
    """Return the log folder of a study's jobs: `logs`, or a folder in it for other results.

    No two studies share logs: `results/emma` has `logs/emma`, and `elsewhere/a` has
    `logs/elsewhere/a`.
    """
    first, *folders = [p for p in Path(results).parts if p not in (Path(results).anchor, "..")]
    return str(Path("logs", *([] if first == "results" else [first]), *folders))


def locate_log(results: str) -> Path:
    """Return the file for Snakemake's output under `omibench run`, in the log folder."""
    return Path(log_folder(results)) / "snakemake.log"


def store_folder(store: str, folder: Path) -> str:
    """Return the store of a study that runs in the folder `folder`.

    DVC runs queued experiments in copies of the project without a store: they use the project's, so
    that nothing is billed twice and their responses are kept.
    """
    project = find_project(folder)
    return store if project == folder.resolve() else str(project / store)


def dump_runtime(values: Mapping[str, Any], folder: Path) -> str:
    """Return the runtime parameters of a study in `folder`, as JSON for `RUNTIME_ENV`."""
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
    """Return the fields of a model's block that determine whether its jobs run again."""
    return _select(block, JOB)


def _select(block: Mapping[str, Any], roles: Collection[Role]) -> dict[str, Any]:
    return select_fields(block_class(block.get("provider")), block, roles)


def in_graph() -> bool:
    """Return whether this is a job of Snakemake, not a command run by a user."""
    return bool(os.environ.get(RUNTIME_ENV))


def merge_runtime(values: dict[str, Any]) -> dict[str, Any]:
    """Merge Snakemake's runtime parameters into the slice of a job; unchanged outside Snakemake."""
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
