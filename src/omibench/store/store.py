"""The store: a folder with one partition per model, and the pictures that all of them share."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from omibench.errors import MissingInputError, OmibenchError, StoreError
from omibench.files.intake import read_json
from omibench.store.claims import CLAIMS
from omibench.store.images import ImageStore
from omibench.store.key import canonical
from omibench.store.ledger.ledger import LEDGER
from omibench.store.partition.partition import CARD, Partition

log = logging.getLogger("omibench.store")
CARD_BYTES = 1 << 20
MARKS = ("images", "batches", "absorbed.txt", CLAIMS, LEDGER)
"""Names that identify a store without partitions."""
_PARTITION = re.compile(r".*-[0-9a-f]{12}")


class Store:
    """Every response ever received, in one folder that many processes can share."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.images = ImageStore(self.folder / "images")
        self._partitions: dict[str, Partition] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open_partition(self, identity: Mapping[str, Any]) -> Partition:
        """Return the partition of a model, indexed once; damaged lines cause a warning.

        Raises StoreError if the folder cannot be used or belongs to another model.
        """
        name = partition_name(identity)
        if name not in self._partitions:
            partition = Partition(self._folder(name, identity), dict(identity))
            _report(partition)
            self._partitions[name] = partition
        return self._partitions[name]

    def close(self) -> None:
        """Sync and close every partition."""
        for partition in self._partitions.values():
            partition.close()
        self._partitions.clear()

    def _folder(self, name: str, identity: Mapping[str, Any]) -> Path:
        folder = self.folder / name
        owner = read_card(folder) or dict(identity)
        if canonical(owner) != canonical(dict(identity)):
            raise StoreError(f"{folder / CARD}: identifies another model than the requested one")
        return folder


def partition_name(identity: Mapping[str, Any]) -> str:
    """Return the folder name of a model: provider, served id, 12 digits of its identity hash."""
    words = f"{identity.get('provider', 'model')}-{identity.get('id', '')}"
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", words).strip("-_.")[:60]
    return f"{slug}-{hashlib.sha256(canonical(dict(identity))).hexdigest()[:12]}"


def read_card(folder: Path) -> dict[str, Any] | None:
    """Return the identity of the model of a partition's folder; None without a card.

    Raises StoreError if the card cannot be read.
    """
    card = folder / CARD
    if not os.path.lexists(card):
        return None
    try:
        owner = read_json(card, CARD_BYTES)
    except OmibenchError as error:
        reason = str(error).removeprefix(f"{card}: ")
        raise StoreError(f"{card}: cannot be used: {reason}") from None
    if not isinstance(owner, dict):
        raise StoreError(f"{card}: cannot be used: it contains no model")
    return owner


def partition_folders(store: Path) -> list[Path]:
    """Return the folder of every partition of a store, by name.

    Raises MissingInputError if the folder does not exist or is not a store.
    """
    if not store.is_dir():
        raise MissingInputError(
            f"{store}: there is no store in this folder; give its folder with --store"
        )
    if not _is_store(store) and any(not p.name.startswith(".") for p in store.iterdir()):
        within = store / "store"
        meant = f"; is {within} meant?" if _is_store(within) else ""
        raise MissingInputError(f"{store}: is not a store: it contains no partition{meant}")
    return _partitions(store)


def _is_store(folder: Path) -> bool:
    return folder.is_dir() and (
        any((folder / name).exists() for name in MARKS) or bool(_partitions(folder))
    )


def _partitions(store: Path) -> list[Path]:
    return sorted(p for p in store.iterdir() if p.is_dir() and _PARTITION.fullmatch(p.name))


def _report(partition: Partition) -> None:
    if not partition.damaged_lines:
        return
    first = partition.damaged_lines[0]
    log.warning(
        "%s: %d of its lines cannot be read and were skipped; the first is %s, line %d: %s",
        partition.folder, sum(damage.lines for damage in partition.damaged_lines),
        first.segment, first.line, first.reason,
    )  # fmt: skip
