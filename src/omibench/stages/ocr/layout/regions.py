"""Candidates for figures on a page: drawings, embedded images and patches of scanned ink."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glyphtex.marks import Box
from omibench.stages.ocr.engines.engine import Pixels
from omibench.stages.ocr.layout.layout import Line

if TYPE_CHECKING:
    import pymupdf
    from numpy.typing import NDArray


# Group nearby squares of a grid, such as ink or drawings on a page.

Square = tuple[int, int]
"""Row and column."""


def patches(squares: Iterable[Square], near: int) -> Iterator[list[Square]]:
    """Group squares connected by steps of at most `near` rows and columns."""
    remaining = set(squares)
    steps = [(dy, dx) for dy in range(-near, near + 1) for dx in range(-near, near + 1) if dy or dx]
    while remaining:
        waiting = [remaining.pop()]
        patch_list = []
        while waiting:
            y, x = waiting.pop()
            patch_list.append((y, x))
            close = [(y + dy, x + dx) for dy, dx in steps if (y + dy, x + dx) in remaining]
            remaining.difference_update(close)
            waiting += close
        yield patch_list


def bounds(patch: Iterable[Square]) -> tuple[int, int, int, int]:
    """First column, first row, last column, last row."""
    rows, columns = zip(*patch, strict=True)
    return min(columns), min(rows), max(columns), max(rows)


# Find drawings on a page: vector clusters and embedded images, as boxes.

_Drawing = dict[str, Any]
"""A path as reported by MuPDF."""
NEAR = 6.0
"""The distance in points within which drawings are connected."""
_MAX_DRAWINGS = 1500
_COVERED = 0.8
"""The share of the page above which an image is its background or scan."""
_HIDDEN = 3
"""The text rendering mode that paints nothing."""
_THIN = 2.5
_PROSE = 20
"""The minimum number of characters of a line of running text in a frame."""
_ACROSS = 0.65
"""The share of the page's width above which a frame spans the page."""
_CORNER = 12.0
"""The maximum radius of the round corners of a frame, in points."""
_FRAME = 7
"""The minimum number of parts of a rectangle with a round corner; a circle has four."""


@dataclass(frozen=True, slots=True)
class Region:
    """A candidate region for a figure.

    `ruled` marks vector clusters with only horizontal and vertical strokes and fills, such as
    tables, frames and bar charts; `framed` marks those drawn only along their edges or evenly
    filled, such as frames and highlights. `strokes` is the number of drawings.
    """

    box: Box
    raster: bool = False
    ruled: bool = False
    framed: bool = False
    strokes: int = 0
    image: tuple[int, ...] | None = None
    """Width, height and bytes of an embedded image, to detect repetitions."""


def find_regions(page: pymupdf.Page, lines: Sequence[Line] = ()) -> list[Region]:
    """Return vector clusters and images of a page, without backgrounds and frames of text.

    A figure inside the frame of a solution is thus a separate figure. Fraction bars of formulas
    are left out: they would extend a figure to the text near it.
    """
    sheet = Box(*page.rect)
    formulas = [formula.region.box.grow(1, 1) for line in lines for formula in line.formulas]
    drawings = [
        d
        for d in page.get_drawings()
        if _is_visible(d, sheet)
        and not _is_bar(d, formulas)
        and not (_is_frame(d) and _surrounds(Box(*d["rect"]), lines, sheet.width))
    ]
    vectors = [_region(box, inside) for box, inside in _clusters(page, drawings)]
    images = [
        Region(box, raster=True, image=(info["width"], info["height"], info["size"]))
        # With xrefs requested, MuPDF would decode every image to compare digests.
        for info in page.get_image_info()
        if (box := _clip(Box(*info["bbox"]), sheet)) and _area(box) < _COVERED * _area(sheet)
    ]
    return merge_touching([*vectors, *images])


