"""Correction templates of an inspection page, prefilled with the reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from glyphtex.marks import Box, unite
from omibench.schemas.pages import PageInk, PageLine, PageText
from omibench.schemas.problem import BBox, DoubtfulFormula, Figure, Problem, ProblemWarning
from omibench.stages.ocr.corrections.entry import (
    DIFFERS,
    INK_UNREAD,
    compute_digest,
    covers,
    describe_answer,
    describe_choices,
    describe_figure,
    join_lines,
    read_place,
)

Shown = tuple[int, BBox]
"""A page and a box on it."""
_LONGEST: Final = 60
"""Maximum length of the original text in a correction; longer texts are given by digest."""


def draft_line(source: str, page: int, line: PageLine) -> str:
    """Return the correction of one line of a page, as JSON for the page's script."""
    return draft_lines(source, page, line.bbox, [line])


def draft_lines(
    source: str, page: int, box: BBox, lines: Sequence[PageLine], text: str | None = None
) -> str:
    """Return the correction of all lines in a box, as one text.

    Args:
        source: The name of the paper.
        page: Page number, from 1.
        box: The box around the lines, and around ink next to them that was not read.
        lines: The lines with their centre in the box.
        text: Their text, to which unread ink can be added; None without such ink.
    """
    was = join_lines([line.text for line in lines])
    if text is None:
        return _draft_place(source, page, box, f"Text on page {page}", "text", was, _describe(was))
    title = f"Ink on page {page} that was not read"
    return _draft_place(source, page, box, title, "text", text, _describe(was))


def draft_formula(source: str, formula: DoubtfulFormula) -> str:
    """Return the correction of a doubtful formula."""
    page, latex = formula.page, formula.latex
    title = f"Formula on page {page}"
    return _draft_place(source, page, formula.bbox, title, "formula", latex, latex)


def _draft_place(  # noqa: PLR0913, PLR0917 - a place, and what is there
    source: str, page: int, box: BBox, title: str, kind: str, value: str, was: str
) -> str:
    place = {"page": page, "box": _round(box)}
    change = {"kind": kind, "value": value, "was": was, "shown": place}
    return _write({"title": title, "paper": source, **place, **change})


def draft_problem(
    source: str, problem: Problem, shown: Shown | None = None
) -> list[tuple[str, str]]:
    """Return corrections of a whole problem: button texts and templates.

    Args:
        source: The name of the paper.
        problem: The problem as read.
        shown: The boxes of its statement.
    """
    was = _describe(problem.question)
    figure = {"image": len(problem.images), "page": problem.pages[0], "box": []}
    choices = [{"label": c.label, "text": c.text or ""} for c in problem.choices or []]
    drafts: list[tuple[str, str, object, str]] = [
        ("statement", "text", problem.question, was),
        ("all choices", "choices", choices, _describe(describe_choices(problem.choices))),
        ("answer", "answer", problem.answer or [], describe_answer(problem.answer)),
        ("solution", "solution", problem.solution or "", _describe(problem.solution or "")),
        ("split in two", "split", {"at": "", "number": ""}, was),
        ("merge with another", "merge", "", was),
        ("drop", "drop", True, was),
        ("add a figure", "figure", figure, ""),
    ]
    return [
        (words, _draft(source, problem, words, {"kind": kind, "value": value, "was": now}, shown))
        for words, kind, value, now in drafts
    ]


def draft_choice(
    source: str, problem: Problem, label: str, text: str, shown: Shown | None = None
) -> str:
    """Return the correction of one choice; `shown` is its box."""
    value = {"label": label, "text": text}
    change: Mapping[str, object] = {"kind": "choice", "value": value, "was": _describe(text)}
    return _draft(source, problem, f"choice {label}", change, shown)


def draft_figure(source: str, problem: Problem, image: int, figure: Figure) -> str:
    """Return the correction of a figure's box."""
    box = _round(figure.bbox) if figure.bbox else []
    value = {"image": image, "page": figure.page or problem.pages[0], "box": box}
    change: Mapping[str, object] = {
        "kind": "figure",
        "value": value,
        "was": describe_figure(figure),
    }
    return _draft(source, problem, f"figure IMAGE{image}", change)


