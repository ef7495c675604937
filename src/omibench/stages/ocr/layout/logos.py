"""Regions repeated on many pages: logos, running ornaments, page frames."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from omibench.stages.ocr.layout.layout import Box
from omibench.stages.ocr.layout.marks import Region

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
