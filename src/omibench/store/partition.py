"""A partition: the responses of one model, in a folder of segments and packs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from omibench.errors import StoreError, reason_of
from omibench.files.writing import write_private
from omibench.schemas.request import Request, Response
from omibench.store import packs as pack
from omibench.store import segments as segment
from omibench.store.files import OpenFiles
from omibench.store.images import ImageStore
from omibench.store.key import KEY_SCHEMA, Keys
from omibench.store.lines import (
    Body,
    build_body,
    encode_line,
    line_fault,
    parse_response,
    parse_values,
)
from omibench.store.packs import PackFile
from omibench.store.processes import new_name
from omibench.store.segments import Damage, SegmentFile, SegmentWriter, StoredFile

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
        """Its packs, then its segments, each sorted by name; last the one that it writes."""
        self._open_files = OpenFiles()
        self._writer: SegmentWriter | None = None
        self._own: SegmentFile | None = None
        self._load_all()

    def __len__(self) -> int:
        return len(self._distinct())

    def __contains__(self, key: str) -> bool:
        return self._find(key) is not None

    def __iter__(self) -> Iterator[str]:
        """Every key, file by file."""
        return (raw.hex() for raw in self._distinct())

    @property
    def duplicates(self) -> int:
        """Lines whose key an earlier line has."""
        lines = sum(len(file.places) + file.repeated for file in self._files.values())
        return lines - len(self)

    @property
    def files(self) -> list[StoredFile]:
        """Its packs, then its segments."""
        return list(self._files.values())

    @property
    def damaged_lines(self) -> list[Damage]:
        """Every line that was skipped, including those found damaged later."""
        damages = [damage for file in self._files.values() for damage in file.damaged]
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
        """Return the stored response of a key, or None. Its pictures are those in the store.

        A line that was damaged after the partition was opened is reported as a warning and counted
        in `damaged_lines`; another line with the same key replaces it, if any.
        """
        response = self._fetch(key, lambda file: parse_response(file.response(key)))
        if response is None or not response.drawn:
            return response
        return ImageStore(self.folder.parent / "images").locate_drawn(response)

    def response(self, key: str) -> dict[str, Any] | None:
        """Return the response as stored, including fields of later versions; see `get`."""
        return self._fetch(key, lambda file: _loads(file.response(key)))

    def body(self, key: str) -> Body | None:
        """Return everything in the line of a key; see `get`."""
        return self._fetch(key, lambda file: file.body(key))

    def line(self, key: str) -> bytes | None:
        """Return the whole line, in the form of `append_line`; see `get`."""
        return self._fetch(key, lambda file: file.line(key))

    def append(self, key: str, request: Request, response: Response) -> None:
        """Write one response. Once this returns, the response is stored."""
        self._append(encode_line(key, build_body(request, response)))

    def append_line(self, line: bytes) -> None:
        """Write one line of another store. Raises ValueError if it is not valid."""
        if (fault := line_fault(line)) is not None:
            raise ValueError(fault)
        self._append(line)

    def _append(self, line: bytes) -> None:
        if self._writer is None or self._own is None:
            self._writer = SegmentWriter(self.folder / new_name(segment.SUFFIX))
            card = self.folder / CARD
            if not card.is_file():
                write_private(card, (json.dumps(self.identity, indent=2) + "\n").encode())
            self._own = SegmentFile(self._writer.path, self._open_files)
            self._files[self._own.path.name] = self._own
        self._writer.write(line)
        self._own.append(line)
        self.schemas |= self._own.schemas

    def refresh(self) -> None:
        """Load what other processes have written or compacted since."""
        if self._list_files().keys() != self._files.keys() or not all(
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
        for file in self._files.values():
            file.close()
        if writer is not None:
            writer.close()

    def _older(self) -> list[int]:
        return sorted(self.schemas - {KEY_SCHEMA}, reverse=True)

    def _distinct(self) -> dict[bytes, None]:
        return dict.fromkeys(key for file in self._files.values() for key in file.places)

    def _find(self, key: str) -> StoredFile | None:
        """Return the file whose line of a key counts, or None."""
        raw = bytes.fromhex(key)
        return next((file for file in self._files.values() if raw in file.places), None)

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
        """List the folder and read the keys of every new or changed file; keep the others."""
        files: dict[str, StoredFile] = {}
        try:
            for name, path in self._list_files().items():
                file = self._files.get(name)
                if file is None or not self._current(file):
                    file = file or self._open(path)
                    file.load(self._thorough)
                files[name] = file
        except FileNotFoundError:
            # Compacted between listing and reading: its lines are in a pack now.
            self._load_all()
            return
        for name in self._files.keys() - files.keys():
            self._files[name].close()
        self._files = files
        self.schemas |= {schema for file in files.values() for schema in file.schemas}

    def _open(self, path: Path) -> StoredFile:
        is_pack = path.suffix == pack.SUFFIX
        return PackFile(path) if is_pack else SegmentFile(path, self._open_files)

    def _fetch(self, key: str, read: Callable[[StoredFile], T]) -> T | None:
        while (file := self._find(key)) is not None:
            try:
                return read(file)
            except FileNotFoundError:
                self.refresh()
            except ValueError as error:
                if not self._distrust(file, key, str(error).partition("\n")[0]):
                    return None
            except OSError as error:
                raise StoreError(f"{file.path}: cannot be read: {reason_of(error)}") from None
        return None

    def _distrust(self, file: StoredFile, key: str, reason: str) -> bool:
        """Check a whole file again, one of whose responses cannot be read.

        Returns whether a second lookup can help.
        """
        log.warning("%s: the response %s cannot be read: %s", file.path, key[:12], reason)
        if file is self._own:
            self._late.append(Damage(file.path.name, 0, reason))
            return False
        before = file.place(key)
        try:
            file.load(thorough=True)
        except FileNotFoundError:
            self.refresh()
            return True
        if bytes.fromhex(key) not in file.places or file.place(key) != before:
            return True
        if not file.damaged:
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
