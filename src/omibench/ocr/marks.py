"""What is drawn on a page: vector clusters and embedded images, as boxes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omibench.ocr.layout import Box

if TYPE_CHECKING:
    import pymupdf

NEAR = 6.0
"""Points within which drawings belong together."""
_MANY = 1500
_THIN = 2.5


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a page that may be a figure.

    `ruled` holds for vector clusters of nothing but horizontal and vertical strokes, as tables and
    frames are; `rules` counts those that run across the whole cluster.
    """

    box: Box
    raster: bool = False
    ruled: bool = False
    rules: int = 0
    image: tuple[int, ...] | None = None
    """Width, height and bytes of an embedded image: the same wherever it is shown again."""


def regions_of(page: pymupdf.Page) -> list[Region]:
    """Vector clusters and images of a page, what covers the page left out."""
    sheet = Box(*page.rect)
    drawings = [d for d in page.get_drawings() if _is_visible(d, sheet)]
    clusters = [Box(*c) for c in _cluster(page, drawings)]
    vectors = [_region(box, drawings) for box in clusters]
    images = [
        Region(box, raster=True, image=(info["width"], info["height"], info["size"]))
        # Asked for xrefs, MuPDF would decode every image to compare digests.
        for info in page.get_image_info()
        if (box := _clipped(Box(*info["bbox"]), sheet))
        and box.width * box.height < 0.8 * _area(sheet)
    ]
    return merge_touching([*vectors, *images])


def merge_touching(regions: list[Region]) -> list[Region]:
    """Regions whose boxes overlap, and tiles of one image, become one."""
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
                rules=max(hit.rules, current.rules),
                image=hit.image or current.image,
            )
        merged.append(current)
    return merged


def _belong(a: Region, b: Region) -> bool:
    if a.raster and b.raster:
        return a.box.grown(1.5, 1.5).touches(b.box)
    return a.box.touches(b.box)


def _cluster(page: pymupdf.Page, drawings: list[dict[str, Any]]) -> list[Any]:
    import pymupdf

    if len(drawings) > _MANY:
        # Clustering is quadratic; a scatter plot has few distinct places on a coarse grid.
        snapped = {tuple(round(v / NEAR * 2) * NEAR / 2 for v in d["rect"]) for d in drawings}
        drawings = [{"rect": pymupdf.Rect(place)} for place in snapped]
    return list(
        page.cluster_drawings(
            drawings=drawings, x_tolerance=NEAR, y_tolerance=NEAR, final_filter=False
        )
    )


def _is_visible(drawing: dict[str, Any], sheet: Box) -> bool:
    box = Box(*drawing["rect"])
    if _area(box) > 0.7 * _area(sheet):
        return False
    fill, stroke = drawing.get("fill"), drawing.get("color")
    white = fill is None or min(fill) > 0.97
    return not (white and (stroke is None or min(stroke) > 0.97))


def _region(box: Box, drawings: list[dict[str, Any]]) -> Region:
    inside = [d for d in drawings if box.grown(1, 1).holds(Box(*d["rect"]))]
    lengths: Counter[int] = Counter()
    for segment in (s for d in inside for s in _segments(d)):
        if segment.height <= _THIN:
            lengths[round(segment.y0 / 3)] += round(segment.width)
    rules = sum(length > 0.85 * box.width for length in lengths.values())
    return Region(box, ruled=all(map(_is_straight, inside)), rules=rules)


def _is_straight(drawing: dict[str, Any]) -> bool:
    """Whether a drawing is a rule, a cell or a frame: no curve, no slope, no dark area."""
    fill = drawing.get("fill")
    dark = fill is not None and min(fill) < 0.6
    if dark and min(Box(*drawing["rect"]).width, Box(*drawing["rect"]).height) > _THIN:
        return False
    return all(
        item[0] in ("re", "qu") or (item[0] == "l" and _is_axial(item[1], item[2]))
        for item in drawing["items"]
    )


def _is_axial(a: Any, b: Any) -> bool:
    return bool(abs(a.x - b.x) < 0.5 or abs(a.y - b.y) < 0.5)


def _segments(drawing: dict[str, Any]) -> list[Box]:
    """Strokes of a drawing as thin boxes; the edges of a rectangle are four of them."""
    found = []
    for item in drawing["items"]:
        if item[0] == "l":
            a, b = item[1], item[2]
            found.append(Box(min(a.x, b.x), min(a.y, b.y), max(a.x, b.x), max(a.y, b.y)))
        elif item[0] == "re":
            r = Box(*item[1])
            found += [Box(r.x0, r.y0, r.x1, r.y0), Box(r.x0, r.y1, r.x1, r.y1)]
    return found


def _clipped(box: Box, sheet: Box) -> Box | None:
    clipped = Box(
        max(box.x0, sheet.x0), max(box.y0, sheet.y0), min(box.x1, sheet.x1), min(box.y1, sheet.y1)
    )
    return clipped if clipped.width > 0 and clipped.height > 0 else None


def _area(box: Box) -> float:
    return box.width * box.height
