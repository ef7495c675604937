"""The lines of a page, combined with what a second reader says of crops of them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from glyphtex.latex import find_differences, find_formulas, find_missing, replace_formulas
from glyphtex.marks import Box, Formula, FormulaRegion, unite
from omibench.stages.ocr.corrections.entry import describe_box
from omibench.stages.ocr.engines.page_models import ends_in_loop, list_lines, wrap_formula
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.regions import Region
from omibench.stages.ocr.layout.scans import choose_scale
from omibench.stages.ocr.rereading.crops import (
    CROP_SCALE,
    LINE_MARGIN,
    MARGIN,
    CropDesk,
    CropKind,
    PageCrops,
)
from omibench.text.pieces import list_negations

if TYPE_CHECKING:
    import pymupdf


UNKNOWN: Final = r"\square"
"""Placeholder for a glyph that no table identifies."""
_ARRANGEMENT: Final = "the arrangement differs"
_MOST_GROWTH: Final = 12
"""Maximum length of a reply, in characters per character of the first reading."""
_SHORT: Final = 200
"""Length that is always accepted."""
_SIMILAR: Final = 0.5
"""Minimum share of letters that two readings of one line have in common."""
_COMMAND: Final = re.compile(r"\\([A-Za-z]+)")
_SIGNS: Final = {
    "times": "×", "cdot": "·", "pm": "±", "mp": "∓", "neq": "≠", "ne": "≠", "leq": "≤", "le": "≤",
    "geq": "≥", "ge": "≥", "approx": "≈", "div": "÷", "lt": "<", "gt": ">",
}  # fmt: skip
_DASHES: Final = str.maketrans("−–—‐‑", "-----")
_COMPARED: Final = frozenset("=+-<>×±∓≠≤≥≈÷")


class Agreement(NamedTuple):
    """Resulting text, whether it is settled, and the differences between the readings."""

    text: str
    is_settled: bool
    difference: str = ""


def compare_formulas(layer: str, reply: str) -> Agreement:
    """Combine the reading of a text layer with a reader's reply about one formula.

    If both have the same numbers, signs, negations and symbols, the reader's arrangement is used:
    the text layer was uncertain about it only. A glyph that no table identifies matches any symbol.
    Otherwise the reading of the text layer is kept, whose characters come from the document.

    Args:
        layer: LaTeX without dollar signs.
        reply: Reader's reply, in any delimiters.
    """
    latex = _extract_formula(reply)
    if not latex or _is_overlong(layer, latex):
        return Agreement(layer, False)
    has_gaps = UNKNOWN in layer or not layer.strip()
    differences = (
        find_missing(layer.replace(UNKNOWN, " "), latex)
        if has_gaps
        else find_differences(layer, latex)
    )
    if not differences:
        return Agreement(latex if has_gaps else layer, True)
    if all(line.startswith(_ARRANGEMENT) for line in differences):
        return Agreement(latex, True)
    detail = f"the layer has {_quote(layer)}, the reader {_quote(latex)}: {'; '.join(differences)}"
    return Agreement(layer, False, detail)


def compare_lines(line: str, reply: str) -> Agreement:
    """Combine a line from an engine that writes no formulas with a reader's reply.

    The reader's text is used if it is a reading of this line at all; differences in numbers, signs
    and words of negation are listed.

    Args:
        line: Text from the engine, scripts and fractions flattened.
        reply: Reader's reply, formulas between delimiters.
    """
    text = " ".join(part for part in list_lines(reply) if part)
    if not text or _is_overlong(line, text) or not _is_similar(line, text):
        return Agreement(line, False)
    first, second = _count_marks(line), _count_marks(text)
    if first == second:
        return Agreement(text, True)
    detail = (
        f"the engine has {_quote(line)}, the reader {_quote(text)}: "
        f"{_list(first - second)} and {_list(second - first)}"
    )
    return Agreement(text, True, detail)


def read_picture(reply: str) -> str:
    """Return the formula in a reply about a picture that has no other reading.

    Args:
        reply: Reader's reply, in any delimiters.

    Returns:
        LaTeX without dollar signs; empty if the reply is not one short formula that is legible.
    """
    latex = _extract_formula(reply)
    is_doubtful = UNKNOWN in latex or len(latex) > _SHORT or ends_in_loop(latex)
    prose = replace_formulas(reply, lambda span: "") if find_formulas(reply) else ""
    return "" if is_doubtful or any(c.isalnum() for c in prose) else latex


def _extract_formula(reply: str) -> str:
    """Return the source of the formula in a reply, or of its formulas in a row."""
    rows = [row for row in reply.splitlines() if not row.strip().startswith("```")]
    source = " ".join(" ".join(rows).split())
    spans = find_formulas(source) or find_formulas(wrap_formula(source))
    return r" \quad ".join(span.latex.strip() for span in spans)


def _is_overlong(first: str, second: str) -> bool:
    return ends_in_loop(second) or len(second) > max(_SHORT, _MOST_GROWTH * len(first))


def _is_similar(line: str, text: str) -> bool:
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(_list_letters(line), _list_letters(text)) >= _SIMILAR


def _list_letters(text: str) -> str:
    """Return the letters of a text, without Greek ones, which LaTeX writes as commands."""
    plain = unicodedata.normalize("NFKC", _COMMAND.sub(" ", text)).lower()
    return "".join(c for c in plain if c.isalnum() and not "\u0370" <= c <= "\u03ff")


def _count_marks(text: str) -> Counter[str]:
    """Return the digits, signs and negations of a text, LaTeX or not."""
    signs = _COMMAND.sub(lambda command: _SIGNS.get(command[1], " "), text)
    plain = unicodedata.normalize("NFKC", signs).translate(_DASHES)
    words = list_negations(replace_formulas(text, lambda span: " "))
    return Counter([*(c for c in plain if c.isdigit() or c in _COMPARED), *words])


def _list(marks: Counter[str]) -> str:
    return " ".join(sorted(marks.elements())[:6]) or "none"


def _quote(text: str) -> str:
    return f"`{text if len(text) <= 80 else text[:77] + '...'}`"


# Groups of lines in scans whose formulas an engine has flattened.

_SHARED_HEIGHT = 0.3
"""Minimum overlap of two lines in one row, as a share of the lower line's height."""
_INSIDE = 0.6
"""Minimum overlap in height of lines of which one is inside the other, as the same share."""
_GAP = 1.2
"""Maximum gap between them, in heights of the lower line."""
_OVERLAP = 0.3
"""Minimum width that they share, in heights of the lower line."""
_MOST_ROWS = 8
_SAME_COLUMN = 0.5
"""Minimum overlap in width of the two halves of a fraction, as a share of the narrower half."""
_LONGEST_HALF = 12
"""Maximum length of half a fraction in characters."""
_WORD = re.compile(r"[^\W\d_]{4,}")


