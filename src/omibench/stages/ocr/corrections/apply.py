"""Apply the corrections of one source at each step of its reading.

Formulas and lines of text are corrected at boxes of a page before the page is cut into problems, so
everything derived from its lines (numbers of problems, choices, keys, the page's text) uses the
corrected text. Problems are split and merged before answers are assigned to their numbers, and
changed after that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from glyphtex.latex import FormulaSpan, find_formulas, normalise
from glyphtex.marks import Box, unite
from omibench.schemas.pages import CorrectionRow, CorrectionStatus
from omibench.schemas.problem import CORRECTED, Problem, ProblemWarning
from omibench.stages.ocr.corrections.entry import (
    CorrectionEntry,
    covers,
    describe_box,
    is_same_reading,
    join_lines,
    quote_reading,
)
from omibench.stages.ocr.corrections.problems import (
    STATEMENT,
    FigureMaker,
    MisfitError,
    change_problem,
    change_structure,
    drop_suspicion,
    find_place,
)
from omibench.stages.ocr.layout.layout import PERSON, Line
from omibench.text.lists import list_first

if TYPE_CHECKING:
    from omibench.stages.ocr.layout.places import Place
    from omibench.stages.ocr.structure.document import DocumentPage

MISFIT = "correction_misfit"
"""The code of the warning that a correction no longer fits a problem."""
_FIELDS = ("text", "choice", "choices", "answer", "solution", "figure")
_SHARE = 0.2
"""The share of the smaller of a line and a formula's box, since fractions are taller than lines."""
_SIZE = 10.0
"""The default type size, in points, on a page without any."""


