"""Where results lie that dvc.lock names and that are not here: DVC's cache, a remote, nowhere."""

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
from omibench.files.intake import read_json
from omibench.files.isolated import isolate_env, python_module
from omibench.files.yaml_file import read_mapping

LOCK = Path("dvc.lock")
THERE = "deleted"
"""What `dvc status --cloud` calls what is in the remote and not in the cache."""
_REMOTE = re.compile(r"^remote\.(.+)\.url=", re.MULTILINE)
WAIT_S = 120
"""Seconds that a remote may take to answer."""


def where_held() -> list[str]:
    """Lines that say where the missing results of dvc.lock are, and how to get them; often none.

    None where every result that dvc.lock names is there, or there is no dvc.lock.
    """
    lost = [path for path in locked_outputs() if not Path(path).exists()]
    if not lost:
        return []
    commit = _run_quietly("git", "log", "-1", "--format=%h of %as by %an", "--", str(LOCK))
    recorded = f", which commit {commit} has recorded in {LOCK}," if commit else f" of {LOCK}"
    what = f"{', '.join(lost)}{recorded} {'is' if len(lost) == 1 else 'are'} not here"
    needed = [path for path in lost if not _is_cached(path)]
    if not needed:
        return [f"{what}, but in DVC's cache: `dvc checkout && omibench trust` brings them"]
    looked: list[str] = []
    for name in _remotes():
        held = _ask_remote(name, needed)
        if held is not None and held >= set(needed):
            return [f"{what}; the remote {name} holds them: `dvc pull -r {name} && omibench trust`"]
        looked.append(f"the remote {name} {'did not answer' if held is None else 'lacks them'}")
    where = "; ".join(looked) or "no remote is configured (`dvc remote add -d NAME PLACE`)"
    return [
        f"{what}, and not in DVC's cache; {where}. `dvc push` in the folder in which that commit "
        "was made hands them out; or make them anew with `snakemake --cores all`, which buys "
        "nothing that the store holds"
    ]


def locked_outputs() -> list[str]:
    """The outputs that dvc.lock names, in its order; none without one that can be read."""
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
    # `dvc remote list` breaks long lines, within a name's row.
    return list(dict.fromkeys(_REMOTE.findall(_dvc("config", "--list") or "")))


def _ask_remote(remote: str, paths: Iterable[str]) -> set[str] | None:
    """Those outputs, none of which is in the cache, that a remote holds; None: no answer."""
    paths = list(paths)
    told = _dvc("status", "--cloud", "--json", "--remote", remote, *paths)
    try:
        found: dict[str, Any] = json.loads(told or "")
        # DVC names files: those of equal outputs once, and none of an output that is in neither.
        states = {path: _below(found, path) for path in paths}
    except (ValueError, AttributeError):
        return None
    hashes = dict(_read_lock())
    held = {hashes[path] for path, own in states.items() if own == {THERE}}
    return {path for path in paths if hashes[path] in held}


def _below(found: dict[str, Any], output: str) -> set[str]:
    inside = {path: (Path(path), *Path(path).parents) for path in found}
    return {str(state) for path, state in found.items() if Path(output) in inside[path]}


def _is_cached(path: str) -> bool:
    """Whether an output, with every file of it, lies in DVC's cache."""
    md5 = dict(_read_lock())[path]
    if not _place(md5).is_file():
        return False
    if not md5.endswith(".dir"):
        return True
    try:
        listed = [str(file["md5"]) for file in read_json(_place(md5))]
    except (OmibenchError, KeyError, TypeError):
        return False
    return all(_place(one).is_file() for one in listed)


def _place(md5: str) -> Path:
    return _cache() / "files" / "md5" / md5[:2] / md5[2:]


@cache
def _cache() -> Path:
    return Path((_dvc("cache", "dir") or "").strip() or ".dvc/cache")


def _dvc(*words: str) -> str | None:
    return _output([*python_module("dvc", *words)])


def _run_quietly(*words: str) -> str:
    return (_output(list(words)) or "").strip()


def _output(command: list[str]) -> str | None:
    """What a command prints; None where it cannot be run, fails, or takes too long."""
    try:
        done = subprocess.run(
            command, env=isolate_env(os.environ), capture_output=True, text=True, check=False,
            timeout=WAIT_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
