"""Acceptance of results that were made elsewhere, after checking every file."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from omibench.errors import MissingInputError, OmibenchError, UntrustedError
from omibench.files.locations import find_shipped
from omibench.files.programs import ask_git, isolate_env, python_module
from omibench.files.yaml_file import read_mapping
from omibench.graph.provenance import (
    NAME,
    adopt,
    find_stage_folder,
    find_strangers,
    list_differences,
    read_provenance,
    suggest_way_out,
)
from omibench.graph.stages import STAGE_NAMES

_NAMED = 10
"""The number of files listed per stage."""


class Difference(NamedTuple):
    """Problems found in the results of a stage."""

    stage: str
    description: str


def check_files(results: Path, stages: Iterable[str]) -> list[Difference]:
    """Compare the results of `stages` with their provenance."""
    mismatches: list[Difference] = []
    odd = set(find_strangers(results, stages))
    for stage in stages:
        provenance = read_provenance(results / stage)
        if provenance is not None:
            mismatches += [
                Difference(stage, f"{file}: {description}")
                for file, description in list_differences(results / stage, provenance)
            ]
        elif stage in odd:
            description = f"there is no {NAME}: it {suggest_way_out(results, [stage])}"
            mismatches.append(Difference(stage, description))
    return mismatches


def adopt_strangers(results: Path, stages: Iterable[str]) -> list[str]:
    """Restore Snakemake's metadata of results that were made elsewhere; return their stages.

    The files must have been checked.
    """
    adopted = []
    for stage in find_strangers(results, stages):
        if (provenance := read_provenance(results / stage)) is not None:
            adopt(results / stage, provenance)
            adopted.append(stage)
    return adopted


def accept_pulled(results: Path) -> None:
    """Accept results from elsewhere within a stage of DVC, whatever parameters made them.

    Snakemake then rebuilds those that are outdated.

    Raises:
        UntrustedError: A file differs from its provenance.
    """
    refuse_differences(check_files(results, STAGE_NAMES))
    adopt_strangers(results, STAGE_NAMES)


def refuse_differences(differences: Sequence[Difference]) -> None:
    """Raise UntrustedError if there is a difference, with the remedy."""
    if differences:
        raise UntrustedError(
            *name_differences(differences),
            "Nothing was registered: restore the files (`dvc checkout --force`, "
            "`dvc pull`), or delete the folders of these stages and run snakemake",
        )


def name_differences(differences: Sequence[Difference]) -> list[str]:
    """Return a line for each of the first differences of each stage, below their number."""
    lines = []
    for stage, group in groupby(sorted(differences), key=lambda difference: difference.stage):
        texts = [difference.description for difference in group]
        lines += [f"  {stage}: {text}" for text in texts[:_NAMED]]
        if len(texts) > _NAMED:
            lines.append(f"  {stage}: ... and {len(texts) - _NAMED:,} more")
    return [f"{len(differences):,} differences:", *lines]


def check_lock(results: Path, stages: Sequence[str]) -> list[Difference]:
    """Return the files of `stages` that differ from dvc.lock; empty without dvc.lock.

    Raises MissingInputError if DVC fails.
    """
    if not Path("dvc.lock").is_file() or not stages:
        return []
    text = _run("dvc", "data", "status", "--granular", "--json")
    changed = json.loads(text).get("uncommitted", {})
    mismatches = []
    for kind in ("modified", "deleted", "added"):
        for name in changed.get(kind, []):
            folder = find_stage_folder(results, name)
            if folder and folder.name in stages and not name.endswith("/"):
                text = f"{Path(name).relative_to(folder)}: {kind} (reported by DVC)"
                mismatches.append(Difference(folder.name, text))
    return mismatches


def check_graph(results: Path, params: str) -> list[Difference]:
    """Return the files that Snakemake would rebuild, with reasons.

    It plans by omibench's own rules: the folder's Snakefile and profiles may be a stranger's code.

    Raises MissingInputError with Snakemake's message if it fails.
    """
    own = ("--snakefile", str(find_shipped("Snakefile")), "--workflow-profile", "none")
    text = _run("snakemake", "--summary", "--quiet", "all", *own, "--configfile", params)
    lines = text.splitlines()
    start = next(
        (i for i, line in enumerate(lines) if line.startswith("output_file\t")), len(lines)
    )
    mismatches = []
    for row in csv.DictReader(lines[start:], delimiter="\t", quoting=csv.QUOTE_NONE):
        name, reason = row["output_file"], row["status"]
        reason = "follows from what would be rebuilt" if reason == "ok" else reason
        if row["plan"] != "no update" and (folder := find_stage_folder(results, name)):
            text = f"{Path(name).relative_to(folder)}: {reason}"
            mismatches.append(Difference(folder.name, text))
    return mismatches


def explain_missing_results() -> list[str]:
    """Return a line on the results of dvc.lock that are missing here, and how to get them.

    Empty if every result in dvc.lock exists, or there is no dvc.lock that can be read.
    """
    lock = Path("dvc.lock")
    try:
        stages = read_mapping(lock).get("stages", {}) if lock.is_file() else {}
        outputs = [str(out["path"]) for stage in stages.values() for out in stage.get("outs", [])]
    except (OmibenchError, AttributeError, KeyError, TypeError):
        return []
    lost = [path for path in outputs if not Path(path).exists()]
    if not lost:
        return []
    commit = ask_git(Path(), "log", "-1", "--format=%h of %as by %an", "--", str(lock))
    recorded = f", which commit {commit} recorded in {lock}," if commit else f" of {lock}"
    return [
        f"{', '.join(lost)}{recorded} {'is' if len(lost) == 1 else 'are'} missing; `dvc pull && "
        "omibench trust` restores what DVC's cache or a remote has. Run `dvc push` in the folder "
        "of that commit to share the rest, or rebuild it with `snakemake --cores all`, which "
        "requests nothing that is in the store"
    ]


def _run(*words: str) -> str:
    process = subprocess.run(
        python_module(*words), env=isolate_env(os.environ),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if process.returncode:
        lines = [line for line in (process.stderr + process.stdout).splitlines() if line.strip()]
        command = " ".join(words[:2])
        raise MissingInputError(
            f"{command}: {lines[-1].strip() if lines else 'failed without a message'}"
        )
    return process.stdout
