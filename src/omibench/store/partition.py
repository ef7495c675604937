"""A partition: the responses of one model, in a folder of segments with an index in memory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from omibench.errors import StoreError
from omibench.request import Request, Response
from omibench.store.files import write_whole
from omibench.store.key import decoding_of, messages_of, request_key
from omibench.store.segment import (
    HEAD,
    Damage,
    Place,
    SegmentWriter,
    encode_line,
    line_fault,
    scan_segment,
)

CARD = "model.json"
"""File in a partition's folder that says whose responses it holds."""


class Partition:
    """The responses of one model. Reading sees what stood there when it was opened, and its own.

    `damaged` lists every line that was skipped; of two lines with one key the first counts.
    """

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.folder = folder
        self.identity = identity
        self.damaged: list[Damage] = []
        self.duplicates = 0
        self._index: dict[str, tuple[Path, Place]] = {}
        self._open_files: dict[Path, int] = {}
        self._writer: SegmentWriter | None = None
        for path in sorted(folder.glob("*.jsonl")):
            self._scan(path)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, key: object) -> bool:
        return key in self._index

    def key(self, request: Request) -> str:
        """The key of a request to this partition's model."""
        return request_key(self.identity, request)

    def get(self, key: str) -> Response | None:
        """The stored response of a key, or None. Raises StoreError if it was damaged since."""
        found = self._index.get(key)
        if found is None:
            return None
        line = self._read(*found)
        if line_fault(line) is not None:
            raise StoreError(f"{found[0]}: changed while it was read; run the command again")
        return Response.model_validate(json.loads(b"{" + line[HEAD:])["response"])

    def append(self, key: str, request: Request, response: Response) -> None:
        """Write one response. When this returns it counts as bought."""
        if self._writer is None:
            self._writer = self._start()
        line = encode_line(
            key,
            {
                "tags": request.tags.model_dump(exclude_defaults=True),
                "response": response.model_dump(exclude_defaults=True),
                "request": {
                    "messages": messages_of(request.conversation),
                    "decoding": decoding_of(request.decoding),
                    "index": request.index,
                },
            },
        )
        self._found(key, self._writer.path, self._writer.write(line))

    def sync(self) -> None:
        """Make everything that was appended survive a power cut."""
        if self._writer is not None:
            self._writer.sync()

    def close(self) -> None:
        """Sync, and let go of every file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        for file in self._open_files.values():
            os.close(file)
        self._open_files.clear()

    def _start(self) -> SegmentWriter:
        writer = SegmentWriter(self.folder)
        card = self.folder / CARD
        if not card.is_file():
            write_whole(card, (json.dumps(self.identity, indent=2) + "\n").encode())
        return writer

    def _scan(self, path: Path) -> None:
        self.damaged += scan_segment(path, lambda key, place: self._found(key, path, place))

    def _found(self, key: str, path: Path, place: Place) -> None:
        if key in self._index:
            self.duplicates += 1
        else:
            self._index[key] = (path, place)

    def _read(self, path: Path, place: Place) -> bytes:
        try:
            if path not in self._open_files:
                self._open_files[path] = os.open(path, os.O_RDONLY)
            return os.pread(self._open_files[path], place.length, place.offset)
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error.strerror}") from None