class SourceCorrections:
    """The corrections of one source: pages first, then problems, answers and figures.

    `paper` is the path of its paper; corrections of other files are listed with their names.
    """

    def __init__(self, entries: Sequence[CorrectionEntry], paper: str = "") -> None:
        self._entries, self._paper = list(entries), paper
        self._rows = {entry.number: _make_row(entry, paper) for entry in entries}

    @property
    def rows(self) -> list[CorrectionRow]:
        """The status of each correction so far, in file order."""
        return list(self._rows.values())

    @property
    def where(self) -> dict[str, str]:
        """A description of the corrections that no longer fit, by their code."""
        misfits = [
            f"line {row.line}, {row.kind} of {row.where} by {row.by} ({row.reason})"
            for row in self.rows
            if row.status == "misfit"
        ]
        return {MISFIT: list_first(misfits, 5, "; ")} if misfits else {}

    def correct_page(self, file: str, page: DocumentPage) -> None:
        """Apply the corrections of a page to its lines, and remove drawings replaced by text.

        Args:
            file: Path of the file with the page.
            page: Page as read, before its lines are processed.
        """
        for entry in self._entries:
            if entry.file == file and entry.correction.page == page.number:
                is_formula = entry.correction.formula is not None
                with self._note_misfit(entry):
                    correct = _correct_formula if is_formula else _correct_text
                    self._update(entry, status=correct(page, entry), reason="")
                    if page.markings:
                        page.markings.settled.append(entry.box)

    def correct_structure(self, problems: Sequence[Problem]) -> list[Problem]:
        """Merge and split problems in file order, before answers are assigned to their numbers."""
        corrected = list(problems)
        for entry in self._entries:
            correction = entry.correction
            place = find_place(corrected, correction.problem)
            if (correction.merge is None and correction.split is None) or place is None:
                continue
            with self._note_misfit(entry):
                if not is_same_reading(correction.was, corrected[place].question):
                    raise MisfitError("the current reading is another statement")
                corrected = change_structure(corrected, place, correction)
                self._update(entry, status="applied", reason="")
                if correction.split is not None:
                    self._add_problem(entry, correction.split.number)
        return corrected

    def correct_problems(
        self,
        problems: Sequence[Problem],
        make_figure: FigureMaker,
        suspects: Mapping[str, frozenset[str]],
    ) -> list[Problem]:
        """Set texts, choices, answers, solutions and figures, and drop problems.

        Args:
            problems: Problems with their answers.
            make_figure: Makes changed figures.
            suspects: By number, the parts of each problem's text in which a formula may have lost
                its form, or with unread ink. The warnings are removed once all are corrected.

        Returns:
            The remaining problems, with a warning for every correction.
        """
        corrected = list(problems)
        parts: dict[str, frozenset[str]] = {}
        for entry in sorted(self._entries, key=_order):
            number = entry.correction.problem
            place = find_place(corrected, number)
            if entry.correction.kind not in _FIELDS or place is None or number is None:
                continue
            with self._note_misfit(entry):
                change = change_problem(corrected[place], entry.correction, make_figure)
                status = _compare(entry, change.before, change.after)
                self._update(entry, status=status, reason="")
                corrected[place] = change.problem
                parts[number] = parts.get(number, frozenset()) | change.parts
        for place, problem in enumerate(corrected):
            suspect = {STATEMENT, *(choice.label for choice in problem.choices or [])}
            if not self._is_moved(problem.number):
                suspect = {*suspects.get(problem.number, suspect)}
            if problem.number in parts and parts[problem.number] >= suspect:
                corrected[place] = drop_suspicion(problem)
        for entry in self._entries:
            place = find_place(corrected, entry.correction.problem)
            if entry.correction.drop and place is not None:
                with self._note_misfit(entry):
                    status = _compare(entry, corrected[place].question)
                    self._update(entry, status=status, reason="")
                    del corrected[place]
        return [problem.warn(*self._list_warnings(problem.number)) for problem in corrected]

    def locate(self, places: Sequence[Place]) -> None:
        """Note the problems of the paper that corrections of its pages affect."""
        for entry in self._entries:
            if entry.correction.page is None or entry.file != self._paper:
                continue
            for place in places:
                on_page = place.page == entry.correction.page and place.problem is not None
                if on_page and covers(Box(*place.bbox), entry.box, _SHARE):
                    self._add_problem(entry, str(place.problem))

    def _is_moved(self, number: str) -> bool:
        """Return whether a problem was split or merged, and so has parts of others."""
        corrections = (entry.correction for entry in self._entries)
        return any(c.problem == number and (c.split or c.merge) for c in corrections)

    def _list_warnings(self, number: str) -> list[ProblemWarning]:
        """Return a warning for each correction of a problem that was made or no longer fits."""
        warnings = []
        for row in self.rows:
            what = f"{row.kind} by {row.by}"
            if number in row.problems and row.status == "applied":
                warnings.append(ProblemWarning(CORRECTED, what))
            elif number in row.problems and row.status == "misfit":
                warnings.append(ProblemWarning(MISFIT, f"{what} (line {row.line}): {row.reason}"))
        return warnings

    def _add_problem(self, entry: CorrectionEntry, number: str) -> None:
        problems = self._rows[entry.number].problems
        if number not in problems:
            self._update(entry, problems=[*problems, number])

    @contextmanager
    def _note_misfit(self, entry: CorrectionEntry) -> Iterator[None]:
        """Note why a correction does not fit, if it does not."""
        try:
            yield
        except MisfitError as error:
            self._update(entry, status="misfit", reason=str(error))

    def _update(self, entry: CorrectionEntry, **changes: object) -> None:
        self._rows[entry.number] = self._rows[entry.number].model_copy(update=changes)


def _make_row(entry: CorrectionEntry, paper: str) -> CorrectionRow:
    correction = entry.correction
    is_elsewhere = correction.page is not None and entry.file != paper
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


def _order(entry: CorrectionEntry) -> tuple[bool, int]:
    """Sort removals of figures last, from the last number, since numbers are those of the
    reading."""
    figure = entry.correction.figure
    is_removed = figure is not None and figure.remove is not None
    return is_removed, -figure.image if figure and is_removed else entry.number


def _compare(entry: CorrectionEntry, before: str, after: str | None = None) -> CorrectionStatus:
    """Return what becomes of a correction of a reading `before`, which would be `after`.

    Raises MisfitError if the reading is another one.
    """
    if is_same_reading(entry.correction.was, before):
        return "applied"
    if after is not None and is_same_reading(before, after):
        return "agrees"
    raise _refuse(before)


def _refuse(reading: str) -> MisfitError:
    return MisfitError(f"the current reading is {quote_reading(reading) or 'nothing'}")


# Corrections at boxes of a page.


