"""Apply the corrections of one source at each step of its reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from omibench.schemas.pages import CorrectionRow
from omibench.schemas.problem import Problem
from omibench.stages.ocr.corrections.entry import CorrectionEntry, covers
from omibench.stages.ocr.corrections.fields import (
    STATEMENT,
    describe_field,
    drop_suspicion,
    list_parts,
    set_field,
)
from omibench.stages.ocr.corrections.figures import FigureSource, describe_image, set_image
from omibench.stages.ocr.corrections.lines import PageCorrector
from omibench.stages.ocr.corrections.outcome import MISFIT, CorrectionLog, list_first
from omibench.stages.ocr.corrections.reading import is_same_reading, quote_reading
from omibench.stages.ocr.corrections.structure import (
    MisfitError,
    correct_structure,
    find_place,
)
from omibench.stages.ocr.layout.layout import Box

if TYPE_CHECKING:
    from omibench.stages.ocr.layout.places import Place
    from omibench.stages.ocr.structure.document import DocumentPage

_FIELDS = ("text", "choice", "choices", "answer", "solution", "figure")
_SHARE = 0.2


class SourceCorrections:
    """The corrections of one source: pages first, then problems, answers and figures."""

    def __init__(self, entries: Sequence[CorrectionEntry], paper: str = "") -> None:
        self._entries = list(entries)
        self._log = CorrectionLog(entries, paper)

    @property
    def rows(self) -> list[CorrectionRow]:
        """The status of each correction so far."""
        return self._log.rows

    @property
    def where(self) -> dict[str, str]:
        """A description of the corrections that no longer fit, by their code."""
        misfits = [
            f"line {row.line}, {row.kind} of {row.where} by {row.by} ({row.reason})"
            for row in self.rows
            if row.status == "misfit"
        ]
        return {MISFIT: list_first(misfits, "; ")} if misfits else {}

    def make_page_corrector(self, file: str) -> Callable[[DocumentPage], None] | None:
        """Return the corrector of a file's pages; None if there is nothing to correct."""
        entries = [e for e in self._entries if e.file == file and e.correction.page is not None]
        return PageCorrector(entries, self._log).correct if entries else None

    def correct_structure(self, problems: Sequence[Problem]) -> list[Problem]:
        """Merge and split problems, before answers are assigned to their numbers."""
        return correct_structure(problems, self._entries, self._log)

    def correct_problems(
        self,
        problems: Sequence[Problem],
        figures: FigureSource,
        suspects: Mapping[str, frozenset[str]],
    ) -> list[Problem]:
        """Set texts, choices, answers, solutions and figures, and drop problems.

        Args:
            problems: Problems with their answers.
            figures: Source of pictures of changed figures.
            suspects: By number, the parts of each problem's text in which a formula may have lost
                its form, or with unread ink. The warnings are removed once all are corrected.

        Returns:
            The remaining problems, with a warning for every correction.
        """
        corrected = list(problems)
        parts: dict[str, set[str]] = {}
        for entry in sorted(self._entries, key=_order):
            number = entry.correction.problem
            place = find_place(corrected, number)
            if entry.correction.kind not in _FIELDS or place is None or number is None:
                continue
            after = self._set(corrected[place], entry, figures)
            if after is not None:
                corrected[place] = after
                parts.setdefault(number, set()).update(list_parts(after, entry.correction))
        moved = self._list_moved()
        for place, problem in enumerate(corrected):
            suspect = {STATEMENT, *(choice.label for choice in problem.choices or [])}
            if problem.number not in moved:
                suspect = set(suspects.get(problem.number, suspect))
            if problem.number in parts and parts[problem.number] >= suspect:
                corrected[place] = drop_suspicion(problem)
        return self._log.warn_problems(self._drop(corrected))

    def locate(self, places: Sequence[Place], file: str) -> None:
        """Note the problems affected by corrections of a file's pages."""
        for entry in self._entries:
            if entry.correction.page is None or entry.file != file:
                continue
            for place in places:
                on_page = place.page == entry.correction.page and place.problem is not None
                if on_page and covers(Box(*place.bbox), entry.box, _SHARE):
                    self._log.add_problem(entry, str(place.problem))

    def _set(
        self, problem: Problem, entry: CorrectionEntry, figures: FigureSource
    ) -> Problem | None:
        """Return the problem with one correction applied; None if it does not fit."""
        correction = entry.correction
        try:
            if correction.figure is not None:
                reading = describe_image(problem, correction.figure)
                after = set_image(problem, correction.figure, figures)
                is_set = False
            else:
                reading = describe_field(problem, correction)
                after = set_field(problem, correction)
                is_set = is_same_reading(reading, describe_field(after, correction))
        except MisfitError as error:
            self._log.note(entry, "misfit", str(error))
            return None
        if is_same_reading(correction.was, reading):
            self._log.note(entry, "applied")
            return after
        if is_set:
            self._log.note(entry, "agrees")
            return after
        reason = f"the current reading is {quote_reading(reading) or 'nothing'}"
        self._log.note(entry, "misfit", reason)
        return None

    def _list_moved(self) -> set[str | None]:
        """Return the numbers of split or merged problems, which have parts of others."""
        corrections = (entry.correction for entry in self._entries)
        return {c.problem for c in corrections if c.split is not None or c.merge is not None}

    def _drop(self, problems: Sequence[Problem]) -> list[Problem]:
        kept = list(problems)
        for entry in self._entries:
            place = find_place(kept, entry.correction.problem)
            if not entry.correction.drop or place is None:
                continue
            if is_same_reading(entry.correction.was, kept[place].question):
                del kept[place]
                self._log.note(entry, "applied")
            else:
                reason = (
                    f"the current reading is {quote_reading(kept[place].question) or 'nothing'}"
                )
                self._log.note(entry, "misfit", reason)
        return kept


def _order(entry: CorrectionEntry) -> tuple[bool, int]:
    """Sort removals of figures last, from the last number, since numbers are those of the
    reading."""
    figure = entry.correction.figure
    is_removed = figure is not None and figure.remove is not None
    return is_removed, -figure.image if figure and is_removed else entry.number
