"""Estimate the positions of a reply's lines on the page.

A reader without line positions gives text in reading order, with boxes of figures or blocks. Later
steps (paragraphs, columns, the problem of a figure) use the order, the gaps between lines and the
type size, so these are preserved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from statistics import median
from typing import Final

from omibench.latex import find_formulas
from omibench.stages.ocr.engines.recorded import Corner, ReadLine

Edges = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels."""
_STEP: Final = 0.025
"""The default line pitch as a share of the page's height."""
_BLANK: Final = 0.75
"""The height of an empty line, in lines."""
_LETTER, _WIDE_LETTER = 0.5, 1.0
"""The width of a letter and of a Chinese character, in type sizes."""
_LEADING: Final = 1.2
_LOOSE: Final = 1.15
"""The factor by which a short last line can inflate the estimated type size of a block."""
_FILL: Final = 0.85
_WIDE: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_COMMAND: Final = re.compile(r"\\[A-Za-z]+|[{}^_$]")


def place_runs(
    runs: Sequence[Sequence[str]], figures: Sequence[Edges], width: float, height: float
) -> Iterator[ReadLine]:
    """Spread lines over a page between its figures.

    Args:
        runs: The lines above the first figure, between it and the second, and so on; empty ones end
            paragraphs.
        figures: Boxes of figures in pixels, one fewer than runs.
        width: Width of the page, in pixels.
        height: Height of the page, in pixels.
    """
    tops = [0.0, *(figure[3] for figure in figures)]
    ends = [*(figure[1] for figure in figures), height]
    floor = 0.0
    for run, figure_end, end in zip(runs, tops, ends, strict=True):
        top = max(figure_end, floor)
        units = sum(1.0 if line else _BLANK for line in run) + 1
        step = min(_STEP * height, max(end - top, 1.0) / units)
        y = top + 0.5 * step
        for line in run:
            if line:
                right = width * min(0.95, 0.08 + 0.008 * len(line))
                yield ReadLine(text=line, quad=_corners((0.08 * width, y, right, y + 0.8 * step)))
            y += step if line else _BLANK * step
        floor = y


def estimate_type_size(blocks: Iterable[tuple[str, Edges]]) -> float | None:
    """Return the usual type size of blocks of text in pixels; None if no block has 20 letters.

    Args:
        blocks: Text and box of each block. A box of area A filled by n letters has the type size s
            with n = A / (0.5 s x 1.2 s).
    """
    sizes = [_fit_size(text, box) for text, box in blocks if _measure_text(text) >= 20 * _LETTER]
    return median(sizes) if sizes else None


def place_block(
    text: str, box: Edges, size: float | None, *, is_text: bool = True
) -> Iterator[ReadLine]:
    """Break the text of a block into lines that fit its box.

    Args:
        text: Text of the block; its line breaks are kept.
        box: Box of the block in pixels.
        size: Usual type size of the page in pixels; None if unknown.
        is_text: False for a formula or table, whose rows are unchanged and have the usual type
            size.
    """
    rows = [row for row in text.splitlines() if row.strip()]
    lines = _cut_rows(rows, max(len(rows), _count_lines(text, box, size))) if is_text else rows
    pitch = (box[3] - box[1]) / max(1, len(lines))
    high = _FILL * pitch if is_text or size is None else min(_FILL * pitch, _LEADING * size)
    for index, line in enumerate(lines):
        middle = box[1] + (index + 0.5) * pitch
        edges = (box[0], middle - high / 2, box[2], middle + high / 2)
        yield ReadLine(text=line, quad=_corners(edges))


def _count_lines(text: str, box: Edges, size: float | None) -> int:
    fitting = _fit_size(text, box)
    usual = fitting if size is None else min(fitting, _LOOSE * size)
    return max(1, round((box[3] - box[1]) / (_LEADING * max(usual, 1.0))))


def _fit_size(text: str, box: Edges) -> float:
    area = (box[2] - box[0]) * (box[3] - box[1])
    return sqrt(area / (_LEADING * max(_measure_text(text), _LETTER)))


def _measure_text(text: str) -> float:
    """Return the width of a text in type sizes; LaTeX commands count as one letter."""
    plain = _COMMAND.sub("", re.sub(r"\\[A-Za-z]+", "x", text))
    wide = len(_WIDE.findall(plain))
    return wide * _WIDE_LETTER + (len(plain) - wide) * _LETTER


def _cut_rows(rows: Sequence[str], count: int) -> list[str]:
    """Cut rows into about `count` lines, each by its length."""
    lengths = [_measure_text(row) for row in rows]
    total = sum(lengths) or 1.0
    shares = [max(1, round(count * length / total)) for length in lengths]
    return [line for row, share in zip(rows, shares, strict=True) for line in _cut_row(row, share)]


def _cut_row(row: str, count: int) -> list[str]:
    """Cut a row between words into at most `count` lines of about equal length."""
    goal = _measure_text(row) / count
    lines, reach = [""], 0.0
    for word, glue in _split_words(row):
        if reach >= goal * len(lines) and not lines[-1].rstrip().endswith("-"):
            lines.append("")
        lines[-1] += word + glue
        reach += _measure_text(word + glue)
    return [line.strip() for line in lines if line.strip()]


def _split_words(row: str) -> list[tuple[str, str]]:
    """Split a row into words with their trailing space; formulas stay whole."""
    pieces: list[tuple[str, str]] = []
    end = 0
    for span in [*find_formulas(row), None]:
        prose = row[end : span.start if span else len(row)]
        for word, glue in re.findall(r"([^\s\u2e80-\u9fff]+|[\u2e80-\u9fff])(\s*)", prose):
            pieces.append((word, " " if glue else ""))
        if span:
            space = " " if row[span.end : span.end + 1].isspace() else ""
            pieces.append((row[span.start : span.end], space))
            end = span.end
    return _join_glued(pieces)


def _join_glued(pieces: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Words between which a line can break: after a space, or between Chinese characters."""
    joined: list[tuple[str, str]] = []
    for word, glue in pieces:
        if joined and not joined[-1][1] and not (_is_wide(joined[-1][0][-1]) and _is_wide(word[0])):
            joined[-1] = (joined[-1][0] + word, glue)
        else:
            joined.append((word, glue))
    return joined


def _is_wide(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff"


def _corners(box: Edges) -> tuple[Corner, Corner, Corner, Corner]:
    left, top, right, bottom = box
    return (left, top), (right, top), (right, bottom), (left, bottom)