def _draft(
    source: str,
    problem: Problem,
    words: str,
    change: Mapping[str, object],
    shown: Shown | None = None,
) -> str:
    number = problem.number
    title = f"Problem {number}: {words}"
    place = {"shown": {"page": shown[0], "box": _round(shown[1])}} if shown else {}
    return _write({"title": title, "paper": source, "problem": number, **change, **place})


def _describe(text: str) -> str:
    is_short = len(text) <= _LONGEST and "\n" not in text
    return text if is_short else compute_digest(text)


def _round(box: BBox) -> list[float]:
    return [round(edge, 1) for edge in box]


def _write(draft: Mapping[str, object]) -> str:
    return json.dumps(draft, ensure_ascii=False)


# Places on a page to check: doubtful formulas, lines with flattened formulas, unread ink.

_GAP, _OVERLAP = 3.0, 0.25
"""Two lines may be rows of one formula if they are at most this many points apart, or overlap by at
least this share of the lower one's height.
"""

_SHARE = 0.2
_BESIDE = 6.0
"""The parts of a row with unread ink are at most this many points apart."""
_FLAT = "scripts, fractions and roots may be lost"


class Doubt(NamedTuple):
    """A place to check: location, reading, and reason."""

    anchor: str
    page: int
    bbox: BBox
    text: str
    """The text as in the problem: a formula with its dollar signs."""
    reasons: list[str]
    problem: str
    """The number of its problem; empty if it is in none."""
    entry: str
    """The correction template as JSON."""
    file: str = ""
    """Its crop, relative to the folder of the reading; empty if it is shown on the page image."""
    ink: tuple[PageInk, ...] = ()
    """Ink in it that was not read."""

    @property
    def width(self) -> float:
        """In points, with a margin."""
        return self.bbox[2] - self.bbox[0] + 8

    @property
    def height(self) -> float:
        """In points, with a margin."""
        return self.bbox[3] - self.bbox[1] + 8


def list_doubts(source: str, pages: Sequence[PageText], problems: Sequence[Problem]) -> list[Doubt]:
    """List the doubtful formulas of the problems, and the flattened formulas and unread ink of the
    pages, in order."""
    doubts: dict[tuple[int, BBox], Doubt] = {}
    for problem in problems:
        for formula in problem.doubtful_formulas:
            place = formula.page, formula.bbox
            doubts[place] = Doubt(
                "", *place, f"${formula.latex}$", formula.doubts, problem.number,
                draft_formula(source, formula), formula.file,
            )  # fmt: skip
    lines_by_page = {page.page: page.lines for page in pages}
    for problem in problems:
        for warning in problem.warnings:
            if warning.code == DIFFERS and (where := read_place(warning)):
                _add_difference(doubts, problem, warning, lines_by_page.get(where[0], []), where)
    for page in pages:
        figures = [
            Box(*figure.bbox)
            for problem in problems
            for figure in problem.images
            if figure.page == page.page and figure.bbox is not None
        ]
        suspects = [line for line in page.lines if _is_suspect(line, figures)]
        for lines in _group(suspects):
            box = unite(Box(*line.bbox) for line in lines)
            inside = [line for line in page.lines if box.holds(Box(*line.bbox))]
            text = "\n".join(line.text for line in inside)
            entry = draft_lines(source, page.page, box, inside)
            doubt = Doubt("", page.page, box, text, [_FLAT], "", entry)
            doubts.setdefault((page.page, box), doubt)
        for doubt in _list_ink(source, page, problems):
            doubts.setdefault((page.page, doubt.bbox), doubt)
    ordered = sorted(doubts.values(), key=lambda doubt: (doubt.page, doubt.bbox[1], doubt.bbox[0]))
    return [doubt._replace(anchor=f"f{k}") for k, doubt in enumerate(ordered, 1)]


