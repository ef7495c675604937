"""Formulas that a text layer has as small pictures in a line, read by the formula reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from omibench.stages.ocr.formulas.marks import Formula, FormulaRegion
from omibench.stages.ocr.formulas.rereading.agreement import read_picture
from omibench.stages.ocr.formulas.rereading.crops import CROP_SCALE, CropDesk, PageCrops
from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.layout.marks import Region

if TYPE_CHECKING:
    import pymupdf

ENGINE: Final = "formula_reader"
"""Engine of a line that consists of such a formula."""
MOST_PICTURES: Final = 100
"""Pictures of one page."""
_GAP: Final = 3.0
"""Maximum distance of a picture from a line, in type sizes."""
_TALLEST: Final = 3.2
"""Maximum height of a picture in a line, in type sizes."""
_SMALLEST: Final = 0.6
"""Width or height above which a picture is not a bullet, in type sizes."""
_SHARED_HEIGHT: Final = 0.5
"""Minimum overlap of a picture and the line beside it, as a share of the line's height."""


class PicturesRead(NamedTuple):
    """Lines of a page with those of its pictures, and the regions that were not read."""

    lines: list[Line]
    regions: list[Region]


def read_inline_pictures(
    page: pymupdf.Page, number: int, sheet: PicturesRead, desk: CropDesk, place: int
) -> PicturesRead:
    """Add a line for each small picture in a row of text to which the reader replied a formula.

    Args:
        page: Page, upright as the boxes assume.
        number: Page number, from 1.
        sheet: Lines of the text layer, and regions of the page.
        desk: Replies, and crops that wait for one.
        place: Index of the file among those of its source.
    """
    crops = PageCrops(page, CROP_SCALE)
    added: list[Line] = []
    unread: list[Region] = []
    asked = 0
    for region in sheet.regions:
        beside = _find_line_beside(region, sheet.lines)
        line = None
        if beside is not None and asked < MOST_PICTURES:
            asked += 1
            crop = crops.cut(region.box)
            reply = desk.find_reply("formula", crop, place, number) if crop else None
            latex = read_picture(reply.text) if reply and reply.text else ""
            line = _make_line(latex, region.box, beside) if latex else None
        if line is None:
            unread.append(region)
        else:
            added.append(line)
    return PicturesRead([*sheet.lines, *added], unread)


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
        and -line.box.gap_y(box) > _SHARED_HEIGHT * line.box.height
        and line.box.gap_x(box) < _GAP * line.size
    ]
    if any(box.holds(line.box) for line in rows):
        return None
    return min(rows, key=lambda line: line.box.gap_x(box), default=None)


def _make_line(latex: str, box: Box, beside: Line) -> Line:
    return Line(
        page=beside.page,
        box=box,
        text=f"${latex}$",
        size=beside.size,
        baseline=beside.baseline,
        engine=ENGINE,
        formulas=(Formula(FormulaRegion(box, ()), latex, ()),),
    )