def group_flattened(lines: Sequence[Line]) -> list[list[Line]]:
    """Group the lines around those that may contain a flattened formula.

    To an engine, a numerator, a denominator and the text next to the bar are separate lines. Such
    lines are grouped too, even if none of them looks like a formula alone.

    Args:
        lines: Lines of one page.

    Returns:
        Groups of lines, read from left to right, then downwards; each line is in one group at most.
    """
    candidates = [line for line in lines if line.upright and not line.left_out]
    groups: list[list[Line]] = []
    taken: set[int] = set()
    for line in candidates:
        if id(line) in taken or not (line.math_suspect or _is_beside_fraction(line, candidates)):
            continue
        group = _grow(line, [c for c in candidates if id(c) not in taken])
        taken |= {id(member) for member in group}
        groups.append(sorted(group, key=lambda member: (member.box.x0, member.box.y0)))
    return groups


def join_group(group: Sequence[Line]) -> Line:
    """Join the lines of a group, their texts in a row."""
    first = group[0]
    if len(group) == 1:
        return first
    sure = [line.confidence for line in group if line.confidence is not None]
    return replace(
        first,
        box=unite(line.box for line in group),
        text=" ".join(line.text for line in group),
        confidence=min(sure) if sure else None,
        math_suspect=True,
    )


