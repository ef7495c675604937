"""An engine wrapper that reads each picture once, however often a paper is read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel

from omibench.stages.ocr.engines.engine import Engine, Pixels, Point, Reading, quarter_turned


class _KeptReading(BaseModel):
    text: str
    quad: tuple[Point, Point, Point, Point]
    confidence: float | None
    whole: bool


class _KeptPicture(BaseModel):
    """The cached answers for one picture; None for missing ones."""

    turn: int | None = None
    readings: list[_KeptReading] | None = None


class RememberingEngine:
    """Wraps another engine and caches its answers by the pixels of the picture."""

    def __init__(self, name: str, open_engine: Callable[[], Engine], folder: Path) -> None:
        self.name = name
        self._open, self._folder = open_engine, folder
        self._engine: Engine | None = None

    def upright(self, picture: Pixels) -> tuple[Pixels, int]:
        """Turn the picture upright by quarters; return it and the degrees clockwise."""
        path = self._file(picture)
        kept = _read_kept(path)
        if kept.turn is not None:
            return quarter_turned(picture, kept.turn), kept.turn
        turned, turn = self._reader().upright(picture)
        self._keep(path, kept.model_copy(update={"turn": turn}))
        return turned, turn

    def read(self, picture: Pixels) -> list[Reading]:
        """Return every line of text in an upright picture."""
        path = self._file(picture)
        kept = _read_kept(path)
        if kept.readings is not None:
            return [Reading(r.text, r.quad, r.confidence, r.whole) for r in kept.readings]
        readings = self._reader().read(picture)
        rows = [_KeptReading(**reading._asdict()) for reading in readings]
        self._keep(path, kept.model_copy(update={"readings": rows}))
        return readings

    def _reader(self) -> Engine:
        if self._engine is None:
            self._engine = self._open()
        return self._engine

    def _file(self, picture: Pixels) -> Path:
        digest = hashlib.sha256(repr(picture.shape).encode())
        digest.update(picture.tobytes())
        return self._folder / f"{digest.hexdigest()}.json"

    def _keep(self, path: Path, kept: _KeptPicture) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path.write_text(kept.model_dump_json(), "utf-8")


def _read_kept(path: Path) -> _KeptPicture:
    # A file written by us: the reader of untrusted files needs more memory than this process has.
    return _KeptPicture.model_validate_json(path.read_bytes()) if path.is_file() else _KeptPicture()
