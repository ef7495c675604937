"""Snakemake's own records of what made each file: read from its folder, and put back into it.

A record says with which parameters, code and inputs a file was made; by it Snakemake knows what is
current. It lies in `.snakemake/metadata`, in a file named by the base64 of the path that it is
about, and neither git nor DVC carries it along. Without one Snakemake goes by time stamps alone.
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
"""What a record says of one run alone: left out where records are kept beside results."""
_NAME = 254
"""Longest name of a file, less one; longer ones are cut into folders."""


def list_recorded_paths() -> set[str]:
    """The paths that have a record here, or whose job was begun and not ended."""
    return {path for part in ("metadata", "incomplete") for path in _paths(FOLDER / part)}


def read_record(path: str) -> dict[str, Any] | None:
    """What made a file, without what concerns one run alone; None where nothing is known."""
    try:
        values = read_json(_file(path))
    except OmibenchError:
        return None
    if not isinstance(values, dict):
        return None
    return {key: value for key, value in values.items() if key not in HERE_ONLY}


def write_record(path: str, record: dict[str, Any]) -> None:
    """Let Snakemake know what made a file."""
    about_here = {"starttime": None, "endtime": Path(path).stat().st_mtime, "shellcmd": None}
    write_atomically(_file(path), json.dumps({**record, **about_here}).encode())


def _file(path: str) -> Path:
    name = urlsafe_b64encode(path.encode()).decode()
    parts = [name[i : i + _NAME] for i in range(0, len(name), _NAME)]
    return FOLDER.joinpath("metadata", *("@" + part for part in parts[:-1]), parts[-1])


def _paths(folder: Path) -> Iterator[str]:
    # Thousands of records are listed whenever Snakemake starts: os.walk looks at none of them.
    for root, _, files in os.walk(folder):
        begun = [part.removeprefix("@") for part in Path(root).relative_to(folder).parts]
        for file in files:
            try:
                yield urlsafe_b64decode("".join([*begun, file])).decode()
            except ValueError:
                continue
