"""Merging: what another store holds and this one lacks is copied, line by line."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from omibench.errors import StoreError, reason_of
from omibench.store.contents import card_fault, image_files, open_folder
from omibench.store.files import write_private
from omibench.store.key import FORMS, Keys
from omibench.store.line import Body
from omibench.store.partition import Partition
from omibench.store.store import Store, partition_folders
from omibench.store.verify import Fault, key_fault, name_damage


@dataclass
class Merged:
    """What one merge did. Nothing that is damaged is copied; all of it is named in `faults`."""

    source: str
    copied: int = 0
    present: int = 0
    """Responses that both stores hold."""
    conflicts: int = 0
    """Keys under which both stores hold a response, and not the same one: ours was kept."""
    images: int = 0
    """Pictures that were copied."""
    faults: list[Fault] = field(default_factory=list)


def merge_store(source: Path, into: Path) -> Merged:
    """Copy what `into` lacks from the store `source`, which is only read; may be run again.

    Pictures come first, so that no response stands without them. Lines are copied as they are,
    their checksums and keys checked. Raises MissingInputError when `source` is no store, and
    StoreError when both are one or `into` cannot be written.
    """
    folders = partition_folders(source)
    if into.resolve() == source.resolve():
        raise StoreError(f"{source}: cannot be merged into itself")
    merged = Merged(str(source))
    try:
        _copy_images(source, into, merged)
    except OSError as error:
        raise StoreError(f"{into}: cannot take the images: {reason_of(error, True)}") from None
    with Store(into) as target:
        for folder in folders:
            if (fault := card_fault(folder)) is not None:
                merged.faults.append(Fault(folder.name, "model.json", fault))
                continue
            partition = open_folder(folder, thorough=True)
            ours = target.open_partition(partition.identity)
            _copy_responses(partition, ours, merged)
            merged.faults += name_damage(folder.name, partition.damaged)
            merged.faults += name_damage(ours.folder.name, ours.damaged)
            partition.close()
    return merged


def _copy_images(source: Path, into: Path, merged: Merged) -> None:
    for path in image_files(source):
        target = into / "images" / path.name[:2] / path.name
        if target.is_file() and target.stat().st_size == path.stat().st_size:
            continue
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != path.name:
            why = "its content is not what its name says"
            merged.faults.append(Fault("images", path.name[:12], why))
            continue
        write_private(target, data)
        merged.images += 1


def _copy_responses(theirs: Partition, ours: Partition, merged: Merged) -> None:
    keys = Keys(theirs.identity)
    for key in theirs:
        body = theirs.body(key)
        if body is None:
            continue
        if (why := _key_fault(keys, key, body)) is not None:
            merged.faults.append(Fault(theirs.folder.name, f"response {key[:12]}", why))
            continue
        kept = ours.response(key)
        if kept is None:
            line = theirs.line(key)
            if line is not None:
                ours.append_line(key, line)
                merged.copied += 1
        elif kept == json.loads(body.response):
            merged.present += 1
        else:
            merged.conflicts += 1
    ours.sync()


def _key_fault(keys: Keys, key: str, body: Body) -> str | None:
    if body.schema not in FORMS:
        return None  # of a later version, whose form is not known here
    try:
        return key_fault(keys, key, body)
    except (ValueError, LookupError, TypeError) as error:
        return f"cannot be understood: {str(error).partition(chr(10))[0]}"