def list_rules(page: pymupdf.Page) -> list[Box]:
    """Return boxes around the corners of frames, and around horizontal and vertical strokes."""
    rules: list[Box] = []
    for drawing in page.get_drawings():
        margin = (drawing["width"] or 0.0) / 2 + 1
        if _is_frame(drawing):
            box = Box(*drawing["rect"])
            corner = min(_CORNER, box.width / 3, box.height / 3)
            is_round = any(item[0] == "c" for item in drawing["items"])
            rules += _list_edges(box, margin)
            rules += _list_corners(box, corner + margin) if is_round else []
            continue
        for kind, *points in drawing["items"]:
            # Filled outlines of letters have straight sides too.
            if kind == "l" and "s" in drawing["type"] and _is_axial(points[0], points[1]):
                (x0, y0), (x1, y1) = points
                stroke = Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
                rules.append(stroke.grow(margin, margin))
            elif kind == "re":
                rules += _list_edges(Box(*points[0]), margin)
    return rules


def _list_edges(box: Box, margin: float) -> list[Box]:
    sides = (
        box._replace(x1=box.x0), box._replace(x0=box.x1),
        box._replace(y1=box.y0), box._replace(y0=box.y1),
    )  # fmt: skip
    return [side.grow(margin, margin) for side in sides]


def _list_corners(box: Box, reach: float) -> list[Box]:
    points = ((x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1))
    return [Box(x, y, x, y).grow(reach, reach) for x, y in points]


def is_searchable_scan(page: pymupdf.Page) -> bool:
    """Return whether a page is one picture under invisible text, as made by scanner software.

    Drawings on such a page have to be found in its pixels.
    """
    sheet = Box(*page.rect)
    if not page.get_images():
        return False
    covered = any(
        (box := _clip(Box(*info["bbox"]), sheet)) and _area(box) > _COVERED * _area(sheet)
        for info in page.get_image_info()
    )
    if not covered:
        return False
    spans = page.get_texttrace()
    hidden = sum(len(span["chars"]) for span in spans if span["type"] == _HIDDEN)
    return 2 * hidden > sum(len(span["chars"]) for span in spans) > 0


def merge_touching(regions: list[Region]) -> list[Region]:
    """Merge regions with overlapping boxes, and tiles of one image."""
    merged: list[Region] = []
    for region in sorted(regions, key=lambda r: -_area(r.box)):
        current = region
        while True:
            hit = next((m for m in merged if _belong(m, current)), None)
            if hit is None:
                break
            merged.remove(hit)
            current = Region(
                hit.box.union(current.box),
                raster=hit.raster or current.raster,
                ruled=hit.ruled and current.ruled,
                framed=hit.framed and current.framed and hit.box.grow(2, 2).holds(current.box),
                strokes=hit.strokes + current.strokes,
                image=hit.image or current.image,
            )
        merged.append(current)
    return merged


def _belong(a: Region, b: Region) -> bool:
    if a.raster and b.raster:
        return a.box.grow(1.5, 1.5).touches(b.box)
    return a.box.touches(b.box)


def _clusters(page: pymupdf.Page, drawings: list[_Drawing]) -> list[tuple[Box, list[_Drawing]]]:
    """Group drawings within 6 points of each other, each group with its box."""
    boxes = [Box(*drawing["rect"]) for drawing in drawings]
    if len(drawings) > _MAX_DRAWINGS:
        # Clustering is quadratic, so maps and scatter plots are grouped by the squares they touch.
        return _group_by_squares(drawings, boxes, Box(*page.rect))
    clusters = page.cluster_drawings(
        drawings=drawings, x_tolerance=NEAR, y_tolerance=NEAR, final_filter=False
    )
    groups = []
    for cluster_box in (Box(*cluster) for cluster in clusters):
        around = cluster_box.grow(1, 1)
        inside = [d for d, box in zip(drawings, boxes, strict=True) if around.holds(box)]
        groups.append((cluster_box, inside))
    return groups