def _correct_text(page: DocumentPage, entry: CorrectionEntry) -> CorrectionStatus:
    replaced = [line for line in page.lines if entry.box.holds(line.box)]
    reading = join_lines([line.text for line in replaced])
    status = _compare(entry, reading, str(entry.correction.text))
    ids = {id(line) for line in replaced}
    at = next((k for k, line in enumerate(page.lines) if id(line) in ids), len(page.lines))
    kept = [line for line in page.lines if id(line) not in ids]
    page.lines = [*kept[:at], *_write_lines(page, entry, replaced), *kept[at:]]
    page.regions = [
        region
        for region in page.regions
        # A larger drawing is a figure around the text.
        if not entry.box.holds(region.box) or _area(region.box) > 2 * _area(entry.box)
    ]
    return status


def _area(box: Box) -> float:
    return box.width * box.height


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


def _correct_formula(page: DocumentPage, entry: CorrectionEntry) -> CorrectionStatus:
    was, latex = entry.correction.was, str(entry.correction.formula)
    lines = [line for line in page.lines if _is_line_at(line, entry.box)]
    formulas = [
        _Formula(line, span, k) for line in lines for k, span in enumerate(find_formulas(line.text))
    ]
    if not lines:
        raise MisfitError("no line is at the box")
    status: CorrectionStatus = "applied"
    if formula := _choose(formulas, entry.box, was):
        old, new = formula.line, formula.correct(latex)
    elif run := _find_run(lines, was):
        old, new = run[0], _write_formula(*run, latex)
    elif same := _choose(formulas, entry.box, latex):
        old, new, status = same.line, same.correct(same.span.latex), "agrees"
    elif was is None:
        raise MisfitError(f"{len(formulas) or 'no'} formulas are at the box: add `was`")
    else:
        listing = "; ".join(formula.span.latex for formula in formulas)
        raise _refuse(listing or join_lines([line.text for line in lines]))
    page.lines = [new if line is old else line for line in page.lines]
    return status


class _Formula(NamedTuple):
    """A formula in a line."""

    line: Line
    span: FormulaSpan
    place: int
    """Its index among the formulas of its line."""

    @property
    def boxes(self) -> Sequence[Box]:
        """The boxes of its parts; empty if unknown."""
        formulas = self.line.formulas
        is_known = len(formulas) == len(find_formulas(self.line.text))
        return formulas[self.place].region.boxes if is_known else ()

    @property
    def middle(self) -> float:
        """The middle of the formula in points, estimated from its position in the line if
        unknown."""
        if self.boxes:
            return self.boxes[0].centre[0]
        box, length = self.line.box, max(1, len(self.line.text))
        return box.x0 + box.width * (self.span.start + self.span.end) / 2 / length

    def correct(self, latex: str) -> Line:
        """Return its line with the formula replaced and no longer marked as doubtful."""
        line, start, end = self.line, self.span.start, self.span.end
        sign = "$$" if line.text.startswith("$$", start) else "$"
        formulas, differences = list(line.formulas), tuple[str, ...]()
        if self.boxes:
            place = describe_box(line.page, self.boxes[0])
            differences = tuple(d for d in line.differences if not d.startswith(place))
            formulas[self.place] = replace(formulas[self.place], latex=latex, doubts=())
        text = f"{line.text[:start]}{sign}{latex}{sign}{line.text[end:]}"
        return replace(line, text=text, formulas=tuple(formulas), differences=differences)


def _is_line_at(line: Line, box: Box) -> bool:
    """Return whether a line is at a box, or the end of a formula that is broken after it."""
    ends = (end for formula in line.formulas for end in formula.region.boxes[1:])
    return covers(line.box, box, _SHARE) or any(covers(end, box) for end in ends)


def _choose(formulas: Sequence[_Formula], box: Box, was: str | None) -> _Formula | None:
    """Return the formula at the box with the reading of a correction.

    If several match, the nearest one; without a reading in the correction, the only one.
    """
    at_box = [f for f in formulas if any(covers(part, box) for part in f.boxes)] or formulas
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


def _write_formula(line: Line, start: int, end: int, latex: str) -> Line:
    """Return a line with a formula in place of some characters, and without its doubts."""
    text = f"{line.text[:start]}${latex}${line.text[end:]}"
    certain = replace(line, text=text, math_suspect=False, stacked=False)
    return replace(certain, reasons=(), unread=(), differences=())