def _grow(line: Line, candidates: Sequence[Line]) -> list[Line]:
    group = [line]
    for member in group:
        for candidate in candidates:
            is_new = all(candidate is not other for other in group)
            if is_new and len(group) < _MOST_ROWS and _belong_together(member.box, candidate.box):
                group.append(candidate)
    return group


def _is_beside_fraction(line: Line, candidates: Sequence[Line]) -> bool:
    """Return whether two short lines, one above the other, are beside the middle of a line."""
    halves = [
        other
        for other in candidates
        if other is not line
        and len(other.text) <= _LONGEST_HALF
        and not _WORD.search(other.text)
        and _belong_together(line.box, other.box)
    ]
    middle = line.box.centre[1]
    above = [half.box for half in halves if half.box.centre[1] < middle]
    below = [half.box for half in halves if half.box.centre[1] > middle]
    return any(
        a.y1 <= b.y1 and -a.gap_x(b) > _SAME_COLUMN * min(a.width, b.width)
        for a in above
        for b in below
    )


def _belong_together(a: Box, b: Box) -> bool:
    """Return whether two boxes are side by side rather than above each other, or mostly overlap.

    The denominator of a line's last fraction is in the box of the whole line.
    """
    height = min(a.height, b.height)
    shared = -a.gap_y(b)
    is_beside = -_OVERLAP * height < a.gap_x(b) < _GAP * height
    is_inside = a.gap_x(b) < 0 and shared > _INSIDE * height
    return is_inside or (is_beside and shared > _SHARED_HEIGHT * height)


# Formulas that a text layer has as small pictures in a line, read by the formula reader.

ENGINE: Final = "formula_reader"
"""Engine of a line that consists of such a formula."""
MOST_PICTURES: Final = 100
"""Pictures of one page."""
_GAP_INLINE_PICTURES: Final = 3.0
"""Maximum distance of a picture from a line, in type sizes."""
_TALLEST: Final = 3.2
"""Maximum height of a picture in a line, in type sizes."""
_SMALLEST: Final = 0.6
"""Width or height above which a picture is not a bullet, in type sizes."""
_SHARED_HEIGHT_INLINE_PICTURES: Final = 0.5
"""Minimum overlap of a picture and the line beside it, as a share of the line's height."""


def _find_line_beside(region: Region, lines: Sequence[Line]) -> Line | None:
    """Return the nearest line in whose row a small picture is; None if it is not in a row."""
    if not region.raster:
        return None
    box = region.box
    rows = [
        line
        for line in lines
        if line.upright
        and box.height < _TALLEST * line.size
        and max(box.width, box.height) > _SMALLEST * line.size
        and -line.box.gap_y(box) > _SHARED_HEIGHT_INLINE_PICTURES * line.box.height
        and line.box.gap_x(box) < _GAP_INLINE_PICTURES * line.size
    ]
    if any(box.holds(line.box) for line in rows):
        return None
    return min(rows, key=lambda line: line.box.gap_x(box), default=None)


# Lines of a page, combined with a second reader's replies about doubtful formulas.

MOST_CROPS = 200
"""Images of one page."""


