"""How many requests of cells that are not written yet the store answers already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from omibench.errors import OmibenchError
from omibench.params.cell import Cell
from omibench.params.study import Study
from omibench.plan.view import StudyView
from omibench.schemas.request import Request
from omibench.store.contents import count_responses
from omibench.store.partition.partition import Partition
from omibench.store.store import Store, partition_name

PROBES = 16
"""Requests of a waiting cell that are looked up before all of them are: the first, and others
evenly spaced. Requests are asked in order, so that a cell which was begun has the first."""


class Held(NamedTuple):
    """A cell's requests (None: they cannot be told), how many are answered, and for how much."""

    requests: int | None
    answered: int = 0
    usd: float | None = None


class Known(NamedTuple):
    """What the written cells tell: answers by model, and requests by setting."""

    answered: Counter[str]
    requests: dict[str, int]


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

    def look(self, cells: Iterable[Cell], begun: set[Cell], known: Known) -> dict[Cell, Held]:
        """What the store holds of `cells`: of those that were `begun`, and of others as far as
        their model has more answers than its written cells account for.
        """
        self.notes = []
        self._desk = self._opened()
        if self._desk is None:
            return {cell: Held(None) for cell in cells}
        cells = list(cells)
        models = dict.fromkeys(cell.model for cell in cells)
        more = {model for model in models if self._answers(model) > known.answered[model]}
        return {
            cell: self._held(cell, cell in begun)
            if cell in begun or cell.model in more
            else self._empty(cell, known)
            for cell in cells
        }

    def bought_since(self, models: Iterable[str], moment: float) -> dict[str, int]:
        """Answers of each model in files of the store that were begun after a moment."""
        if self._desk is None:
            return {}
        # Names of files tell whole seconds.
        return {model: self._answers(model, moment - 1) for model in models}

    def close(self) -> None:
        """Let go of the store's files."""
        if self._desk is not None:
            self._desk.store.close()

    _desk: StudyView | None = None

    def _opened(self) -> StudyView | None:
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
            return StudyView(self._study, self._questions, Store(self._study.study.store))
        return self._desk

    def _partition(self, model: str) -> Partition | None:
        if self._desk is None:
            return None
        try:
            partition = self._desk.open_partition(model)
            partition.refresh()
        except OmibenchError as error:
            self._note(model, error)
            return None
        return partition

    def _answers(self, model: str, since: float = 0.0) -> int:
        """Responses in a model's partition, counted without opening it."""
        assert self._desk is not None
        try:
            folder = self._desk.store.folder / partition_name(
                self._desk.open_provider(model).identity
            )
            return count_responses(folder, since)
        except OmibenchError as error:
            self._note(model, error)
            return 0

    def _empty(self, cell: Cell, known: Known) -> Held:
        recorded = self._study.models[cell.model].is_recorded
        if not recorded and cell.setting in known.requests:
            return Held(known.requests[cell.setting])
        return self._held(cell, False)

    def _held(self, cell: Cell, begun: bool) -> Held:
        try:
            requests = self._requests(cell)
        except OmibenchError as error:
            self._note(cell.model, error)
            return Held(None)
        partition = self._partition(cell.model) if requests else None
        if partition is None or not len(partition):
            return Held(len(requests))
        if not begun and not any(partition.key(r) in partition for r in _spread(requests)):
            return Held(len(requests))
        keys = self._keys.get(cell)
        if keys is None:
            keys = [partition.key(request) for request in requests]
            if self._lasting(cell):
                self._keys[cell] = keys
        held = [key for key in keys if key in partition]
        return Held(len(requests), len(held), self._cost(partition, held) if begun else None)

    def _requests(self, cell: Cell) -> list[Request]:
        """What a cell asks; the same of every model, but for one whose responses are recorded."""
        assert self._desk is not None
        recorded = self._study.models[cell.model].is_recorded
        if recorded or not self._lasting(cell):
            for name in (cell.model, *self._study.settings[cell.setting].helpers):
                self._partition(name)  # sees what others have written meanwhile
            return self._desk.last_requests(cell)
        if cell.setting not in self._made:
            self._made[cell.setting] = self._desk.last_requests(cell)
        return self._made[cell.setting]

    def _lasting(self, cell: Cell) -> bool:
        """Whether a cell asks the same whatever others have answered and drawn meanwhile."""
        setting = self._study.settings[cell.setting]
        return not (setting.in_steps or setting.images.made)

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
