"""Papers with figures of known place: what is a picture, what only looks like one, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pymupdf

from glyphtex.marks import Box

PROSE = (
    "A body of mass m slides along the track that is shown here and leaves it at the upper end, "
    "where it begins to fall freely. The air is at rest and friction may be left out of account."
)


class Drawn(NamedTuple):
    """A paper and its figures: (page, box with all labels), in reading order."""

    pdf: pymupdf.Document
    figures: list[tuple[int, Box]]


def paper(*draw: Callable[[pymupdf.Page], Sequence[Box]]) -> Drawn:
    """A paper of one page for each function, which draws on it and tells the boxes drawn."""
    pdf = pymupdf.open()
    figures = []
    for number, fill in enumerate(draw, 1):
        figures += [(number, box) for box in fill(pdf.new_page())]
    return Drawn(pdf, figures)


def prose(page: pymupdf.Page, top: float, *, number: int = 1, box: Box | None = None) -> float:
    """A numbered paragraph; returns where it ends."""
    rect = pymupdf.Rect(*(box or Box(72, top, 523, top + 60)))
    rect.y0, rect.y1 = top, top + 200
    left = page.insert_textbox(rect, f"{number}. {PROSE}", fontsize=10)
    return float(rect.y1 - left)


def text(
    page: pymupdf.Page, x: float, y: float, words: str, size: float = 10, turn: int = 0
) -> Box:
    """Words on the baseline at (x, y); returns about where they stand."""
    page.insert_text((x, y), words, fontsize=size, rotate=turn)
    width = pymupdf.get_text_length(words, fontsize=size)
    if turn == 90:
        return Box(x - 0.7 * size, y - width, x, y)
    return Box(x, y - 0.7 * size, x + width, y)


def stroke(page: pymupdf.Page, *points: tuple[float, float], width: float = 1) -> Box:
    """A line through points."""
    page.draw_polyline([pymupdf.Point(*p) for p in points], width=width)
    xs, ys = zip(*points, strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))


def around(*boxes: Box) -> Box:
    """The smallest box around all."""
    whole = boxes[0]
    for box in boxes[1:]:
        whole = whole.union(box)
    return whole


def graph(page: pymupdf.Page, x: float, y: float, side: float = 80) -> Box:
    """Axes with ticks, their numbers, titles and a curve; (x, y) is the upper left corner."""
    axes = stroke(page, (x, y), (x, y + side), (x + side, y + side))
    points = [(x + t * side / 10, y + side - (t / 10) ** 2 * side) for t in range(11)]
    parts = [axes, stroke(page, *points)]
    for k in range(5):
        at = x + k * side / 5
        parts.append(stroke(page, (at, y + side), (at, y + side + 3)))
        parts.append(text(page, at, y + side + 11, str(k), 7))
        parts.append(text(page, x - 10, y + side - k * side / 5, str(k), 7))
    parts.append(text(page, x + side / 2 - 10, y + side + 22, "time (s)", 8))
    parts.append(text(page, x - 16, y + side / 2 + 20, "height (m)", 8, turn=90))
    return around(*parts)


def curve(page: pymupdf.Page, x: float, y: float, side: float = 70) -> Box:
    """A circle with a line through it."""
    page.draw_circle((x + side / 2, y + side / 2), side / 2)
    stroke(page, (x, y), (x + side, y + side))
    return Box(x, y, x + side, y + side)


def circuit(page: pymupdf.Page, x: float, y: float) -> Box:
    """A circuit of straight wires, boxes and labels."""
    parts = [stroke(page, (x, y), (x + 160, y), (x + 160, y + 90), (x, y + 90), (x, y))]
    parts.append(stroke(page, (x, y + 45), (x + 160, y + 45)))
    for k, (dx, dy) in enumerate([(40, 0), (100, 0), (40, 45), (100, 45), (70, 90)], 1):
        page.draw_rect(pymupdf.Rect(x + dx, y + dy - 5, x + dx + 26, y + dy + 5), fill=(1, 1, 1))
        parts.append(text(page, x + dx + 8, y + dy - 8, f"R{k}", 9))
    parts.append(Box(x, y - 5, x + 160, y + 95))
    return around(*parts)


def bars(page: pymupdf.Page, x: float, y: float) -> Box:
    """A bar chart of light bars on a frame with lines at each tick, as spreadsheets draw it."""
    page.draw_rect(pymupdf.Rect(x, y, x + 150, y + 90))
    parts = [Box(x, y, x + 150, y + 90)]
    for k in range(4):
        stroke(page, (x, y + 22.5 * k), (x + 150, y + 22.5 * k))
        parts.append(text(page, x - 16, y + 92 - 22.5 * k, f"{10 * k}", 8))
    for k, height in enumerate((30, 70, 55, 20)):
        left = x + 12 + 36 * k
        page.draw_rect(pymupdf.Rect(left, y + 90 - height, left + 18, y + 90), fill=(0.75, 0.85, 1))
        parts.append(text(page, left + 3, y + 100, "abcd"[k], 8))
    return around(*parts)


def table(page: pymupdf.Page, x: float, y: float, *, shaded: bool = False, cells: int = 4) -> None:
    """A table of numbers, ruled on all sides; `shaded` fills its head and some cells."""
    for row in range(5):
        for k in range(cells):
            cell = pymupdf.Rect(x + 70 * k, y + 18 * row, x + 70 * k + 70, y + 18 * row + 18)
            dark = (0.9, 0.45, 0.1) if (row + k) % 3 == 0 else (0.3, 0.8, 0.4)
            page.draw_rect(cell, fill=dark if shaded and (row == 0 or k == 2) else None)
            page.insert_text((cell.x0 + 12, cell.y1 - 5), f"{row}.{k}7" if row else f"v{k}")


def tiles(page: pymupdf.Page, x: float, y: float, *, count: int = 4, height: float = 25) -> Box:
    """One picture embedded in strips."""
    for k in range(count):
        pixels = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 120, 20), False)
        pixels.clear_with(60 + 30 * k)
        top = y + height * k
        page.insert_image(pymupdf.Rect(x, top, x + 150, top + height), pixmap=pixels,
                          keep_proportion=False)  # fmt: skip
    return Box(x, y, x + 150, y + count * height)
