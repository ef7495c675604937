"""The outcome of each correction of one source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omibench.schemas.pages import CorrectionRow, CorrectionStatus
from omibench.schemas.problem import Problem
from omibench.schemas.problem_warning import CORRECTED, ProblemWarning
from omibench.stages.ocr.corrections.entry import CorrectionEntry

MISFIT = "correction_misfit"
"""The code of the warning that a correction no longer fits a problem."""


def list_first(entries: Sequence[str], separator: str, most: int = 5) -> str:
    """Return the first few entries in one line, and the number of the others."""
    more = f" and {len(entries) - most} more" if len(entries) > most else ""
    return f"{separator.join(entries[:most])}{more}"


class CorrectionLog:
    """Notes on the corrections of one source, in order of application.

    `paper` is the path of its paper; corrections of other files are listed with their names.
    """

    def __init__(self, entries: Sequence[CorrectionEntry], paper: str = "") -> None:
        self._paper = paper
        self._rows = {entry.number: self._make_row(entry) for entry in entries}

    @property
    def rows(self) -> list[CorrectionRow]:
        """One row per correction, in file order."""
        return list(self._rows.values())

    def note(self, entry: CorrectionEntry, status: CorrectionStatus, reason: str = "") -> None:
        """Note the outcome of a correction."""
        self._update(entry.number, status=status, reason=reason)

    def is_settled(self, entry: CorrectionEntry) -> bool:
        """Return whether a correction was applied, or the reading agrees with it."""
        return self._rows[entry.number].status != "misfit"

    def add_problem(self, entry: CorrectionEntry, number: str) -> None:
        """Note that a correction affects a problem."""
        row = self._rows[entry.number]
        if number not in row.problems:
            self._update(entry.number, problems=[*row.problems, number])

    def warn_problems(self, problems: Sequence[Problem]) -> list[Problem]:
        """Return the problems with a warning for each correction that changed them or no longer
        fits."""
        by_number: dict[str, list[ProblemWarning]] = {}
        for row in self.rows:
            if warning := _make_warning(row):
                for number in row.problems:
                    by_number.setdefault(number, []).append(warning)
        return [problem.warn(*by_number.get(problem.number, ())) for problem in problems]

    def _make_row(self, entry: CorrectionEntry) -> CorrectionRow:
        correction = entry.correction
        is_elsewhere = correction.page is not None and entry.file != self._paper
        return CorrectionRow(
            line=entry.line,
            place=correction.place,
            file=Path(entry.file).name if is_elsewhere else "",
            kind=correction.kind,
            by=correction.by,
            status="misfit",
            reason=f"no {correction.place} was read",
            problems=[] if correction.problem is None else [correction.problem],
        )

    def _update(self, number: int, **changes: object) -> None:
        self._rows[number] = self._rows[number].model_copy(update=changes)


def _make_warning(row: CorrectionRow) -> ProblemWarning | None:
    if row.status == "applied":
        return ProblemWarning(CORRECTED, f"{row.kind} by {row.by}")
    if row.status == "misfit":
        return ProblemWarning(MISFIT, f"{row.kind} by {row.by} (line {row.line}): {row.reason}")
    return None
