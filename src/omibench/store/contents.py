"""The contents of a store: its partitions by name, and counts over each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omibench.errors import MissingInputError, StoreError
from omibench.schemas.validation import suggest_name
from omibench.store.files import OpenFiles
from omibench.store.liveness import read_start_time
from omibench.store.partition.compact import SET_ASIDE
from omibench.store.partition.counts import Counts
from omibench.store.partition.index import Damage, read_state
from omibench.store.partition.line import Body
from omibench.store.partition.pack import SUFFIX as PACK
from omibench.store.partition.pack import PackFile
from omibench.store.partition.partition import CARD, Partition
from omibench.store.partition.segment import SUFFIX as SEGMENT
from omibench.store.partition.segment import SegmentFile
from omibench.store.partition.stored import StoredFile
from omibench.store.partition.table import open_table
from omibench.store.store import partition_folders, read_card


@dataclass
class PartitionSummary:
    """The counts of one model's responses, and its files."""

    name: str
    model: dict[str, Any]
    counts: Counts = field(default_factory=Counts)
    duplicates: int = 0
    segments: int = 0
    packs: int = 0
    bytes: int = 0
    damaged: list[Damage] = field(default_factory=list)
    set_aside: int = 0
    """Damaged lines that compaction has moved to separate files."""


@dataclass
class ImageSummary:
    """The pictures of a store."""

    images: int = 0
    bytes: int = 0


def choose(store: Path, model: str | None) -> list[Path]:
    """Return the folders of all partitions, or of one model by its id or folder name.

    Raises MissingInputError if the store, or the model in it, does not exist.
    """
    folders = partition_folders(store)
    if model is None:
        return folders
    names = {folder: {folder.name, str(_identity(folder).get("id", ""))} for folder in folders}
    chosen = [folder for folder in folders if model in names[folder]]
    if not chosen:
        known_names = sorted(set().union(*names.values()) - {""})
        raise MissingInputError(
            f"{store}: contains nothing of the model {model!r}{suggest_name(model, known_names)}"
        )
    return chosen


def open_folder(folder: Path, thorough: bool = False) -> Partition:
    """Open a partition by its folder, even if its card is missing or unreadable.

    `thorough` checks every line instead of relying on the indexes; `card_fault` checks the card.
    """
    return Partition(folder, _identity(folder), thorough)


def card_fault(folder: Path) -> str | None:
    """Return the error in the card of a partition's folder, or None."""
    try:
        card = read_card(folder)
    except StoreError as error:
        return str(error).partition(": ")[2]
    return (
        f"{CARD} is missing, so the model of these responses is unknown" if card is None else None
    )


def summarise(folder: Path) -> PartitionSummary:
    """Count the contents of one partition; reads every response if its indexes lack the counts."""
    partition = open_folder(folder)
    summary = PartitionSummary(folder.name, partition.identity)
    counts = partition.counts()
    if counts is None:
        counts = summary.counts
        for key in partition:
            response = partition.response(key)
            if response is not None:
                counts.add(response)
    summary.counts = counts
    summary.duplicates = partition.duplicates
    summary.damaged = partition.damaged_lines
    summary.packs = sum(isinstance(file, PackFile) for file in partition.files)
    summary.segments = len(partition.files) - summary.packs
    summary.bytes = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    summary.set_aside = sum(_lines(path) for path in folder.glob(f"*{SET_ASIDE}"))
    partition.close()
    return summary


def count_responses(folder: Path, since: float = 0.0) -> int:
    """Count the lines of a partition's files begun `since` a moment (seconds since 1970).

    Duplicates count; indexed files are not read. A missing folder counts as empty, and files can be
    written and compacted in the meantime.
    """
    table = open_table(folder)
    if table is not None:
        states = {path.name: read_state(path) for path in folder.glob("*.*")}
        table = table if table.covers(states) else None
    covered = table.names if table is not None else {}
    shut = OpenFiles()
    files: list[StoredFile] = [SegmentFile(path, shut) for path in folder.glob(f"*{SEGMENT}")]
    files += [PackFile(path) for path in folder.glob(f"*{PACK}")]
    files = [file for file in files if file.path.name not in covered]
    count = sum(
        file.records
        for file in (table.files if table is not None else ())
        if read_start_time(folder / file.name) >= since
    )
    for file in (file for file in files if read_start_time(file.path) >= since):
        with contextlib.suppress(FileNotFoundError):
            file.load()
            count += len(file.index)
    return count


def image_files(store: Path) -> Iterator[Path]:
    """Yield every picture of a store."""
    folder = store / "images"
    return (path for path in sorted(folder.glob("??/*")) if not path.name.startswith("."))


def count_images(store: Path) -> ImageSummary:
    """Count the pictures of a store, and their bytes."""
    sizes = [path.stat().st_size for path in image_files(store)]
    return ImageSummary(len(sizes), sum(sizes))


def find_key(store: Path, prefix: str, model: str | None = None) -> tuple[Path, str, Body]:
    """Return the partition's folder, full key and body of the response with this key prefix.

    Raises MissingInputError if there is none, or more than one.
    """
    matches: list[tuple[Path, str, Body]] = []
    for folder in choose(store, model):
        partition = open_folder(folder)
        for key in partition:
            if key.startswith(prefix.lower()) and (body := partition.body(key)) is not None:
                matches.append((folder, key, body))
        partition.close()
    if len(matches) != 1:
        count_text = "no response" if not matches else f"{len(matches)} responses"
        hint = "; give more digits" if matches else ""
        if not matches and Path(prefix).is_dir():
            hint = f"; {prefix} is a folder: use --store {prefix} to inspect it"
        raise MissingInputError(
            f"{store}: {count_text} with a key that begins with {prefix!r}{hint}"
        )
    return matches[0]


def _identity(folder: Path) -> dict[str, Any]:
    try:
        return read_card(folder) or {}
    except StoreError:
        return {}


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)
