"""The contents of a store: its partitions by name, and counts over each."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omibench.errors import MissingInputError, StoreError
from omibench.schemas.validation import suggest_name
from omibench.store.compaction import SET_ASIDE
from omibench.store.packs import SUFFIX as PACK
from omibench.store.packs import PackFile
from omibench.store.segments import SUFFIX as SEGMENT
from omibench.store.segments import Body, Damage, NoFileError, open_stored, read_start_time
from omibench.store.store import CARD, Partition, partition_folders, read_card

TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


@dataclass
class Counts:
    """Counts of responses. Tokens and dollars are sums over the responses that have them."""

    responses: int = 0
    simulated: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    cost_usd: float = 0.0
    without_cost: int = 0
    """Responses without a cost."""

    def add(self, response: Mapping[str, Any]) -> None:
        """Count a response as stored."""
        self.responses += 1
        self.outcomes[str(response.get("outcome", "answered"))] += 1
        self.simulated += bool(response.get("simulated"))
        usage = response.get("usage") or {}
        for name in TOKENS:
            self.tokens[name] += int(usage.get(name) or 0)
        cost = response.get("cost_usd")
        self.without_cost += cost is None
        self.cost_usd += float(cost or 0.0)


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

    `thorough` checks every row of its packs; `card_fault` checks the card.
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
    """Count the contents of one partition; reads every response."""
    partition = open_folder(folder)
    summary = PartitionSummary(folder.name, partition.identity)
    for key in partition:
        response = partition.response(key)
        if response is not None:
            summary.counts.add(response)
    summary.duplicates = partition.duplicates
    summary.damaged = partition.damaged_lines
    summary.packs = sum(isinstance(file, PackFile) for file in partition.files)
    summary.segments = len(partition.files) - summary.packs
    summary.bytes = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    summary.set_aside = sum(_count_lines(path) for path in folder.glob(f"*{SET_ASIDE}"))
    partition.close()
    return summary


def count_responses(folder: Path, since: float = 0.0) -> int:
    """Count the lines of a partition's files begun `since` a moment (seconds since 1970).

    Duplicates and damaged lines count. A missing folder counts as empty, and files can be written
    and compacted in the meantime.
    """
    count = 0
    for path in (*folder.glob(f"*{SEGMENT}"), *folder.glob(f"*{PACK}")):
        if read_start_time(path) < since:
            continue
        with contextlib.suppress(FileNotFoundError, NoFileError):
            if path.suffix == PACK:
                file = PackFile(path)
                count += file.count_rows()
                file.close()
            else:
                count += _count_lines(path)
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


def _count_lines(path: Path) -> int:
    with open_stored(path) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