class PageRereader:
    """Second reading of one page: doubtful formulas, flattened lines and small pictures.

    Args:
        page: Page, upright as the boxes of its lines assume.
        number: Page number, from 1.
        desk: Replies, and crops that wait for one.
        place: Index of the file among those of its source.
    """

    def __init__(self, page: pymupdf.Page, number: int, desk: CropDesk, place: int) -> None:
        self.number, self.desk, self.place = number, desk, place
        self.crops = {
            "formula": PageCrops(page, CROP_SCALE),
            "line": PageCrops(page, choose_scale(page)),
        }
        self.asked = 0

    def read_pictures(
        self, lines: Sequence[Line], regions: Sequence[Region]
    ) -> tuple[list[Line], list[Region]]:
        """Add a line for each small picture in a row of text to which the reply is a formula.

        Args:
            lines: Lines of the text layer.
            regions: Regions of the page.

        Returns:
            All lines, and the regions that were not read.
        """
        added: list[Line] = []
        unread: list[Region] = []
        asked = 0
        for region in regions:
            beside = _find_line_beside(region, lines) if asked < MOST_PICTURES else None
            latex = ""
            if beside is not None:
                asked += 1
                latex = read_picture(self._find_reply("formula", region.box) or "")
            if beside is None or not latex:
                unread.append(region)
                continue
            added.append(
                Line(
                    page=beside.page,
                    box=region.box,
                    text=f"${latex}$",
                    size=beside.size,
                    baseline=beside.baseline,
                    engine=ENGINE,
                    formulas=(Formula(FormulaRegion(region.box, ()), latex, ()),),
                )
            )
        return [*lines, *added], unread

    def reread(self, lines: Sequence[Line]) -> list[Line]:
        """Return the lines of a page, settling or comparing formulas that have replies.

        Args:
            lines: Lines of the text layer, or of an engine that writes no formulas.
        """
        found = {id(group[0]): group for group in group_flattened(lines)}
        later = {id(line) for group in found.values() for line in group[1:]}
        reread: list[Line] = []
        for line in lines:
            if any(formula.doubts for formula in line.formulas):
                reread.append(self._reread_formulas(line))
            elif id(line) in found:
                reread += self._reread_group(found[id(line)])
            elif id(line) not in later:
                reread.append(line)
        return reread

    def _reread_formulas(self, line: Line) -> Line:
        spans = find_formulas(line.text)
        if len(spans) != len(line.formulas):
            return line
        text, formulas, differences = line.text, list(line.formulas), list(line.differences)
        for index in reversed(range(len(spans))):
            span, formula = spans[index], formulas[index]
            reply = self._ask(formula.region) if formula.doubts else None
            if reply is None:
                continue
            agreement = compare_formulas(formula.latex, reply)
            if agreement.is_settled:
                formulas[index] = replace(formula, latex=agreement.text, doubts=())
                text = f"{text[: span.start]}${agreement.text}${text[span.end :]}"
            elif agreement.difference:
                differences.insert(0, self._place(formula.region.box, agreement.difference))
        return replace(line, text=text, formulas=tuple(formulas), differences=tuple(differences))

    def _reread_group(self, group: Sequence[Line]) -> list[Line]:
        joined = join_group(group)
        reply = self._ask(joined.box)
        agreement = compare_lines(joined.text, reply) if reply else None
        if agreement is None or not agreement.is_settled:
            return list(group)
        difference = agreement.difference and self._place(joined.box, agreement.difference)
        return [
            replace(
                joined,
                text=agreement.text,
                math_suspect=False,
                differences=(difference,) if difference else (),
            )
        ]

    def _ask(self, place: FormulaRegion | Box) -> str | None:
        """Return the reply about a formula's or line's crop; None beyond `MOST_CROPS` of a page."""
        if self.asked == MOST_CROPS:
            return None
        self.asked += 1
        return self._find_reply("line" if isinstance(place, Box) else "formula", place)

    def _find_reply(self, kind: CropKind, place: FormulaRegion | Box) -> str | None:
        crop = self.crops[kind].cut(place, LINE_MARGIN if kind == "line" else MARGIN)
        reply = crop and self.desk.find_reply(kind, crop, self.place, self.number)
        return reply.text if reply else None

    def _place(self, box: Box, difference: str) -> str:
        return f"{describe_box(self.number, box)}: {difference}"
