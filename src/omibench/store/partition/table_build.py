"""Builds the table of a partition in bounded memory: keys are divided by their first byte."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from omibench.files.atomic import replace_atomically
from omibench.files.modes import open_new
from omibench.store.partition.counts import Counts
from omibench.store.partition.index import FileIndex, State
from omibench.store.partition.table import (
    BLOCK,
    PAD,
    RECORD,
    TABLE,
    TABLE_VERSION,
    CoveredFile,
    Table,
    covered_values,
    read_table,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK = 400_000
"""Records in memory at a time: 21 MB, and the same again while they are sorted."""
Source = tuple[str, State, FileIndex]
"""A file to cover: its name, its state when indexed, and its index with the places."""


def build_table(folder: Path, sources: Iterable[Source]) -> Table:
    """Build the table of a partition from the indexes of its files, in order of precedence.

    Of two records with one key the first counts. The table is written to `folder`; in a read-only
    one it lasts as long as this process. Raises OSError if the disk is full.
    """
    with tempfile.TemporaryFile(dir=_scratch(folder)) as spill:
        divided = _divide(sources, spill)
        return _write(folder, spill, divided)


class _Divided(NamedTuple):
    """Records on disk, divided by the first byte of their keys: their place and number."""

    files: list[CoveredFile]
    counts: Counts | None
    total: int
    parts: list[list[tuple[int, int]]]


def _divide(sources: Iterable[Source], spill: BinaryIO) -> _Divided:
    """Write the records of all files, divided by the first byte of their keys."""
    import numpy as np

    parts: list[list[tuple[int, int]]] = [[] for _ in range(256)]
    files: list[CoveredFile] = []
    counts: Counts | None = Counts()
    waiting: list[NDArray[np.uint8]] = []
    pending = total = 0

    def flush() -> None:
        nonlocal pending
        if not waiting:
            return
        records = np.concatenate(waiting)
        order = np.argsort(records[:, 0], kind="stable")
        bounds = np.searchsorted(records[order, 0], np.arange(257))
        records = records[order]
        for byte in range(256):
            if bounds[byte] < bounds[byte + 1]:
                part = records[bounds[byte] : bounds[byte + 1]]
                parts[byte].append((spill.tell(), len(part)))
                spill.write(part.tobytes())
        waiting.clear()
        pending = 0

    for number, (name, state, index) in enumerate(sources):
        files.append(CoveredFile(name, state, _without_places(index), len(index)))
        if index.counts is None:
            counts = None
        elif counts is not None:
            counts.include(index.counts)
        narrow = np.frombuffer(bytes(index.records), np.uint8).reshape(-1, RECORD.size - 4)
        wide = np.empty((len(narrow), RECORD.size), np.uint8)
        wide[:, :32] = narrow[:, :32]
        wide[:, 32:36] = np.frombuffer(number.to_bytes(4, "little"), np.uint8)
        wide[:, 36:] = narrow[:, 32:]
        for start in range(0, len(wide), CHUNK):
            waiting.append(wide[start : start + CHUNK])
            pending += len(waiting[-1])
            total += len(waiting[-1])
            if pending >= CHUNK:
                flush()
    flush()
    return _Divided(files, counts, total, parts)


def _write(folder: Path, spill: BinaryIO, divided: _Divided) -> Table:
    files, counts, total, parts = divided
    with tempfile.TemporaryFile(dir=_scratch(folder)) as blocks:
        fences, count = _write_blocks(blocks, _sort_records(spill, parts))
        packed = b"".join(fences)
        head = {
            "table": TABLE_VERSION,
            "count": count,
            "duplicates": total - count,
            "blocks": len(fences),
            "fences": zlib.crc32(packed),
            "schemas": sorted(set().union(*(file.file_index.schemas for file in files))),
            # Otherwise superseded lines would be included.
            "counts": counts.values() if counts is not None and total == count else None,
            "files": [covered_values(file) for file in files],
        }
        text = json.dumps(head, separators=(",", ":")).encode()
        try:
            with (
                replace_atomically(folder / TABLE) as partial,
                os.fdopen(open_new(partial, os.O_WRONLY | os.O_EXCL), "wb") as out,
            ):
                _assemble(out, text, packed, blocks)
            return read_table(folder / TABLE)
        except OSError:
            return _in_memory(text, packed, blocks)


def _in_memory(text: bytes, packed: bytes, blocks: BinaryIO) -> Table:
    """Return a table without a file name, for a read-only store."""
    with tempfile.NamedTemporaryFile() as out:
        _assemble(out, text, packed, blocks)
        out.flush()
        return read_table(Path(out.name))


def _assemble(out: Any, text: bytes, packed: bytes, blocks: BinaryIO) -> None:
    out.write(b"%08x %s\n" % (zlib.crc32(text), text))
    out.write(packed)
    blocks.seek(0)
    while piece := blocks.read(1 << 22):
        out.write(piece)


def _sort_records(
    spill: BinaryIO, parts: list[list[tuple[int, int]]]
) -> Iterator[NDArray[np.uint8]]:
    """Yield the records sorted by key, each key once, in batches."""
    import numpy as np

    for ranges in parts:
        if not ranges:
            continue
        pieces = []
        for place, number in ranges:
            spill.seek(place)
            pieces.append(np.frombuffer(spill.read(number * RECORD.size), np.uint8))
        records = np.concatenate(pieces).reshape(-1, RECORD.size)
        keys = np.ascontiguousarray(records[:, :32]).view(">u8").reshape(-1, 4)
        records = records[np.argsort(keys[:, 0].astype(np.uint64), kind="stable")]
        repeats = (records[1:, :32] == records[:-1, :32]).all(axis=1)
        yield records[np.concatenate([[True], ~repeats])]


def _write_blocks(blocks: BinaryIO, parts: Iterator[NDArray[np.uint8]]) -> tuple[list[bytes], int]:
    """Write blocks; returns the first eight bytes of each as a number, and the record count."""
    fences: list[bytes] = []
    count, remainder = 0, b""
    size = BLOCK * RECORD.size

    def write(block: bytes) -> None:
        fences.append(block[:8][::-1])
        blocks.write(block + zlib.crc32(block).to_bytes(4, "little"))

    for records in parts:
        count += len(records)
        data = remainder + records.tobytes()
        whole_bytes = len(data) // size * size
        for start in range(0, whole_bytes, size):
            write(data[start : start + size])
        remainder = data[whole_bytes:]
    if remainder:
        write(remainder + PAD * ((size - len(remainder)) // RECORD.size))
    return fences, count


def _without_places(index: FileIndex) -> FileIndex:
    return FileIndex(
        schemas=index.schemas,
        damaged=index.damaged,
        covered=index.covered,
        lines=index.lines,
        closed=True,
    )


def _scratch(folder: Path) -> Path | None:
    """Return the folder for unsorted records: that of the table, or a temporary one."""
    return folder if os.access(folder, os.W_OK) else None
