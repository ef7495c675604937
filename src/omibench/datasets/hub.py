"""Hugging Face hub datasets at a pinned commit: only their data files are read.

The dataset card's configurations, data files and loaders are never followed: they can refer to
any address, any local file and any other commit. This module lists the files of the commit
itself.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from omibench.datasets.found import SUFFIXES as PICTURES
from omibench.errors import FileFormatError, MissingInputError
from omibench.extras import require_extra
from omibench.files.intake import resolve_within
from omibench.files.intake.frames import join_frames

log = logging.getLogger("omibench.datasets")

FILES = 100_000
"""Maximum number of files fetched from a dataset."""
_TABLES = (".jsonl", ".json", ".csv")
_DATA = (".parquet", ".jsonl", ".json")
_RELEASE = frozenset({"SHA256SUMS", "manifest.jsonl", "provenance.json"})
"""Files that identify a release of `omibench release build`."""
_SHARD = re.compile(r"(?P<split>.+?)(-\d{5}-of-\d{5})?")
_TOP = ("", "data", "default")
"""Folders that do not represent a configuration."""
Get = Callable[[str], Path]


def fetch(hub: str, revision: str, folder: Path) -> Path:
    """Write the data files of a dataset to `folder` and return it.

    Parquet files are joined into one per configuration (their folder) and split, named
    `<configuration>-<split>.parquet`, or by the split if there is one configuration. A dataset
    without Parquet files keeps the paths of its other tables and pictures, as does a release of
    `omibench release build`. Pictures keep their bytes. `hub` is `owner/name`, or a local folder
    of the same layout. Raises MissingInputError if the hub does not have the dataset at that
    commit, ModelError without the library, and FileFormatError for invalid files.
    """
    log.info("reading %s at %s", hub, revision)
    names, get = _local(Path(hub)) if Path(hub).is_dir() else _remote(hub, revision)
    if set(names) >= _RELEASE:
        # A release is read whole, as `frozen`: its tables are checked against its manifest.
        files = [name for name in names if name in _RELEASE or name.endswith(_DATA)]
        return _copy(hub, files, get, folder)
    parts = _parts(names)
    for stem, shards in parts.items():
        join_frames([get(name) for name in shards], folder / f"{stem}.parquet")
    files = [] if parts else [n for n in names if n.lower().endswith((*_TABLES, *PICTURES))]
    if not parts and not any(name.lower().endswith(_TABLES) for name in files):
        raise MissingInputError(
            f"benchmark.hub: {hub} at {revision[:12]} has no data files (.parquet, .jsonl, "
            ".json, .csv), and a dataset's loader script is never run; fetch the data "
            "yourself and give the folder in `data`"
        )
    return _copy(hub, files, get, folder)


def _copy(hub: str, files: Sequence[str], get: Get, folder: Path) -> Path:
    if len(files) > FILES:
        raise MissingInputError(f"benchmark.hub: {hub} has more than {FILES:,} files")
    for name in files:
        target = resolve_within(folder, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(get(name), target)
    return folder


def _parts(names: Iterable[str]) -> dict[str, list[str]]:
    """Group the Parquet files that belong together by output name."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in sorted(names):
        path = PurePosixPath(name)
        shard = _SHARD.fullmatch(path.stem)
        if path.suffix == ".parquet" and shard:
            above = path.parent.as_posix()
            configuration = "" if above in (".", *_TOP) else above
            groups[configuration, shard["split"]].append(name)
    has_several = len({configuration for configuration, _ in groups}) > 1
    stems: dict[str, list[str]] = {}
    for (configuration, split), shards in groups.items():
        stem = _file_name(f"{configuration or 'default'}-{split}" if has_several else split)
        if stem in stems:
            raise FileFormatError(f"{shards[0]} and {stems[stem][0]}: two files with the same name")
        stems[stem] = shards
    return stems


def _local(folder: Path) -> tuple[list[str], Get]:
    """List the files of a folder, without hidden files and links that lead out of it."""
    names = [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and not path.is_dir()
    ]
    return sorted(names), lambda name: resolve_within(folder, name)


def _remote(hub: str, revision: str) -> tuple[Sequence[str], Get]:
    note = ", or download the files and give their folder in `data`"
    require_extra("hub", f"benchmark.hub: reading {hub}", note=note)
    from huggingface_hub import HfApi, hf_hub_download

    def get(name: str) -> Path:
        with _explain_hub_errors(hub, revision):
            return Path(hf_hub_download(hub, name, repo_type="dataset", revision=revision))

    with _explain_hub_errors(hub, revision):
        files = HfApi().list_repo_files(hub, revision=revision, repo_type="dataset")
    return sorted(files), get


def _file_name(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in text)


@contextmanager
def _explain_hub_errors(hub: str, revision: str) -> Iterator[None]:
    from httpx import HTTPError
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except (HfHubHTTPError, HTTPError, OSError, ValueError) as error:
        line = " ".join(str(error).split())[:300]
        raise MissingInputError(
            f"benchmark.hub: {hub} at {revision[:12]} cannot be read: {line}"
        ) from None
