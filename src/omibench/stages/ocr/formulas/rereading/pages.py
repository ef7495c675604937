"""Lines of a page, combined with a second reader's replies about doubtful formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from omibench.latex import find_formulas
from omibench.stages.ocr.corrections.entry import describe_box
from omibench.stages.ocr.formulas.marks import Formula
from omibench.stages.ocr.formulas.rereading.agreement import compare_formulas, compare_lines
from omibench.stages.ocr.formulas.rereading.crops import (
    CROP_SCALE,
    LINE_MARGIN,
    CropDesk,
    CropKind,
    PageCrops,
)
from omibench.stages.ocr.formulas.rereading.flattened import group_flattened, join_group
from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.layout.scans import choose_scale

if TYPE_CHECKING:
    import pymupdf

MOST_CROPS = 200
"""Images of one page."""


class Rereader(NamedTuple):
    """Second reading of the doubtful formulas of one file.

    `place` is the index of the file among those of its source.
    """

    desk: CropDesk
    place: int

    def reread(self, page: pymupdf.Page, number: int, lines: Sequence[Line]) -> list[Line]:
        """Return the lines of a page, settling or comparing formulas that have replies.

        Args:
            page: Page, upright as the boxes of its lines assume.
            number: Page number, from 1.
            lines: Lines of the text layer, or of an engine that writes no formulas.
        """
        return _PageRereader(self, page, number).reread(lines)


class _PageRereader:
    def __init__(self, rereader: Rereader, page: pymupdf.Page, number: int) -> None:
        self.desk, self.place = rereader
        self.page, self.number = page, number
        self.crops = {
            "formula": PageCrops(page, CROP_SCALE),
            "line": PageCrops(page, choose_scale(page)),
        }
        self.asked = 0

    def reread(self, lines: Sequence[Line]) -> list[Line]:
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
            reply = self._ask_formula(formula) if formula.doubts else None
            if reply is None:
                continue
            agreement = compare_formulas(formula.latex, reply)
            if agreement.is_settled:
                formulas[index] = _settle(formula, agreement.text)
                text = f"{text[: span.start]}${agreement.text}${text[span.end :]}"
            elif agreement.difference:
                differences.insert(0, self._place(formula.region.box, agreement.difference))
        return replace(line, text=text, formulas=tuple(formulas), differences=tuple(differences))

    def _reread_group(self, group: Sequence[Line]) -> list[Line]:
        joined = join_group(group)
        reply = self._ask_line(joined.box)
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

    def _ask_formula(self, formula: Formula) -> str | None:
        return self._ask("formula", lambda crops: crops.cut_formula(formula.region))

    def _ask_line(self, box: Box) -> str | None:
        return self._ask("line", lambda crops: crops.cut(box, LINE_MARGIN))

    def _ask(self, kind: CropKind, cut: Callable[[PageCrops], bytes | None]) -> str | None:
        if self.asked == MOST_CROPS:
            return None
        self.asked += 1
        crop = cut(self.crops[kind])
        reply = crop and self.desk.find_reply(kind, crop, self.place, self.number)
        return reply.text if reply else None

    def _place(self, box: Box, difference: str) -> str:
        return f"{describe_box(self.number, box)}: {difference}"


def _settle(formula: Formula, latex: str) -> Formula:
    return replace(formula, latex=latex, doubts=())
