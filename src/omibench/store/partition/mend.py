"""Repairs a damaged pack with all its rows available elsewhere: it is rewritten."""

from __future__ import annotations

import logging
from pathlib import Path

from omibench.errors import StoreError
from omibench.files.atomic import replace_atomically, sync_folder
from omibench.store.files import set_aside
from omibench.store.liveness import new_name
from omibench.store.partition import pack
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
