"""Apply corrections of formulas and lines of text at boxes of a page.

A page is corrected before it is cut into problems, so everything derived from its lines (numbers of
problems, choices, keys, the page's text) uses the corrected text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from omibench.latex import FormulaSpan, find_formulas, normalise
from omibench.stages.ocr.corrections.entry import CorrectionEntry, covers, describe_box
from omibench.stages.ocr.corrections.outcome import CorrectionLog
from omibench.stages.ocr.corrections.reading import is_same_reading, join_lines, quote_reading
from omibench.stages.ocr.layout.layout import PERSON, Box, Line, unite

if TYPE_CHECKING:
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
