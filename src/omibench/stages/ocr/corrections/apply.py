"""Apply corrections of formulas and lines of text at boxes of a page.

A page is corrected before it is cut into problems, so everything derived from its lines (numbers of
problems, choices, keys, the page's text) uses the corrected text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from omibench.schemas.pages import CorrectionRow
from omibench.schemas.problem import Problem
from omibench.stages.ocr.corrections.entry import (
    CorrectionEntry,
    covers,
    describe_box,
    is_same_reading,
    join_lines,
    quote_reading,
)
from omibench.stages.ocr.corrections.problems import (
    MISFIT,
    STATEMENT,
    CorrectionLog,
    FigureSource,
    MisfitError,
    correct_structure,
    describe_field,
    describe_image,
    drop_suspicion,
    find_place,
    list_first,
    list_parts,
    set_field,
    set_image,
)
from omibench.stages.ocr.layout.layout import PERSON, Box, Line, unite
from omibench.text.latex import FormulaSpan, find_formulas, normalise

if TYPE_CHECKING:
    from omibench.stages.ocr.layout.places import Place
    from omibench.stages.ocr.structure.document import DocumentPage


_SHARE = 0.2
"""The share of the smaller of a line and a formula's box, since fractions are taller than lines."""
_SIZE = 10.0
"""The default type size, in points, on a page without any."""


class PageCorrector:
    """Applies corrections to the pages of one file."""

    def __init__(self, entries: Sequence[CorrectionEntry], log: CorrectionLog) -> None:
        self._entries = [entry for entry in entries if entry.correction.page is not None]
        self._log = log

    def correct(self, page: DocumentPage) -> None:
        """Apply the corrections of a page to its lines, and remove drawings replaced by text.

        Args:
            page: Page as read, before its lines are processed.
        """
        for entry in self._entries:
            if entry.correction.page != page.number:
                continue
            if entry.correction.formula is not None:
                self._correct_formula(page, entry)
            else:
                self._correct_text(page, entry)
            if page.markings and self._log.is_settled(entry):
                page.markings.settled.append(entry.box)

    def _correct_formula(self, page: DocumentPage, entry: CorrectionEntry) -> None:
        correction = entry.correction
        lines = [line for line in page.lines if _is_line_at(line, entry.box)]
        formulas = [formula for line in lines for formula in _list_formulas(line)]
        latex = str(correction.formula)
        if not lines:
            self._log.note(entry, "misfit", "no line is at the box")
            return
        formula = _choose(formulas, entry.box, correction.was)
        if formula is not None:
            _replace_line(page, formula.line, formula.correct(latex))
            self._log.note(entry, "applied")
        elif run := _find_run(lines, correction.was):
            line, start, end = run
            text = f"{line.text[:start]}${latex}${line.text[end:]}"
            _replace_line(
                page,
                line,
                replace(
                    line,
                    text=text,
                    math_suspect=False,
                    reasons=(),
                    unread=(),
                    stacked=False,
                    differences=(),
                ),
            )
            self._log.note(entry, "applied")
        elif same := _choose(formulas, entry.box, latex):
            _replace_line(page, same.line, same.correct(same.span.latex))
            self._log.note(entry, "agrees")
        elif correction.was is None:
            reason = f"{len(formulas) or 'no'} formulas are at the box: add `was`"
            self._log.note(entry, "misfit", reason)
        else:
            listing = "; ".join(formula.span.latex for formula in formulas)
            reading = listing or join_lines([line.text for line in lines])
            self._log.note(entry, "misfit", f"the current reading is {quote_reading(reading)}")

    def _correct_text(self, page: DocumentPage, entry: CorrectionEntry) -> None:
        correction = entry.correction
        lines = [line for line in page.lines if entry.box.holds(line.box)]
        reading, text = join_lines([line.text for line in lines]), str(correction.text)
        is_read = is_same_reading(correction.was, reading)
        if not is_read and not is_same_reading(text, reading):
            reason = f"the current reading is {quote_reading(reading) or 'nothing'}"
            self._log.note(entry, "misfit", reason)
            return
        replaced = {id(line) for line in lines}
        place = next((k for k, line in enumerate(page.lines) if id(line) in replaced), None)
        kept = [line for line in page.lines if id(line) not in replaced]
        at = len(kept) if place is None else place
        page.lines = [*kept[:at], *_write_lines(page, entry, lines), *kept[at:]]
        page.regions = [region for region in page.regions if not _is_inside(region.box, entry.box)]
        self._log.note(entry, "applied" if is_read else "agrees")


