"""Repairs a damaged pack with all its rows available elsewhere: it is rewritten."""

from __future__ import annotations

import logging
from pathlib import Path

from omibench.errors import StoreError
from omibench.files.atomic import replace_atomically, sync_folder
from omibench.store.files import set_aside
from omibench.store.liveness import new_name
from omibench.store.partition import pack
from omibench.store.partition.index import ResponsePlace, drop_index, read_state, write_index
from omibench.store.partition.pack import PackFile, write_pack
from omibench.store.partition.partition import Partition

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
        if isinstance(file, PackFile) and file.index.damaged:
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
    other_keys = {key for file in partition.files if file is not hurt for key, _, _ in file.index}
    sound: list[tuple[str, ResponsePlace]] = []
    for raw, first, second in hurt.index:
        place = ResponsePlace(first, second)
        try:
            hurt.body(raw.hex(), place)
        except ValueError:
            if raw not in other_keys:
                return False
        else:
            sound.append((raw.hex(), place))
    folder = hurt.path.parent
    if sound:
        path = folder / new_name(pack.SUFFIX)
        with replace_atomically(path) as partial:
            index = write_pack(partial, ((key, hurt.body(key, place)) for key, place in sound))
        write_index(path, index, read_state(path))
        sync_folder(folder)
    hurt.close()
    drop_index(hurt.path)
    aside = set_aside(store, hurt.path)
    sync_folder(folder)
    log.warning("%s: was damaged and is replaced; the damaged file is now %s", hurt.path, aside)
    return True
