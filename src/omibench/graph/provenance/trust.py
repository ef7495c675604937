"""Trust: take results that were made elsewhere for what they are, after looking at every file."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import MissingInputError
from omibench.files.isolated import isolate_env, python_module
from omibench.graph.provenance.provenance import (
    NAME,
    adopt,
    differences,
    read_provenance,
    strangers,
    way_out,
)


class Difference(NamedTuple):
    """What speaks against the results of a stage."""

    stage: str
    what: str


def check_files(results: Path, stages: Iterable[str]) -> list[Difference]:
    """What differs between the results of `stages` and what their provenance says of them."""
    found: list[Difference] = []
    odd = set(strangers(results, stages))
    for stage in stages:
        known = read_provenance(results / stage)
        if known is not None:
            found += [
                Difference(stage, f"{file}: {what}")
                for file, what in differences(results / stage, known)
            ]
        elif stage in odd:
            what = f"there is no {NAME}: it {way_out(results, [stage])}"
            found.append(Difference(stage, what))
    return found


def adopt_strangers(results: Path, stages: Iterable[str]) -> list[str]:
    """Give Snakemake the records of the results that were made elsewhere; returns their stages.

    The files must have been checked.
    """
    done = []
    for stage in strangers(results, stages):
        if (known := read_provenance(results / stage)) is not None:
            adopt(results / stage, known)
            done.append(stage)
    return done


def check_lock(results: Path, stages: Sequence[str]) -> list[Difference]:
    """Files of `stages` that are not those of dvc.lock; none where there is no dvc.lock.

    Raises MissingInputError when DVC cannot tell.
    """
    if not Path("dvc.lock").is_file() or not stages:
        return []
    text = _run("dvc", "data", "status", "--granular", "--json")
    changed = json.loads(text).get("uncommitted", {})
    found = []
    for kind in ("modified", "deleted", "added"):
        for name in changed.get(kind, []):
            stage = _stage_name(name, results)
            if stage in stages and not name.endswith("/"):
                found.append(Difference(stage, f"{_below(name, results, stage)}: {kind}, says DVC"))
    return found


def check_graph(results: Path, params: str) -> list[Difference]:
    """The files that Snakemake would make anew, and why.

    Raises MissingInputError with what Snakemake says when it cannot tell.
    """
    text = _run("snakemake", "--summary", "--quiet", "all", "--configfile", params)
    lines = text.splitlines()
    start = next(
        (i for i, line in enumerate(lines) if line.startswith("output_file\t")), len(lines)
    )
    found = []
    for row in csv.DictReader(lines[start:], delimiter="\t", quoting=csv.QUOTE_NONE):
        name, why = row["output_file"], row["status"]
        why = "follows from what would be made anew" if why == "ok" else why
        if row["plan"] != "no update" and (stage := _stage_name(name, results)):
            found.append(Difference(stage, f"{_below(name, results, stage)}: {why}"))
    return found


def _stage_name(name: str, results: Path) -> str:
    parts, root = Path(name).parts, results.parts
    return parts[len(root)] if parts[: len(root)] == root and len(parts) > len(root) else ""


def _below(name: str, results: Path, stage: str) -> str:
    return str(Path(name).relative_to(results / stage))


def _run(*words: str) -> str:
    done = subprocess.run(
        python_module(*words), env=isolate_env(os.environ),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        what = " ".join(words[:2])
        raise MissingInputError(f"{what}: {said[-1].strip() if said else 'failed without a word'}")
    return done.stdout
