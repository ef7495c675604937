"""A file of a partition: its keys, where their responses are, and what is damaged in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple

from omibench.store.partition.line import Body

_SECOND_BITS = 27


class Damage(NamedTuple):
    """Unreadable lines: the file, the first of them, the reason, and their number."""

    segment: str
    line: int
    reason: str
    lines: int = 1


class StoredFile(ABC):
    """A segment or a pack. Every method can raise FileNotFoundError: it was compacted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self.places: dict[bytes, int] = {}
        """Every key (32 bytes) with the place of its first response, as one number."""
        self.schemas: set[int] = set()
        self.damaged: list[Damage] = []
        self.lines = 0
        """Whole lines or rows, valid or not."""
        self.repeated = 0
        """Lines whose key an earlier line of the file has."""

    def add(self, key: str, first: int, second: int, schema: int) -> None:
        """Note the place of a response: offset and length in a segment, group and row in a pack.

        Raises ValueError if the key is not valid.
        """
        raw = bytes.fromhex(key)
        if len(raw) != 32:
            raise ValueError("its key is not valid")
        before = len(self.places)
        self.places.setdefault(raw, first << _SECOND_BITS | second)
        self.repeated += len(self.places) == before
        self.schemas.add(schema)

    def place(self, key: str) -> tuple[int, int]:
        """Return the two numbers of a key's place. Raises LookupError without it."""
        return divmod(self.places[bytes.fromhex(key)], 1 << _SECOND_BITS)

    @abstractmethod
    def load(self, thorough: bool = False) -> None:
        """Read its keys; `thorough` forgets what is known and checks everything in the file."""

    @abstractmethod
    def is_current(self) -> bool:
        """Return whether the file is unchanged since it was loaded."""

    @abstractmethod
    def line(self, key: str) -> bytes:
        """Return the response of a key as the line of a segment. Raises ValueError if damaged."""

    @abstractmethod
    def body(self, key: str) -> Body:
        """Return the body of that line; raises as `line` does."""

    @abstractmethod
    def response(self, key: str) -> bytes:
        """Return the response of a key as JSON; raises as `line` does."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""
