"""How many requests of cells that are not written yet the store answers already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from omibench.errors import OmibenchError
from omibench.model_params import RecordedModel
from omibench.plan.desk import Desk
from omibench.request import Request
from omibench.store.partition import Partition
from omibench.store.store import Store
from omibench.study import Cell, Study

PROBES = 16
"""Requests of a waiting cell that are looked up before all of them are: the first, and others
evenly spaced. Requests are asked in order, so that a cell which was begun has the first."""


class Held(NamedTuple):
    """A cell's requests (None: they cannot be told), how many are answered, and for how much."""

    requests: int | None
    answered: int = 0
    usd: float | None = None


class Stored:
    """The store as one study sees it. Looking again costs what is new."""

    def __init__(self, study: Study, questions: Path) -> None:
        self._study, self._questions = study, questions
        self._made: dict[str, list[Request]] = {}
        self._keys: dict[Cell, list[str]] = {}
        self._prices: dict[str, float | None] = {}
        self._state: object = None
        self.notes: list[str] = []
        """Models that could not be opened, and why."""

    def look(self, cells: Iterable[Cell], begun: set[Cell], rows: Counter[str]) -> dict[Cell, Held]:
        """What the store holds of `cells`: of those that were `begun`, and of others as far as
        their model has more answers than the `rows` of its written cells account for.
        """
        self.notes = []
        self._desk = self._opened()
        if self._desk is None:
            return {cell: Held(None) for cell in cells}
        return {cell: self._held(cell, cell in begun, rows[cell.model]) for cell in cells}

    def bought_since(self, models: Iterable[str], moment: float) -> dict[str, int]:
        """Answers of each model in files of the store that were begun after a moment."""
        found = {}
        for model in models:
            partition = self._partition(model)
            if partition is not None:
                new = (f for f in partition.files if _begun(f.path) >= moment - 1)
                found[model] = sum(len(file.index) for file in new)
        return found

    def close(self) -> None:
        """Let go of the store's files."""
        if self._desk is not None:
            self._desk.store.close()

    _desk: Desk | None = None

    def _opened(self) -> Desk | None:
        try:
            found = self._questions.stat()
        except OSError:
            self.close()
            return None
        state = (found.st_size, found.st_mtime_ns)
        if self._desk is None or state != self._state:
            self.close()
            self._state = state
            self._made, self._keys = {}, {}
            return Desk(self._study, self._questions, Store(self._study.study.store))
        return self._desk

    def _partition(self, model: str) -> Partition | None:
        if self._desk is None:
            return None
        try:
            partition = self._desk.partition(model)
            partition.refresh()
        except OmibenchError as error:
            self._note(model, error)
            return None
        return partition

    def _held(self, cell: Cell, begun: bool, accounted: int) -> Held:
        partition = self._partition(cell.model)
        try:
            requests = self._requests(cell)
        except OmibenchError as error:
            self._note(cell.model, error)
            return Held(None)
        if partition is None or not requests or not (begun or len(partition) > accounted):
            return Held(len(requests))
        if not begun and not any(partition.key(r) in partition for r in _spread(requests)):
            return Held(len(requests))
        keys = self._keys.get(cell)
        if keys is None:
            keys = self._keys[cell] = [partition.key(request) for request in requests]
        held = [key for key in keys if key in partition]
        return Held(len(requests), len(held), self._cost(partition, held) if begun else None)

    def _requests(self, cell: Cell) -> list[Request]:
        """What a cell asks; the same of every model, but for one whose responses are recorded."""
        assert self._desk is not None
        if isinstance(self._study.models[cell.model], RecordedModel):
            return self._desk.requests(cell)
        if cell.setting not in self._made:
            self._made[cell.setting] = self._desk.requests(cell)
        return self._made[cell.setting]

    def _cost(self, partition: Partition, keys: list[str]) -> float | None:
        for key in keys:
            if key not in self._prices:
                self._prices[key] = (partition.response(key) or {}).get("cost_usd")
        told = [usd for key in keys if (usd := self._prices[key]) is not None]
        return sum(told) if told else None

    def _note(self, model: str, error: OmibenchError) -> None:
        note = f"{model}: {error}"
        if note not in self.notes:
            self.notes.append(note)


def _spread(requests: list[Request]) -> list[Request]:
    return requests[:: max(1, len(requests) // PROBES)]


def _begun(path: Path) -> float:
    """When a file of the store was begun, as its name says; 0 where it does not."""
    from calendar import timegm
    from time import strptime

    try:
        return float(timegm(strptime(path.name[:15], "%Y%m%dT%H%M%S")))
    except ValueError:
        return 0.0
