"""Counts the stored answers to requests of cells without a file."""

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
"""Requests of a waiting cell that are looked up before all of them: the first, and others evenly
spaced. Requests are sent in order, so a started cell has the first."""


class StoredCounts(NamedTuple):
    """A cell's requests (None: unknown), the number of answered ones, and their cost."""

    requests: int | None
    answered: int = 0
    usd: float | None = None


class WrittenCounts(NamedTuple):
    """Counts of the written cells: answers by model, and requests by setting."""

    answered: Counter[str]
    requests: dict[str, int]


class Stored:
    """The store for one study. A repeated read costs only the changes."""

    def __init__(self, study: Study, questions: Path) -> None:
        self._study, self._questions = study, questions
        self._requests_by_setting: dict[str, list[Request]] = {}
        self._keys: dict[Cell, list[str]] = {}
        self._prices: dict[str, float | None] = {}
        self._state: object = None
        self.notes: list[str] = []
        """Models that could not be opened, and why."""

    def look(
        self, cells: Iterable[Cell], begun: set[Cell], written: WrittenCounts
    ) -> dict[Cell, StoredCounts]:
        """Count the stored answers of `cells`.

        Counted are those that were `begun`, and others if their model has more answers than its
        written cells account for.
        """
        self.notes = []
        self._view = self._open_view()
        if self._view is None:
            return {cell: StoredCounts(None) for cell in cells}
        cells = list(cells)
        models = dict.fromkeys(cell.model for cell in cells)
        unaccounted_models = {
            model for model in models if self._count_answers(model) > written.answered[model]
        }
        return {
            cell: self._look_up_cell(cell, cell in begun)
            if cell in begun or cell.model in unaccounted_models
            else self._estimate_cell(cell, written)
            for cell in cells
        }

    def count_new_answers(self, models: Iterable[str], moment: float) -> dict[str, int]:
        """Count the answers of each model in files of the store that were begun after a moment."""
        if self._view is None:
            return {}
        # File names have a resolution of seconds.
        return {model: self._count_answers(model, moment - 1) for model in models}

    def close(self) -> None:
        """Close the store's files."""
        if self._view is not None:
            self._view.store.close()

    _view: StudyView | None = None

    def _open_view(self) -> StudyView | None:
        try:
            file_stat = self._questions.stat()
        except OSError:
            self.close()
            return None
        state = (file_stat.st_size, file_stat.st_mtime_ns)
        if self._view is None or state != self._state:
            self.close()
            self._state = state
            self._requests_by_setting, self._keys = {}, {}
            return StudyView(self._study, self._questions, Store(self._study.study.store))
        return self._view

    def _open_partition(self, model: str) -> Partition | None:
        if self._view is None:
            return None
        try:
            partition = self._view.open_partition(model)
            partition.refresh()
        except OmibenchError as error:
            self._note(model, error)
            return None
        return partition

    def _count_answers(self, model: str, since: float = 0.0) -> int:
        """Count the responses in a model's partition without opening it."""
        assert self._view is not None
        try:
            folder = self._view.store.folder / partition_name(
                self._view.open_provider(model).identity
            )
            return count_responses(folder, since)
        except OmibenchError as error:
            self._note(model, error)
            return 0

    def _estimate_cell(self, cell: Cell, written: WrittenCounts) -> StoredCounts:
        recorded = self._study.models[cell.model].is_recorded
        if not recorded and cell.setting in written.requests:
            return StoredCounts(written.requests[cell.setting])
        return self._look_up_cell(cell, False)

    def _look_up_cell(self, cell: Cell, begun: bool) -> StoredCounts:
        try:
            requests = self._list_requests(cell)
        except OmibenchError as error:
            self._note(cell.model, error)
            return StoredCounts(None)
        partition = self._open_partition(cell.model) if requests else None
        if partition is None or not len(partition):
            return StoredCounts(len(requests))
        if not begun and not any(partition.key(r) in partition for r in _select_probes(requests)):
            return StoredCounts(len(requests))
        keys = self._keys.get(cell)
        if keys is None:
            keys = [partition.key(request) for request in requests]
            if self._is_lasting(cell):
                self._keys[cell] = keys
        stored_keys = [key for key in keys if key in partition]
        return StoredCounts(
            len(requests),
            len(stored_keys),
            self._sum_prices(partition, stored_keys) if begun else None,
        )

    def _list_requests(self, cell: Cell) -> list[Request]:
        """List the requests of a cell; the same for every model except recorded ones."""
        assert self._view is not None
        recorded = self._study.models[cell.model].is_recorded
        if recorded or not self._is_lasting(cell):
            for name in (cell.model, *self._study.settings[cell.setting].helpers):
                self._open_partition(name)  # includes what others have written in the meantime
            return self._view.last_requests(cell)
        if cell.setting not in self._requests_by_setting:
            self._requests_by_setting[cell.setting] = self._view.last_requests(cell)
        return self._requests_by_setting[cell.setting]

    def _is_lasting(self, cell: Cell) -> bool:
        """Return whether a cell's requests do not depend on other answers and drawn pictures."""
        setting = self._study.settings[cell.setting]
        return not (setting.in_steps or setting.images.is_derived)

    def _sum_prices(self, partition: Partition, keys: list[str]) -> float | None:
        for key in keys:
            if key not in self._prices:
                self._prices[key] = (partition.response(key) or {}).get("cost_usd")
        prices = [usd for key in keys if (usd := self._prices[key]) is not None]
        return sum(prices) if prices else None

    def _note(self, model: str, error: OmibenchError) -> None:
        note = f"{model}: {error}"
        if note not in self.notes:
            self.notes.append(note)


def _select_probes(requests: list[Request]) -> list[Request]:
    return requests[:: max(1, len(requests) // PROBES)]
