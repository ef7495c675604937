"""A partition: the responses of one model, in a folder of segments and packs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from omibench.errors import StoreError, reason_of
from omibench.files.atomic import write_private
from omibench.schemas.request import Request, Response
from omibench.store.files import OpenFiles
from omibench.store.key import KEY_SCHEMA, Keys
from omibench.store.partition import pack, segment
from omibench.store.partition.counts import Counts
from omibench.store.partition.covered_files import CoveredFiles
from omibench.store.partition.index import Damage
from omibench.store.partition.line import (
    Body,
    build_body,
    encode_line,
    line_fault,
    parse_line,
    parse_response,
    parse_values,
)
from omibench.store.partition.segment import SegmentFile, SegmentWriter
from omibench.store.partition.stored import Entry, StoredFile, rank_entry, stored_file
from omibench.store.partition.table import TableError

CARD = "model.json"
"""File in a partition's folder that identifies its model."""
T = TypeVar("T")
log = logging.getLogger("omibench.store")


class Partition:
    """The responses of one model.

    Reading sees the state at opening or the last refresh, plus its own writes. Of two lines with
    one key the first counts, packs before segments.
    """

    def __init__(self, folder: Path, identity: dict[str, Any], thorough: bool = False) -> None:
        self.folder = folder
        self.identity = identity
        self.schemas: set[int] = set()
        """Key schemas of its lines."""
        self._keys = Keys(identity)
        self._thorough = thorough
        self._late: list[Damage] = []
        self._files: dict[str, StoredFile] = {}
        self._index: dict[bytes, Entry] = {}
        """Index of the files outside the table: of all, unless the partition is large."""
        self._twice = 0
        self._open_files = OpenFiles()
        self._covered = CoveredFiles(folder, self._open_files)
        self._checked: dict[str, StoredFile] = {}
        """Files that differed from their index and were checked line by line."""
        self._writer: SegmentWriter | None = None
        self._own: SegmentFile | None = None
        self._load_all()

    def __len__(self) -> int:
        return len(self._covered) + len(self._index) - self._in_both()

    def __contains__(self, key: str) -> bool:
        return self.entry(key) is not None

    def __iter__(self) -> Iterator[str]:
        """Every key, file by file."""
        covered = self._covered
        for file, index in covered.iter_indexes():
            for raw, _, _ in index:
                if not covered.duplicates or covered.is_first(raw, file):
                    yield raw.hex()
        for raw in list(self._index):
            if covered.find(raw) is None:
                yield raw.hex()

    @property
    def duplicates(self) -> int:
        """Lines whose key an earlier line has."""
        return self._twice + self._covered.duplicates + self._in_both()

    @property
    def files(self) -> list[StoredFile]:
        """Its packs, then its segments, each sorted by name."""
        files_by_name = {file.path.name: file for file in self._covered.files()} | self._files
        rank = {name: number for number, name in enumerate(self._list_files())}
        return sorted(files_by_name.values(), key=lambda file: rank.get(file.path.name, len(rank)))

    def counts(self) -> Counts | None:
        """Return counts over its responses, each key once; None if the indexes lack them."""
        if self.damaged_lines or self.duplicates:
            return None
        total = Counts()
        for counts in (self._covered.counts, *(f.index.counts for f in self._files.values())):
            if counts is None:
                return None
            total.include(counts)
        return total if total.responses == len(self) else None

    @property
    def damaged_lines(self) -> list[Damage]:
        """Every line that was skipped, including those found damaged later."""
        damages = self._covered.damaged_lines
        damages += [damage for file in self._files.values() for damage in file.index.damaged]
        return damages + [damage for damage in self._late if damage not in damages]

    def key(self, request: Request) -> str:
        """Return the key of the response to a request here, stored or not.

        It is the key of the newest schema, unless only one of an older schema is stored.
        """
        newest = self._keys.key(request)
        if self.schemas <= {KEY_SCHEMA} or newest in self:
            return newest
        older = (self._keys.key(request, n) for n in self._older())
        return next((key for key in older if key in self), newest)

    def get(self, key: str) -> Response | None:
        """Return the stored response of a key, or None.

        A line that was damaged after the partition was opened is reported as a warning and counted
        in `damaged_lines`; another line with the same key replaces it, if any.
        """
        return self._fetch(key, lambda entry: parse_response(entry.file.response(key, entry.place)))

    def response(self, key: str) -> dict[str, Any] | None:
        """Return the response as stored, including fields of later versions; see `get`."""
        return self._fetch(key, lambda entry: _loads(entry.file.response(key, entry.place)))

    def body(self, key: str) -> Body | None:
        """Return everything in the line of a key; see `get`."""
        return self._fetch(key, lambda entry: entry.file.body(key, entry.place))

    def line(self, key: str) -> bytes | None:
        """Return the whole line, in the form of `append_line`; see `get`."""
        return self._fetch(key, lambda entry: entry.file.line(key, entry.place))

    def entry(self, key: str) -> Entry | None:
        """Return the location of a key's response, or None."""
        raw = bytes.fromhex(key)
        uncovered = self._index.get(raw)
        if not self._covered:
            return uncovered
        try:
            covered = self._covered.find(raw)
        except TableError as error:
            log.warning("%s: its table is rebuilt: %s", self.folder, error)
            self._covered.forget()
            self._load_all()
            return self.entry(key)
        if covered is None or (
            uncovered is not None and rank_entry(uncovered) < rank_entry(covered)
        ):
            return uncovered
        return covered

    def append(self, key: str, request: Request, response: Response) -> None:
        """Write one response. Once this returns, the response is stored."""
        facts = {
            "outcome": response.outcome,
            "simulated": response.simulated,
            "usage": response.usage.__dict__,
            "cost_usd": response.cost_usd,
        }
        self._append(key, encode_line(key, build_body(request, response)), facts)

    def append_line(self, key: str, line: bytes) -> None:
        """Write one line of another store. Raises ValueError if it is not valid."""
        if (fault := line_fault(line)) is not None:
            raise ValueError(fault)
        facts = None
        with suppress(ValueError):  # possibly from a later version: it is kept, but not counted
            facts = _loads(parse_line(line).response)
        self._append(key, line, facts)

    def _append(self, key: str, line: bytes, facts: dict[str, Any] | None) -> None:
        if self._writer is None or self._own is None:
            self._writer = self._start()
            self._own = SegmentFile(self._writer.path, self._open_files)
            self._own.index = self._writer.index
            self._files[self._own.path.name] = self._own
        self._add(bytes.fromhex(key), Entry(self._own, *self._writer.write(line, facts)))
        self.schemas |= self._writer.index.schemas

    def refresh(self) -> None:
        """Load what other processes have written or compacted since."""
        known_names = {*self._files, *self._covered.names}
        if set(self._list_files()) != known_names or not all(
            map(self._current, self._files.values())
        ):
            self._load_all()

    def sync(self) -> None:
        """Sync all appended lines, so that they survive a power cut."""
        if self._writer is not None:
            self._writer.sync()

    def close(self) -> None:
        """Sync and close every file."""
        writer, self._writer, self._own = self._writer, None, None
        for file in (*self._files.values(), *self._covered.files(opened=True)):
            file.close()
        if writer is not None:
            writer.close()

    def _older(self) -> list[int]:
        return sorted(self.schemas - {KEY_SCHEMA}, reverse=True)

    def _start(self) -> SegmentWriter:
        writer = SegmentWriter(self.folder)
        card = self.folder / CARD
        if not card.is_file():
            write_private(card, (json.dumps(self.identity, indent=2) + "\n").encode())
        return writer

    def _list_files(self) -> dict[str, Path]:
        """Return packs, then segments, each sorted by name, so that the two never mix."""
        packs = sorted(self.folder.glob(f"*{pack.SUFFIX}"))
        segments = sorted(self.folder.glob(f"*{segment.SUFFIX}"))
        return {path.name: path for path in [*packs, *segments]}

    def _current(self, file: StoredFile) -> bool:
        if file is self._own:
            return True
        try:
            return file.is_current()
        except FileNotFoundError:
            return False

    def _load_all(self) -> None:
        """List the folder and index every new or changed file; keep the others."""
        files: dict[str, StoredFile] = {}
        listed = self._list_files()
        if not self._thorough:
            live = None if self._own is None else self._own.path.name
            self._covered.choose(listed, live, self._checked)
        for name, path in listed.items():
            if name in self._covered.names:
                continue
            previous = self._files.get(name)
            if previous is not None and self._current(previous):
                files[name] = previous
                continue
            file = self._checked.get(name) or stored_file(path, self._open_files)
            try:
                if name not in self._checked:
                    file.load(self._thorough)
            except FileNotFoundError:
                # Compacted between listing and reading: its lines are in a pack now.
                self._load_all()
                return
            files[name] = file
        for name in set(self._files) - set(files):
            self._files[name].close()
        self._files = files
        self._build()

    def _build(self) -> None:
        self._index, self._twice = {}, 0
        self.schemas |= self._covered.schemas
        for file in self._files.values():
            index = self._index
            self.schemas |= file.index.schemas
            before = len(index)
            for key, first, second in file.index:
                if key not in index:
                    index[key] = Entry(file, first, second)
            self._twice += before + len(file.index) - len(index)

    def _in_both(self) -> int:
        if not self._covered:
            return 0
        return sum(self._covered.find(key) is not None for key in self._index)

    def _add(self, key: bytes, entry: Entry) -> None:
        if key in self._index:
            self._twice += 1
        else:
            self._index[key] = entry

    def _fetch(self, key: str, read: Callable[[Entry], T]) -> T | None:
        while (entry := self.entry(key)) is not None:
            try:
                return read(entry)
            except FileNotFoundError:
                self.refresh()
            except ValueError as error:
                if not self._distrust(key, entry, str(error).partition("\n")[0]):
                    return None
            except OSError as error:
                raise StoreError(f"{entry.file.path}: cannot be read: {reason_of(error)}") from None
        return None

    def _distrust(self, key: str, entry: Entry, reason: str) -> bool:
        """Check and reindex a whole file after a place differed from its index.

        Returns whether a second lookup can help.
        """
        file = entry.file
        log.warning("%s: the response %s cannot be read: %s", file.path, key[:12], reason)
        if file is self._own:
            self._late.append(Damage(file.path.name, 0, reason))
            return False
        try:
            file.load(thorough=True)
        except FileNotFoundError:
            self.refresh()
            return True
        if file.path.name in self._covered.names:
            self._checked[file.path.name] = file
            self._covered.forget()
            self._load_all()
        else:
            self._build()
        new_entry = self.entry(key)
        if new_entry is None or (new_entry.file.path, new_entry.place) != (file.path, entry.place):
            return True
        if not file.index.damaged:
            raise StoreError(
                f"{file.path}: the response {key[:12]} is intact, but this version of omibench "
                f"cannot read it: {reason}; use a later version"
            )
        return False


def _loads(text: bytes) -> dict[str, Any]:
    value = parse_values(text)
    if not isinstance(value, dict):
        raise ValueError("its response is not a JSON object")
    return value