def _group_by_squares(
    drawings: list[_Drawing], boxes: Sequence[Box], sheet: Box
) -> list[tuple[Box, list[_Drawing]]]:
    import numpy as np

    def square(value: float, low: float, high: float) -> int:
        # A path can reach far beyond the page.
        return int((min(max(value, low), high) - low) // (NEAR / 2))

    spans = [
        (
            square(b.x0, sheet.x0, sheet.x1), square(b.y0, sheet.y0, sheet.y1),
            square(b.x1, sheet.x0, sheet.x1), square(b.y1, sheet.y0, sheet.y1),
        )
        for b in boxes
    ]  # fmt: skip
    touched = np.zeros((max(s[3] for s in spans) + 1, max(s[2] for s in spans) + 1), bool)
    for x0, y0, x1, y1 in spans:
        touched[y0 : y1 + 1, x0 : x1 + 1] = True
    squares = [(int(y), int(x)) for y, x in zip(*touched.nonzero(), strict=True)]
    owner = {square: k for k, patch in enumerate(patches(squares, 2)) for square in patch}
    groups: dict[int, tuple[Box, list[_Drawing]]] = {}
    for drawing, box, (x0, y0, *_) in zip(drawings, boxes, spans, strict=True):
        group_box, inside = groups.get(owner[y0, x0], (box, []))
        inside.append(drawing)
        groups[owner[y0, x0]] = (group_box.union(box), inside)
    return list(groups.values())


def _is_visible(drawing: _Drawing, sheet: Box) -> bool:
    box = Box(*drawing["rect"])
    if not sheet.grow(1, 1).touches(box):
        return False
    if _area(box) > 0.7 * _area(sheet):
        return False
    fill, stroke = drawing.get("fill"), drawing.get("color")
    white = fill is None or min(fill) > 0.97
    return not (white and (stroke is None or min(stroke) > 0.97))


def _is_bar(drawing: _Drawing, formulas: Sequence[Box]) -> bool:
    """Return whether a drawing is a horizontal rule inside a formula."""
    box = Box(*drawing["rect"])
    return box.height < _THIN and any(formula.holds(box) for formula in formulas)


def _region(box: Box, inside: list[_Drawing]) -> Region:
    return Region(
        box,
        ruled=all(map(_is_straight, inside)),
        framed=all(_is_edge(d, box) for d in inside),
        strokes=sum(len(d["items"]) for d in inside),
    )


def _is_straight(drawing: _Drawing) -> bool:
    """Return whether a drawing has no curves or slopes."""
    return all(
        item[0] in ("re", "qu") or (item[0] == "l" and _is_axial(item[1], item[2]))
        for item in drawing["items"]
    )


def _is_frame(drawing: _Drawing) -> bool:
    """Return whether a drawing is a single rectangle, possibly with round corners."""
    kinds = [item[0] for item in drawing["items"]]
    straight = [item for item in drawing["items"] if item[0] == "l"]
    if any(kind not in ("re", "qu", "l", "c") for kind in kinds) or len(kinds) > 10:
        return False
    if kinds in (["re"], ["qu"], ["re", "re"]):
        return True
    return len(straight) >= 3 and all(_is_axial(item[1], item[2]) for item in straight)


def _surrounds(frame: Box, lines: Sequence[Line], width: float) -> bool:
    """Return whether a frame contains running text: a line half as wide as it, or one at its left
    edge.

    The latter counts only in a frame across the page, since labels are at the left edges of
    figures.
    """
    across = frame.width > _ACROSS * width
    around = frame.grow(2, 2)
    for line in lines:
        if line.upright and around.holds(line.box):
            wide = 0.5 * frame.width < line.box.width < frame.width + 4
            begins = across and 0 < line.box.x0 - frame.x0 < 2.5 * line.size
            if (wide and len(line.text) >= _PROSE) or begins:
                return True
    return False


def _is_edge(drawing: _Drawing, cluster_box: Box) -> bool:
    """Return whether a drawing is a frame around a cluster, its background, a bar across it or its
    edge.

    Frames can have round corners, but no slopes.
    """
    box, items = Box(*drawing["rect"]), drawing["items"]
    if any(item[0] == "l" and not _is_axial(item[1], item[2]) for item in items):
        return False
    if any(item[0] == "c" for item in items) and len(items) < _FRAME:
        return False
    wide, high = box.width > 0.94 * cluster_box.width, box.height > 0.94 * cluster_box.height
    at_side = min(abs(box.x0 - cluster_box.x0), abs(box.x1 - cluster_box.x1)) < _THIN
    at_end = min(abs(box.y0 - cluster_box.y0), abs(box.y1 - cluster_box.y1)) < _THIN
    ground = high and drawing.get("color") is None
    return (wide and at_end) or ground or (high and (wide or (at_side and box.width < 2 * _THIN)))


def _is_axial(a: Any, b: Any) -> bool:
    return bool(abs(a.x - b.x) < 0.5 or abs(a.y - b.y) < 0.5)


def _clip(box: Box, sheet: Box) -> Box | None:
    clipped = box.clip(sheet)
    return clipped if clipped.width > 0 and clipped.height > 0 else None


def _area(box: Box) -> float:
    return box.width * box.height


# Regions repeated on many pages: logos, running ornaments, page frames.

MIN_REPEATS = 3
"""The number of pages from which a repeated region is not a figure."""
_STILL, _JITTER = 3.0, 8.0
"""The tolerance in points for the position of a repeated drawing, and for scans."""
_MARGIN = 0.13
"""The margin of a page in which the same position suffices for a logo of a scan."""
_CELL = 16.0
_Key = tuple[int, int]


def without_logos(
    pages: Sequence[Sequence[Region]], sizes: Sequence[tuple[float, float]]
) -> list[list[Region]]:
    """Return the regions of each page without those on three or more pages.

    Regions are equal if they are an image with the same bytes, a drawing with the same number of
    strokes at the same position, or on scans anything at about the same position in the margin.
    `sizes` are the widths and heights of the pages.
    """
    images = Counter(image for regions in pages for image in {r.image for r in regions})
    cells: defaultdict[_Key, list[tuple[int, Region]]] = defaultdict(list)
    for number, regions in enumerate(pages):
        for region in regions:
            cells[_cell(region.box)].append((number, region))
    return [
        [
            region
            for region in regions
            if not (region.image and images[region.image] >= MIN_REPEATS)
            and not _is_repeated(region, cells, size)
        ]
        for regions, size in zip(pages, sizes, strict=True)
    ]


def _is_repeated(
    region: Region, cells: dict[_Key, list[tuple[int, Region]]], size: tuple[float, float]
) -> bool:
    scanned = region.raster and region.image is None
    if scanned and not _is_in_margin(region.box, size):
        return False
    far = _JITTER if scanned else _STILL
    return (
        len(
            {
                number
                for key in _around(_cell(region.box))
                for number, neighbour in cells.get(key, ())
                if neighbour.strokes == region.strokes
                and _measure_distance(region.box, neighbour.box) < far
            }
        )
        >= MIN_REPEATS
    )


def _measure_distance(a: Box, b: Box) -> float:
    return max(abs(p - q) for p, q in zip(a, b, strict=True))


def _is_in_margin(box: Box, size: tuple[float, float]) -> bool:
    x, y = box.centre
    across, down = x / max(1.0, size[0]), y / max(1.0, size[1])
    return min(across, 1 - across) < _MARGIN or min(down, 1 - down) < _MARGIN


def _cell(box: Box) -> _Key:
    return int(box.x0 // _CELL), int(box.y0 // _CELL)


def _around(key: _Key) -> Iterator[_Key]:
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            yield key[0] + dx, key[1] + dy


# Find drawings on a scanned page: boxes of ink outside of text lines.

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[Any]
else:
    Mask = Any

CELL = 3.0
"""The side of the squares in which ink is measured, in points."""
_NEAR = 2
"""The distance in squares within which ink is connected."""
_DARK, _FAINT = 0.72, 0.87
"""The share of the local paper brightness below which a pixel is ink, for high and low noise."""
_SURE = 6.0
"""The number of standard deviations of paper noise by which faint ink must be darker."""
_INKED = 0.04
"""The share of dark pixels above which a square counts; less is scanner noise."""
_HOLLOW = 0.01
_CLOSED = 0.85
"""The shares of inked squares: maximum within a frame, minimum along each side."""
_REMAINS = 5.0
"""The distance in points around a line of text within which ink belongs to the line."""
_EDGE = 6.0


def regions_of_scan(picture: Pixels, lines: Sequence[Line], scale: float) -> list[Region]:
    """Return patches of ink outside of the lines of a page; `scale` is pixels per point.

    Thin shadows along the edges of the sheet and ink that sticks out of lines are excluded.
    """
    squares = _find_ink(picture, scale)
    for line in lines:
        box = line.box.grow(1.0, 1.0)
        rows = slice(max(0, int(box.y0 / CELL)), max(0, round(box.y1 / CELL)))
        columns = slice(max(0, int(box.x0 / CELL)), max(0, round(box.x1 / CELL)))
        squares[rows, columns] = False
    height, width = squares.shape
    sheet = Box(0, 0, width * CELL, height * CELL)
    regions = [
        Region(
            Box(x0 * CELL, y0 * CELL, (x1 + 1) * CELL, (y1 + 1) * CELL),
            raster=True,
            framed=_is_hollow(squares[y0 : y1 + 1, x0 : x1 + 1]),
        )
        for x0, y0, x1, y1 in map(bounds, patches(_list_squares(squares), _NEAR))
    ]
    text = [line.box.grow(_REMAINS, _REMAINS) for line in lines]
    return [
        region
        for region in regions
        if not _is_shadow(region.box, sheet) and not any(_is_within(region.box, t) for t in text)
    ]


def _find_ink(picture: Pixels, scale: float) -> Mask:
    """Return which squares of the page contain ink, as a boolean array (rows, columns)."""
    import numpy as np
    from PIL import Image, ImageFilter

    grey = Image.fromarray(picture).convert("L")
    width, height = grey.size
    small = grey.resize((max(1, width // 16), max(1, height // 16)), Image.Resampling.BOX)
    paper = small.filter(ImageFilter.MaxFilter(5)).filter(ImageFilter.GaussianBlur(3))
    around = np.asarray(paper.resize(grey.size, Image.Resampling.BILINEAR), np.float32)
    bright = np.asarray(grey, np.float32) / np.maximum(around, 1.0)
    usual = float(np.median(bright[::4, ::4]))
    noise = 1.48 * float(np.median(np.abs(bright[::4, ::4] - usual)))
    dark = (bright < min(_FAINT, max(_DARK, usual - _SURE * noise))).astype(np.float32)
    columns, rows = max(1, round(width / scale / CELL)), max(1, round(height / scale / CELL))
    share = Image.fromarray(dark).resize((columns, rows), Image.Resampling.BOX)
    return np.asarray(share) > _INKED


def _list_squares(squares: Mask) -> list[Square]:
    return [(int(y), int(x)) for y, x in zip(*squares.nonzero(), strict=True)]


def _is_hollow(patch: Mask) -> bool:
    """Return whether a patch has ink along all sides and almost none inside, like a frame."""
    inside = patch[_NEAR:-_NEAR, _NEAR:-_NEAR]
    if min(inside.shape) < 2 or inside.mean() > _HOLLOW:
        return False
    ends = (patch[:_NEAR].any(axis=0), patch[-_NEAR:].any(axis=0))
    sides = (patch[:, :_NEAR].any(axis=1), patch[:, -_NEAR:].any(axis=1))
    return all(edge.mean() > _CLOSED for edge in (*ends, *sides))


def _is_within(box: Box, outer: Box) -> bool:
    return box.union(outer) == outer


def _is_shadow(box: Box, sheet: Box) -> bool:
    at_edge = (
        box.x0 < _EDGE or box.y0 < _EDGE or box.x1 > sheet.x1 - _EDGE or box.y1 > sheet.y1 - _EDGE
    )
    return at_edge and min(box.width, box.height) < 3 * _EDGE
