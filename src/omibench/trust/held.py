"""Where results lie that dvc.lock names and that are not here: DVC's cache, a remote, nowhere."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from omibench.errors import OmibenchError
from omibench.isolated import isolated, python_module
from omibench.yaml_file import read_mapping

LOCK = Path("dvc.lock")
HERE, THERE = "new", "deleted"
"""What `dvc status --cloud` calls what is in the cache alone, and what is in the remote alone."""
WAIT_S = 120
"""Seconds that a remote may take to answer."""


def where_held() -> list[str]:
    """Lines that say where the missing results of dvc.lock are, and how to get them; often none.

    None where every result that dvc.lock names is there, or there is no dvc.lock.
    """
    lost = [path for path in locked_outputs() if not Path(path).exists()]
    if not lost:
        return []
    commit = _said("git", "log", "-1", "--format=%h of %as by %an", "--", str(LOCK))
    recorded = f", which commit {commit} has recorded in {LOCK}," if commit else f" of {LOCK}"
    what = f"{', '.join(lost)}{recorded} {'is' if len(lost) == 1 else 'are'} not here"
    remotes = _remotes()
    looked: list[str] = []
    for name in remotes:
        states = _states(name, lost)
        if states is None:
            looked.append(f"the remote {name} did not answer")
        elif not states:
            return [f"{what}, but in DVC's cache: `dvc checkout && omibench trust` brings them"]
        elif all(state == THERE for state in states):
            return [f"{what}; the remote {name} holds them: `dvc pull -r {name} && omibench trust`"]
        else:
            looked.append(f"the remote {name} lacks them")
    if not remotes and _are_cached(lost):
        return [f"{what}, but in DVC's cache: `dvc checkout && omibench trust` brings them"]
    where = "; ".join(looked) or "no remote is configured (`dvc remote add -d NAME PLACE`)"
    return [
        f"{what}, and not in DVC's cache; {where}. `dvc push` in the folder in which that commit "
        "was made hands them out; or make them anew with `snakemake --cores all`, which buys "
        "nothing that the store holds"
    ]


def locked_outputs() -> list[str]:
    """The outputs that dvc.lock names, in its order; none without one that can be read."""
    return [path for path, _ in _locked()]


def _locked() -> list[tuple[str, str]]:
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
    told = _dvc("remote", "list") or ""
    return [line.split()[0] for line in told.splitlines() if line.split()]


def _states(remote: str, paths: Iterable[str]) -> set[str] | None:
    """What DVC says of outputs in a remote: nothing where all lie in the cache; None: no answer."""
    told = _dvc("status", "--cloud", "--json", "--remote", remote, *paths)
    try:
        found: dict[str, Any] = json.loads(told or "")
        return {str(state) for state in found.values() if state != HERE}
    except (ValueError, AttributeError):
        return None


def _are_cached(paths: Iterable[str]) -> bool:
    folder, hashes = (_dvc("cache", "dir") or "").strip(), dict(_locked())
    return bool(folder) and all(
        Path(folder, "files", "md5", hashes[path][:2], hashes[path][2:]).is_file() for path in paths
    )


def _dvc(*words: str) -> str | None:
    return _output([*python_module("dvc", *words)])


def _said(*words: str) -> str:
    return (_output(list(words)) or "").strip()


def _output(command: list[str]) -> str | None:
    """What a command prints; None where it cannot be run, fails, or takes too long."""
    try:
        done = subprocess.run(
            command, env=isolated(os.environ), capture_output=True, text=True, check=False,
            timeout=WAIT_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
