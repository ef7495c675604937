"""Snakemake's metadata of each file: read from its folder, and restored to it.

It lists the parameters, code and inputs of a file, and Snakemake uses it to decide what is
current. It is in `.snakemake/metadata`, in a file named after the base64 of the path, and
neither git nor DVC includes it. Without it, Snakemake goes by time stamps alone.
"""

from __future__ import annotations

import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omibench.errors import OmibenchError
from omibench.files.atomic import write_atomically
from omibench.files.intake import read_json

FOLDER = Path(".snakemake")
HERE_ONLY = ("starttime", "endtime", "job_hash", "external_jobid", "shellcmd", "conda_env")
"""Fields about a single run, dropped from the metadata stored with results."""
_NAME = 254
"""Maximum length of a file name minus one; longer names are split into folders."""


def list_recorded_paths() -> set[str]:
    """Return the paths with metadata, or whose job was started and not finished."""
    return {path for part in ("metadata", "incomplete") for path in _paths(FOLDER / part)}


def read_record(path: str) -> dict[str, Any] | None:
    """Return the origin of a file, without fields about a single run; None if unknown."""
    try:
        values = read_json(_file(path))
    except OmibenchError:
        return None
    if not isinstance(values, dict):
        return None
    return {key: value for key, value in values.items() if key not in HERE_ONLY}


def write_record(path: str, record: dict[str, Any]) -> None:
    """Write Snakemake's metadata of a file."""
    about_here = {"starttime": None, "endtime": Path(path).stat().st_mtime, "shellcmd": None}
    write_atomically(_file(path), json.dumps({**record, **about_here}).encode())


def _file(path: str) -> Path:
    name = urlsafe_b64encode(path.encode()).decode()
    parts = [name[i : i + _NAME] for i in range(0, len(name), _NAME)]
    return FOLDER.joinpath("metadata", *("@" + part for part in parts[:-1]), parts[-1])


def _paths(folder: Path) -> Iterator[str]:
    # Snakemake lists thousands of files at every start: os.walk opens none of them.
    for root, _, files in os.walk(folder):
        begun = [part.removeprefix("@") for part in Path(root).relative_to(folder).parts]
        for file in files:
            try:
                yield urlsafe_b64decode("".join([*begun, file])).decode()
            except ValueError:
                continue
