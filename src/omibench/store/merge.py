"""Repairs a damaged pack with all its rows available elsewhere: it is rewritten."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path

from omibench.errors import OmibenchError, StoreError, reason_of
from omibench.files.outputs import replace_atomically, sync_folder
from omibench.files.reading import resolve_within
from omibench.store import packs as pack
from omibench.store.contents import card_fault, image_files, open_folder
from omibench.store.key import FORMS, Keys
from omibench.store.packs import PackFile, write_pack
from omibench.store.segments import Body, new_name, parse_values, set_aside
from omibench.store.store import ImageStore, Partition, Store, partition_folders
from omibench.store.verify import Fault, find_picture_fault, key_fault, name_damage

log = logging.getLogger("omibench.store")


def mend_packs(store: Path, partition: Partition) -> list[str]:
    """Rewrite each damaged pack of a partition, and move the old one to the store's `damaged/`.

    A pack is left unchanged while it is the only source of a readable answer that cannot be
    rewritten. Returns the names of the replaced packs. Raises StoreError.
    """
    if not any(damage.segment.endswith(pack.SUFFIX) for damage in partition.damaged_lines):
        return []
    replaced = []
    checked_partition = Partition(partition.folder, partition.identity, thorough=True)
    for file in checked_partition.files:
        if isinstance(file, PackFile) and file.damaged:
            try:
                if _mend(store, checked_partition, file):
                    replaced.append(file.path.name)
            except OSError as error:
                raise StoreError(f"{file.path}: cannot be replaced: {error.strerror}") from None
    checked_partition.close()
    if replaced:
        partition.refresh()
    return replaced


def _mend(store: Path, partition: Partition, hurt: PackFile) -> bool:
    other_keys = {key for file in partition.files if file is not hurt for key in file.places}
    sound: list[str] = []
    for raw in hurt.places:
        try:
            hurt.body(raw.hex())
        except ValueError:
            if raw not in other_keys:
                return False
        else:
            sound.append(raw.hex())
    folder = hurt.path.parent
    if sound:
        with replace_atomically(folder / new_name(pack.SUFFIX)) as partial:
            write_pack(partial, ((key, hurt.body(key)) for key in sound))
        sync_folder(folder)
    hurt.close()
    aside = set_aside(store, hurt.path)
    sync_folder(folder)
    log.warning("%s: was damaged and is replaced; the damaged file is now %s", hurt.path, aside)
    return True


# Merges another store: its responses that this one lacks are copied, line by line.


@dataclass
class Merged:
    """The result of one merge. Damaged items are not copied; `faults` lists all of them."""

    source: str
    copied: int = 0
    present: int = 0
    """Responses that both stores contain."""
    conflicts: int = 0
    """Keys with different responses in the two stores: ours was kept."""
    images: int = 0
    """Copied pictures."""
    restored: int = 0
    """Responses that were damaged here and were copied again."""
    restored_images: int = 0
    """Pictures that were damaged here and were replaced."""
    replaced: list[str] = field(default_factory=list)
    """Damaged packs of this store that were rewritten and moved to its folder `damaged/`."""
    faults: list[Fault] = field(default_factory=list)


def merge_store(source: Path, into: Path, *, links: bool = False) -> Merged:
    """Copy missing responses from the store `source` into `into`; safe to repeat.

    Pictures come first, so that no response lacks them. Lines are copied unchanged after a check of
    checksums and keys; links that lead out of `source` are not followed, unless `links` are its
    owner's, as in an archive checked out by DVC. Damaged items in `into` are replaced with a good
    copy and set aside. Raises MissingInputError if `source` is not a store, and StoreError if both
    are the same or `into` cannot be written.
    """
    folders = partition_folders(source)
    if into.resolve() == source.resolve():
        raise StoreError(f"{source}: cannot be merged into itself")
    merged = Merged(str(source))
    try:
        _copy_images(source, into, merged, links)
    except OSError as error:
        raise StoreError(f"{into}: cannot store the images: {reason_of(error, True)}") from None
    with Store(into) as target:
        for folder in folders:
            if (fault := card_fault(folder)) is not None:
                merged.faults.append(Fault(folder.name, "model.json", fault))
                continue
            if not links and (foreign := _foreign(source, folder)) is not None:
                merged.faults.append(Fault(folder.name, *foreign))
                continue
            partition = open_folder(folder, thorough=True)
            target_partition = target.open_partition(partition.identity)
            _copy_responses(partition, target_partition, merged)
            merged.faults += name_damage(folder.name, partition.damaged_lines)
            merged.replaced += mend_packs(into, target_partition)
            merged.faults += name_damage(
                target_partition.folder.name, target_partition.damaged_lines
            )
            partition.close()
    return merged


def _copy_images(source: Path, into: Path, merged: Merged, links: bool) -> None:
    image_store = ImageStore(into / "images")
    for path in image_files(source):
        foreign = None if links else _outside(source, path)
        if (fault := foreign or find_picture_fault(path)) is not None:
            merged.faults.append(Fault("images", path.name[:12], fault))
            continue
        hurt = image_store.path(path.name).exists()
        if image_store.add(path.name, path.read_bytes()):
            merged.restored_images += hurt
            merged.images += not hurt


def _foreign(source: Path, folder: Path) -> tuple[str, str] | None:
    """Return the first file of a partition that is outside its store, and the reason."""
    for path in (folder, *sorted(folder.glob("*.jsonl")), *sorted(folder.glob("*.parquet"))):
        if (reason := _outside(source, path)) is not None:
            return path.name, reason
    return None


def _outside(source: Path, path: Path) -> str | None:
    """Return why a file is outside its store, or None."""
    try:
        resolve_within(source, str(path.relative_to(source)))
    except OmibenchError:
        return "it leads out of the store"
    return None


def _copy_responses(source: Partition, target: Partition, merged: Merged) -> None:
    keys = Keys(source.identity)
    for key in source:
        try:
            body = source.body(key)
        except StoreError as error:
            message = str(error).partition(": ")[2]
            merged.faults.append(Fault(source.folder.name, f"response {key[:12]}", message))
            continue
        if body is None:
            continue
        if (fault := _key_fault(keys, key, body)) is not None:
            merged.faults.append(Fault(source.folder.name, f"response {key[:12]}", fault))
            continue
        had = key in target
        stored_body = target.body(key)
        if stored_body is None:
            line = source.line(key)
            if line is not None:
                target.append_line(line)
                merged.restored += had
                merged.copied += not had
        elif stored_body.response == body.response or _values(stored_body) == _values(body):
            merged.present += 1
        else:
            merged.conflicts += 1
    target.sync()


def _values(body: Body) -> object:
    return parse_values(body.response)


def _key_fault(keys: Keys, key: str, body: Body) -> str | None:
    if body.schema not in FORMS:
        return None  # from a later version with an unknown form
    try:
        return key_fault(keys, key, body)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        return f"cannot be understood: {str(error).partition(chr(10))[0]}"
