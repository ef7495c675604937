"""Places on a page to check: doubtful formulas, and lines with flattened formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.ocr_view.entries import draft_formula, draft_lines
from omibench.schemas.pages import PageLine, PageText
from omibench.schemas.problem import BBox, Problem
from omibench.schemas.problem_warning import ProblemWarning
from omibench.stages.ocr.corrections.doubts import DIFFERS, read_place
from omibench.stages.ocr.corrections.entry import covers
from omibench.stages.ocr.layout.layout import Box

_GAP, _OVERLAP = 3.0, 0.25
"""Two lines may be rows of one formula if they are at most this many points apart, or overlap by at
least this share of the lower one's height.
"""

_SHARE = 0.2
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

    @property
    def width(self) -> float:
        """In points, with a margin."""
        return self.bbox[2] - self.bbox[0] + 8

    @property
    def height(self) -> float:
        """In points, with a margin."""
        return self.bbox[3] - self.bbox[1] + 8


def list_doubts(source: str, pages: Sequence[PageText], problems: Sequence[Problem]) -> list[Doubt]:
    """List the doubtful formulas of the problems and the flattened ones of the pages, in order."""
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
        for lines in _group([line for line in page.lines if _is_suspect(line)]):
            box = Box(*lines[0].bbox)
            for line in lines:
                box = box.union(Box(*line.bbox))
            inside = [line for line in page.lines if box.holds(Box(*line.bbox))]
            text = "\n".join(line.text for line in inside)
            entry = draft_lines(source, page.page, box, inside)
            doubt = Doubt("", page.page, box, text, [_FLAT], "", entry)
            doubts.setdefault((page.page, box), doubt)
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
    whole = Box(*box)
    for line in here:
        whole = whole.union(Box(*line.bbox))
    text = "\n".join(line.text for line in here)
    entry = draft_lines(problem.source, page, whole, here)
    doubts[page, whole] = Doubt("", page, whole, text, [reason], problem.number, entry)


def _is_suspect(line: PageLine) -> bool:
    return line.math_suspect and not line.left_out


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
