"""What a PDF itself says, line by line, with scripts kept as `v_{0}`, `10^{-3}`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from omibench.stages.ocr.layout.layout import Box, Line
from omibench.stages.ocr.layout.scripts import SMALLER, Span, plain, tidy, with_scripts

if TYPE_CHECKING:
    import pymupdf


def read_lines(page: pymupdf.Page, number: int) -> list[Line]:
    """Every line of the text layer, pieces of one baseline joined, in no particular order."""
    import pymupdf

    # A glyph without a Unicode value is U+FFFD, not the letter whose code its number happens to be.
    unwanted = pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    flags = pymupdf.TEXTFLAGS_TEXT & ~unwanted
    raw = page.get_text("dict", flags=flags)
    pieces = [line for block in raw["blocks"] for line in block.get("lines", ())]
    for span in (span for piece in pieces for span in piece["spans"]):
        _lower_radical(span)
    upright = [line for line in pieces if abs(line["dir"][1]) < 0.05 and line["dir"][0] > 0]
    turned = [line for line in pieces if line not in upright] if len(upright) < len(pieces) else []
    lines = [_line(number, group) for group in _baselines(upright)]
    lines += [_line(number, [line], upright=False) for line in turned]
    return [line for line in lines if line.text]


def _lower_radical(span: dict[str, Any]) -> None:
    """TeX's root signs hang below their origin; move it to the baseline that they stand on."""
    if span["text"].strip() == "√" and "CMSY" in span["font"]:
        x, y = span["origin"]
        span["origin"] = (x, y + 0.96 * span["size"])


def _baselines(pieces: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Groups of pieces that continue each other on one baseline without a gap."""
    groups: list[list[dict[str, Any]]] = []
    for piece in pieces:
        last = groups[-1][-1] if groups else None
        if last and _continues(last, piece):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _continues(left: dict[str, Any], right: dict[str, Any]) -> bool:
    a, b = left["spans"], right["spans"]
    if not a or not b:
        return False
    size = max(a[-1]["size"], b[0]["size"])
    gap = right["bbox"][0] - left["bbox"][2]
    level = min(abs(s["origin"][1] - t["origin"][1]) for s in a for t in b)
    return bool(level < 0.25 * size and -0.3 * size < gap < 0.8 * size)


def _line(page: int, pieces: list[dict[str, Any]], *, upright: bool = True) -> Line:
    spans = [_span(span) for piece in pieces for span in piece["spans"] if span["text"]]
    boxes = [Box(*piece["bbox"]) for piece in pieces]
    box = boxes[0]
    for piece_box in boxes[1:]:
        box = box.union(piece_box)
    sizes: Counter[float] = Counter()
    for span in spans:
        sizes[round(span.size, 1)] += len(span.text.strip())
    size = max(sizes, key=lambda s: (sizes[s], s)) if sizes else 0.0
    body = [span for span in spans if span.size > SMALLER * size and span.text.strip()]
    weight = sum(len(s.text.strip()) for s in body if s.bold)
    first = next((s.bold for s in body), False)
    return Line(
        page=page,
        box=box,
        text=(
            with_scripts(spans, size) if upright else tidy("".join(s.text for s in spans))
        ).strip(),
        size=size,
        bold=first or weight * 2 > sum(len(s.text.strip()) for s in body),
        baseline=body[0].y if body else box.y1,
        upright=upright,
    )


def _span(span: dict[str, Any]) -> Span:
    return Span(
        text=plain(span["text"]),
        size=span["size"],
        bold=bool(span["flags"] & 16) or "bold" in span["font"].lower(),
        raised=bool(span["flags"] & 1),
        x0=span["bbox"][0],
        x1=span["bbox"][2],
        y=span["origin"][1],
    )
