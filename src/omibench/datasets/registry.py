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
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from omibench.datasets.dataset import Dataset
from omibench.datasets.found import SUFFIXES as PICTURES
from omibench.errors import (
    FileFormatError,
    MissingInputError,
    OutputError,
    ParamsError,
    PluginError,
    reason_of,
)
from omibench.extras import require_extra
from omibench.files.parquet import join_frames
from omibench.files.reading import open_regular, resolve_within
from omibench.params.benchmark import BenchmarkParams
from omibench.plugins import Registry

log = logging.getLogger("omibench.datasets")

FILES = 100_000
"""Maximum number of files fetched from a dataset."""
COPIED_BYTES = 64 * 2**30
"""Maximum bytes of tables and pictures that are copied from a dataset without Parquet files."""
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
        join_frames([get(name) for name in shards], resolve_within(folder, f"{stem}.parquet"))
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
    left = COPIED_BYTES
    for name in files:
        target = resolve_within(folder, name)
        with open_regular(get(name), left) as source:
            left -= source.seek(0, 2)
            source.seek(0)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
            except OSError as error:  # such as a file where another one needs a folder
                raise OutputError(
                    f"benchmark.hub: {hub}: {name!r} cannot be copied: {reason_of(error)}"
                ) from None
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
    from huggingface_hub import HfApi, RepoFile, hf_hub_download

    with _explain_hub_errors(hub, revision):
        tree = HfApi().list_repo_tree(hub, recursive=True, revision=revision, repo_type="dataset")
        listed = list(islice(tree, 2 * FILES))
        sizes = {entry.path: entry.size for entry in listed if isinstance(entry, RepoFile)}
    left = COPIED_BYTES

    def get(name: str) -> Path:
        nonlocal left
        left -= sizes[name]
        if left < 0:
            raise FileFormatError(
                f"benchmark.hub: {hub}: {name} ({sizes[name] / 1e9:,.1f} GB) is not downloaded: "
                f"with it, the dataset has more than {COPIED_BYTES / 1e9:,.1f} GB; download the "
                "files yourself and give their folder in `data`"
            )
        with _explain_hub_errors(hub, revision):
            return Path(hf_hub_download(hub, name, repo_type="dataset", revision=revision))

    return sorted(sizes), get


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


# Registry of benchmarks: importer, scorer and published results by name.

Load = Callable[[Path, Path, BenchmarkParams], Dataset]
"""Reads the files in a folder; pictures without a separate file go to the second folder."""


class Benchmark(NamedTuple):
    """A benchmark: its importer, and the results published by its authors.

    `rules` is the authors' scorer; None for your own data. `published` lists the tables of
    printed results in the folder `published/`. `reads_files` is false for synthetic data.
    """

    name: str
    load: Load
    rules: str | None = None
    published: tuple[str, ...] = ()
    reads_files: bool = True


BENCHMARKS: Final[Registry[Benchmark]] = Registry("benchmarks", "benchmark")


def benchmark(
    name: str,
    *,
    rules: str | None = None,
    published: tuple[str, ...] = (),
    reads_files: bool = True,
) -> Callable[[Load], Load]:
    """Register a function as the importer of the benchmark `name`.

    Args:
        name: Value of `benchmark.name`.
        rules: Scorer used by its authors.
        published: Names of tables of printed results in the folder `published/`.
        reads_files: Whether it needs `data` or `benchmark.hub`.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        PluginError: If another benchmark has this name.
    """
    BENCHMARKS.check_name(name)

    def register(load: Load) -> Load:
        part = Benchmark(name, load, rules, published, reads_files)
        BENCHMARKS.add(name, part, load.__module__)
        return load

    return register


def load_benchmark(params: BenchmarkParams, data: str | None, scratch: Path) -> Dataset:
    """Read the questions and answers of a benchmark, in the same order, with unique ids.

    Missing pictures become absent figures, not errors.

    Args:
        params: Block `benchmark`.
        data: Folder with its files, unless `benchmark.hub` gives a dataset.
        scratch: Folder for embedded pictures and fetched files.

    Raises:
        ParamsError: If the name has no importer (`papers` is built from exam papers instead), or
            `data` is not set.
        MissingInputError: If its files are missing.
        FileFormatError: If an item is invalid; gives its id.
        PluginError: If the importer of a plug-in raised an error.
    """
    if params.name not in BENCHMARKS:
        names = ", ".join(sorted(BENCHMARKS))
        raise ParamsError(
            f"benchmark.name: {params.name!r} is not read from files; give one of: {names}"
        )
    chosen = BENCHMARKS.get(params.name)
    folder = _folder(params, data, scratch) if chosen.reads_files else scratch
    with BENCHMARKS.calling(params.name):
        dataset = chosen.load(folder, scratch, params)
        if params.name not in BENCHMARKS.built_in_names:
            _check_pairs(params.name, dataset)
    return dataset


def _folder(params: BenchmarkParams, data: str | None, scratch: Path) -> Path:
    if params.hub and params.revision:
        return fetch(params.hub, params.revision, scratch)
    if not data:
        raise ParamsError(
            f"data: must be the folder with the files of the benchmark {params.name!r} "
            "(or give a dataset to fetch in `benchmark.hub`)"
        )
    if not Path(data).is_dir():
        raise MissingInputError(
            f"{data}: the folder does not exist (`data` of benchmark {params.name!r})"
        )
    return Path(data)


def _check_pairs(name: str, dataset: Dataset) -> None:
    """Raise PluginError unless questions and answers are of the same problems in the same order."""
    questions = [question.id for question in dataset.questions]
    if questions != [answer.id for answer in dataset.answers] or len({*questions}) < len(questions):
        raise PluginError(
            f"benchmark {name!r}: questions and answers must have the same ids in the same order, "
            "each once"
        )
