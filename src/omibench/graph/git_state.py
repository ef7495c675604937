"""Location of results that are in dvc.lock but missing here: DVC's cache, a remote, or nowhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from omibench.errors import OmibenchError
from omibench.files.programs import ask_git, isolate_env, python_module
from omibench.files.reading import read_json
from omibench.files.yaml_file import read_mapping

LOCK = Path("dvc.lock")
REMOTE_ONLY = "deleted"
"""Status in `dvc status --cloud` of a file in the remote but not in the cache."""
_REMOTE = re.compile(r"^remote\.(.+)\.url=", re.MULTILINE)
WAIT_S = 120
"""Timeout of a remote in seconds."""


def explain_missing_results() -> list[str]:
    """Return lines on the location of missing results of dvc.lock and how to get them.

    None if every result in dvc.lock exists, or there is no dvc.lock.
    """
    lost = [path for path in list_locked_outputs() if not Path(path).exists()]
    if not lost:
        return []
    commit = ask_git(Path(), "log", "-1", "--format=%h of %as by %an", "--", str(LOCK))
    recorded = f", which commit {commit} recorded in {LOCK}," if commit else f" of {LOCK}"
    summary = f"{', '.join(lost)}{recorded} {'is' if len(lost) == 1 else 'are'} missing"
    needed = [path for path in lost if not _is_cached(path)]
    if not needed:
        return [f"{summary}, but in DVC's cache; restore with `dvc checkout && omibench trust`"]
    failures: list[str] = []
    for name in _remotes():
        remote_paths = _ask_remote(name, needed)
        if remote_paths is not None and remote_paths >= set(needed):
            return [
                f"{summary}; the remote {name} has them: `dvc pull -r {name} && omibench trust`"
            ]
        failures.append(
            f"the remote {name} {'did not answer' if remote_paths is None else 'lacks them'}"
        )
    reason = "; ".join(failures) or "no remote is configured (`dvc remote add -d NAME PLACE`)"
    return [
        f"{summary}, and not in DVC's cache; {reason}. Run `dvc push` in the folder of that "
        "commit to share them, or rebuild them with `snakemake --cores all`, which requests "
        "nothing that is in the store"
    ]


def list_locked_outputs() -> list[str]:
    """Return the outputs in dvc.lock, in order; empty if it cannot be read."""
    return [path for path, _ in _read_lock()]


def _read_lock() -> list[tuple[str, str]]:
    if not LOCK.is_file():
        return []
    try:
        stages = read_mapping(LOCK).get("stages", {})
        return [
            (str(out["path"]), str(out["md5"]))
            for stage in stages.values()
            for out in stage.get("outs", [])
        ]
    except (OmibenchError, AttributeError, KeyError, TypeError):
        return []


def _remotes() -> list[str]:
    # `dvc remote list` breaks long lines within a row.
    return list(dict.fromkeys(_REMOTE.findall(_dvc("config", "--list") or "")))


def _ask_remote(remote: str, paths: Iterable[str]) -> set[str] | None:
    """Return the outputs outside the cache that a remote has; None if it does not reply."""
    paths = list(paths)
    answer = _dvc("status", "--cloud", "--json", "--remote", remote, *paths)
    try:
        file_states: dict[str, Any] = json.loads(answer or "")
        # DVC lists files: those of equal outputs once, and none of an output that is in neither.
        states = {path: _select_states(file_states, path) for path in paths}
    except (ValueError, AttributeError):
        return None
    hashes = dict(_read_lock())
    remote_hashes = {
        hashes[path] for path, output_states in states.items() if output_states == {REMOTE_ONLY}
    }
    return {path for path in paths if hashes[path] in remote_hashes}


def _select_states(file_states: dict[str, Any], output: str) -> set[str]:
    inside = {path: (Path(path), *Path(path).parents) for path in file_states}
    return {str(state) for path, state in file_states.items() if Path(output) in inside[path]}


def _is_cached(path: str) -> bool:
    """Return whether an output with all its files is in DVC's cache."""
    md5 = dict(_read_lock())[path]
    if not _place(md5).is_file():
        return False
    if not md5.endswith(".dir"):
        return True
    try:
        hashes = [str(file["md5"]) for file in read_json(_place(md5))]
    except (OmibenchError, KeyError, TypeError):
        return False
    return all(_place(file_hash).is_file() for file_hash in hashes)


def _place(md5: str) -> Path:
    return _cache() / "files" / "md5" / md5[:2] / md5[2:]


@cache
def _cache() -> Path:
    return Path((_dvc("cache", "dir") or "").strip() or ".dvc/cache")


def _dvc(*words: str) -> str | None:
    return _read_output([*python_module("dvc", *words)])


def _read_output(command: list[str]) -> str | None:
    """Return the output of a command; None if it cannot run, fails, or times out."""
    try:
        process = subprocess.run(
            command, env=isolate_env(os.environ), capture_output=True, text=True, check=False,
            timeout=WAIT_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return process.stdout if process.returncode == 0 else None