def _add_difference(
    doubts: dict[tuple[int, BBox], Doubt],
    problem: Problem,
    warning: ProblemWarning,
    lines: Sequence[PageLine],
    place: tuple[int, BBox],
) -> None:
    """Mark a place where two readers differ: the formula there, or else the lines."""
    page, box = place
    reason = f"two readers differ: {warning.detail.partition('): ')[2]}"
    for known, doubt in doubts.items():
        if known[0] == page and covers(Box(*known[1]), Box(*box)):
            doubts[known] = doubt._replace(reasons=[*doubt.reasons, reason])
            return
    here = [line for line in lines if covers(Box(*line.bbox), Box(*box), _SHARE)]
    whole = unite(Box(*bbox) for bbox in (box, *(line.bbox for line in here)))
    text = "\n".join(line.text for line in here)
    entry = draft_lines(problem.source, page, whole, here)
    doubts[page, whole] = Doubt("", page, whole, text, [reason], problem.number, entry)


def _list_ink(source: str, page: PageText, problems: Sequence[Problem]) -> list[Doubt]:
    """Return the places of a page with unread ink, each with the lines next to it."""
    row = [Box(*line.bbox) for line in page.lines if not line.left_out]
    row += [Box(*ink.bbox) for ink in page.unread]
    boxes: list[Box] = []
    for ink in page.unread:
        box = _join_row(Box(*ink.bbox), row)
        twins = [other for other in boxes if covers(other, box)]
        boxes = [other for other in boxes if other not in twins]
        boxes.append(unite([box, *twins]))
    doubts = []
    for box in boxes:
        inks = tuple(ink for ink in page.unread if box.holds(Box(*ink.bbox)))
        lines = [line for line in page.lines if box.holds(Box(*line.bbox))]
        text = _join_rows(lines)
        entry = draft_lines(source, page.page, box, lines, text)
        reasons = [f"not read: {ink.what}" for ink in inks]
        number = next(
            (
                problem.number
                for ink in inks
                for problem in problems
                for warning in problem.warnings
                if warning.code == INK_UNREAD
                and (place := read_place(warning))
                and place[0] == page.page
                and covers(Box(*place[1]), Box(*ink.bbox))
            ),
            "",
        )
        doubts.append(Doubt("", page.page, box, text, reasons, number, entry, ink=inks))
    return doubts


def _join_row(ink: Box, parts: Sequence[Box]) -> Box:
    """Return the box around unread ink and what follows it to the left and right in its row."""
    whole, rest = ink, list(parts)
    while True:
        beside = [
            part
            for part in rest
            if whole.gap_x(part) < _BESIDE
            and -ink.gap_y(part) > _OVERLAP * min(ink.height, part.height)
        ]
        if not beside:
            return whole
        rest = [part for part in rest if part not in beside]
        whole = unite([whole, *beside])


def _join_rows(lines: Sequence[PageLine]) -> str:
    """Return the text of lines; those of one row are on one line, from left to right."""
    rows: list[list[PageLine]] = []
    for line in sorted(lines, key=lambda line: line.bbox[1]):
        middle = (line.bbox[1] + line.bbox[3]) / 2
        if rows and rows[-1][0].bbox[1] <= middle <= rows[-1][0].bbox[3]:
            rows[-1].append(line)
        else:
            rows.append([line])
    return "\n".join(
        " ".join(line.text for line in sorted(row, key=lambda line: line.bbox[0])) for row in rows
    )


def _is_suspect(line: PageLine, figures: Sequence[Box]) -> bool:
    """Return whether the text of a problem may lack a formula's form; a figure's labels are ink."""
    box = Box(*line.bbox)
    is_label = any(figure.holds(box) for figure in figures)
    return line.math_suspect and not line.left_out and not is_label


def _group(lines: Sequence[PageLine]) -> list[list[PageLine]]:
    """Group lines that are next to each other, or half a line apart: rows of one formula."""
    groups: list[list[PageLine]] = []
    for line in lines:
        box = Box(*line.bbox)
        near = [group for group in groups if any(_is_near(box, Box(*o.bbox)) for o in group)]
        merged = [other for group in near for other in group]
        groups = [group for group in groups if group not in near]
        groups.append([*merged, line])
    return groups


def _is_near(box: Box, other: Box) -> bool:
    common = -box.gap_y(other)
    return box.gap_x(other) < _GAP and common > _OVERLAP * min(box.height, other.height)