class _Formula(NamedTuple):
    """A formula in a line."""

    line: Line
    span: FormulaSpan
    place: int
    """Its index among the formulas of its line."""

    @property
    def box(self) -> Box | None:
        """Its box, if known."""
        formulas = self.line.formulas
        is_known = len(formulas) == len(find_formulas(self.line.text))
        return formulas[self.place].region.box if is_known else None

    @property
    def middle(self) -> float:
        """The middle of the formula in points, estimated from its position in the line if
        unknown."""
        if self.box is not None:
            return self.box.centre[0]
        box, length = self.line.box, max(1, len(self.line.text))
        return box.x0 + box.width * (self.span.start + self.span.end) / 2 / length

    def is_at(self, box: Box) -> bool:
        """Return whether it is known to be at a box."""
        if self.box is None:
            return False
        return any(covers(part, box) for part in self.line.formulas[self.place].region.boxes)

    def correct(self, latex: str) -> Line:
        """Return its line with the formula replaced and no longer marked as doubtful."""
        start, end = self.span.start, self.span.end
        text = self.line.text
        sign = "$$" if text.startswith("$$", start) else "$"
        formulas = self.line.formulas
        differences: tuple[str, ...] = ()
        if self.box is not None:
            place = describe_box(self.line.page, self.box)
            differences = tuple(d for d in self.line.differences if not d.startswith(place))
            certain = replace(formulas[self.place], latex=latex, doubts=())
            formulas = (*formulas[: self.place], certain, *formulas[self.place + 1 :])
        text = f"{text[:start]}{sign}{latex}{sign}{text[end:]}"
        return replace(self.line, text=text, formulas=formulas, differences=differences)


def _is_line_at(line: Line, box: Box) -> bool:
    """Return whether a line is at a box, or the end of a formula that is broken after it."""
    ends = (end for formula in line.formulas for end in formula.region.boxes[1:])
    return covers(line.box, box, _SHARE) or any(covers(end, box) for end in ends)


def _list_formulas(line: Line) -> list[_Formula]:
    return [_Formula(line, span, k) for k, span in enumerate(find_formulas(line.text))]


def _choose(formulas: Sequence[_Formula], box: Box, was: str | None) -> _Formula | None:
    """Return the formula at the box with the reading of a correction.

    If several match, the nearest one; without a reading in the correction, the only one.
    """
    at_box = [formula for formula in formulas if formula.is_at(box)] or formulas
    if was is None:
        return at_box[0] if len(at_box) == 1 else None
    alike = [
        formula
        for formula in at_box
        if is_same_reading(was, formula.span.latex)
        or normalise(formula.span.latex) == normalise(was)
    ]
    return min(alike, key=lambda formula: abs(formula.middle - box.centre[0]), default=None)


def _find_run(lines: Sequence[Line], was: str | None) -> tuple[Line, int, int] | None:
    """Return the only place outside of formulas where lines have a text: a formula that lost its
    form."""
    if not was or not was.strip():
        return None
    places = []
    for line in lines:
        spans = find_formulas(line.text)
        start = line.text.find(was)
        while start >= 0:
            end = start + len(was)
            if all(end <= span.start or span.end <= start for span in spans):
                places.append((line, start, end))
            start = line.text.find(was, end)
    return places[0] if len(places) == 1 else None


def _replace_line(page: DocumentPage, line: Line, corrected: Line) -> None:
    page.lines = [corrected if other is line else other for other in page.lines]


def _write_lines(page: DocumentPage, entry: CorrectionEntry, lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a corrected text: one per text line, stacked in the box."""
    texts = [text.strip() for text in str(entry.correction.text).splitlines() if text.strip()]
    if not texts:
        return []
    box = unite(line.box for line in lines) if lines else entry.box
    widest = max(lines, key=lambda line: line.box.width, default=None)
    sizes = sorted(line.size for line in lines or page.lines)
    size = widest.size if widest else sizes[len(sizes) // 2] if sizes else _SIZE
    height = box.height / len(texts)
    written = []
    for k, text in enumerate(texts):
        y0 = box.y0 + k * height
        line_box = Box(box.x0, y0, box.x1, y0 + height)
        baseline = widest.baseline if widest and len(texts) == 1 else line_box.y1 - 0.2 * size
        bold = widest is not None and widest.bold
        written.append(
            Line(page.number, line_box, text, size, bold=bold, baseline=baseline, engine=PERSON)
        )
    return written


def _is_inside(region: Box, box: Box) -> bool:
    """Return whether a drawing belongs to the formula or text at a box, instead of a figure around
    it."""
    return box.holds(region) and region.width * region.height <= 2 * box.width * box.height


# Apply the corrections of one source at each step of its reading.

_FIELDS = ("text", "choice", "choices", "answer", "solution", "figure")


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
