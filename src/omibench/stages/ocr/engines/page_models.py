"""Models that read whole pages: requests, pictures, and what their replies mean."""

from __future__ import annotations

import hashlib
import html
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from glyphtex.latex import find_formulas
from omibench.schemas.request import (
    Decoding,
    ImagePart,
    Part,
    Request,
    Response,
    Tags,
    converse,
)
from omibench.stages.ocr.engines.engine import Point, Reading
from omibench.stages.ocr.engines.readers import ReadPage

if TYPE_CHECKING:
    from PIL.Image import Image


# Shared parts of presets: requests, and pictures derived from a page's.

Ask = Callable[[Sequence[Request]], list[Response]]
"""Sends requests through the store; the responses have the order of the requests."""


class PresetPage(NamedTuple):
    """A page to read: its name (`SOURCE#p2`), picture, and size in pixels."""

    name: str
    image: ImagePart
    width: int
    height: int


class PageJob(NamedTuple):
    """The model that reads pages, and further inputs of the requests."""

    ask: Ask
    folder: Path
    """The folder of pictures derived from a page's."""
    study: str = ""
    prompts: Mapping[str, str] = {}
    """Files that replace prompts, by their names."""


ReadPages = Callable[[Sequence[PresetPage], PageJob], list[ReadPage | None]]
"""Reads pages; None for one without a complete answer."""


def build_request(
    page: PresetPage, parts: Sequence[Part], job: PageJob, decoding: Decoding, system: str = ""
) -> Request:
    """Return a request of a page reader.

    Args:
        page: Page to read.
        parts: Pictures and text to send, in order.
        job: Job with study and model.
        decoding: Decoding parameters.
        system: System message; empty for none.
    """
    return Request(
        conversation=converse(system, parts),
        decoding=decoding,
        tags=Tags(role="page_reader", problem=page.name, study=job.study),
    )


def open_picture(page: PresetPage) -> Image:
    """Return the RGB pixels of a page."""
    from PIL import Image

    with Image.open(page.image.path, formats=("PNG",)) as file:
        return file.convert("RGB")


def keep_picture(picture: Image, job: PageJob) -> ImagePart:
    """Save a picture as PNG in the job's folder, named by its SHA-256."""
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    data = stream.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    path = job.folder / f"{digest}.png"
    path.write_bytes(data)
    return ImagePart(sha256=digest, path=str(path))


def turn_clockwise(picture: Image, degrees: int) -> Image:
    """Return a picture turned by a multiple of 90 degrees, without resampling."""
    from PIL.Image import Transpose

    turns = {90: Transpose.ROTATE_270, 180: Transpose.ROTATE_180, 270: Transpose.ROTATE_90}
    return picture.transpose(turns[degrees]) if degrees in turns else picture


# Detect endless repetition in replies of models.

_LONGEST_UNIT: Final = 200
_REPEATS: Final = 20
_SHORTEST: Final = 200
"""The minimum length of repetitions in characters: shorter ones may be a table of equal cells."""


def ends_in_loop(text: str) -> bool:
    """Return whether a text ends in twenty or more repeats of one unit of letters or digits.

    Args:
        text: A model's reply. Blanks (`____`, `....`) are not a loop.
    """
    tail = text.rstrip()[-_LONGEST_UNIT * (_REPEATS + 1) :]
    for length in range(1, _LONGEST_UNIT + 1):
        span = max(length * _REPEATS, _SHORTEST)
        run = tail[-span:]
        if len(run) == span and run[length:] == run[:-length]:
            return any(character.isalnum() for character in run[-length:])
    return False


# Convert tables of document readers, in HTML or OTSL, to rows of text.
#
# OTSL (Lysak et al., Optimized Table Tokenization for Table Structure Recognition, 2023) marks each
# cell by a token: `<fcel>` is full, `<ecel>` empty, `<lcel>`, `<ucel>` and `<xcel>` belong to the
# cell on their left, above them, or both; `<nl>` ends a row.

BETWEEN_CELLS: Final = " | "
_OTSL: Final = re.compile(r"<(fcel|ecel|lcel|ucel|xcel|ched|rhed|srow|nl)>")
_TAG: Final = re.compile(r"<(/?)([A-Za-z]{1,12})\b[^<>]*>")
_MOST_CELLS: Final = 20_000


def holds_otsl(text: str) -> bool:
    """Return whether a text marks cells by tokens of OTSL."""
    return _OTSL.search(text) is not None


def read_otsl(text: str) -> list[str]:
    """Return the rows of a table in OTSL, cells with ` | ` between them; merged cells appear once.

    Args:
        text: Tokens and the text of cells. Text before the first token is a separate row.
    """
    pieces = _OTSL.split(text, maxsplit=_MOST_CELLS)
    rows: list[list[str]] = [[pieces[0]], []] if pieces[0].strip() else [[]]
    for token, content in zip(pieces[1::2], pieces[2::2], strict=True):
        if token == "nl":  # noqa: S105 - the token that ends a row
            rows.append([content] if content.strip() else [])
        elif token not in ("lcel", "ucel", "xcel") or content.strip():
            rows[-1].append(content)
    return [row for row in map(_join_cells, rows) if row]


def read_html_table(text: str) -> list[str]:
    """Return the rows of all tables in a piece of HTML, cells with ` | ` between them.

    Args:
        text: HTML, closed or not. Text outside of cells is a separate row; tags only determine the
            cells.
    """
    rows: list[list[str]] = [[]]
    in_cell = False
    pieces = _TAG.split(text, maxsplit=3 * _MOST_CELLS)
    for end, name, content in zip(
        ["", *pieces[1::3]], ["", *pieces[2::3]], pieces[::3], strict=True
    ):
        if name.lower() in ("td", "th"):
            in_cell = not end
            if in_cell:
                rows[-1].append("")
        elif name.lower() in ("tr", "table"):
            rows.append([])
        if in_cell and rows[-1]:
            rows[-1][-1] += f" {content}" if name.lower() == "br" else content
        elif content.strip():
            rows += [[content], []]
    return [row for row in map(_join_cells, rows) if row]


def _join_cells(cells: list[str]) -> str:
    texts = [" ".join(html.unescape(cell).split()) for cell in cells]
    return BETWEEN_CELLS.join(texts) if any(texts) else ""


# Convert Markdown of document readers to the lines of a page.
#
# Formulas are put between single dollar signs, whatever their delimiters were (`\(...\)`,
# `\[...\]`, `$$...$$`); marks of headings and emphasis are removed, and tables become rows with ` |
# ` between cells.

MOST_LINES: Final = 1000
MOST_CHARACTERS: Final = 20_000
"""The maximum length of a line."""
_HEADING: Final = re.compile(r"^#{1,6}\s+(?=\S)")
_EMPHASIS: Final = re.compile(r"(?<![\w*])(\*\*\*|\*\*|\*|__)(?=\S)([^*_\n]+?)(?<=\S)\1(?![\w*])")
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")
_TABLE: Final = re.compile(r"<table\b.*?(?:</table>|\Z)", re.DOTALL | re.IGNORECASE)
_RULE: Final = re.compile(r"^\s*\|?[\s:|-]*-{3,}[\s:|-]*\|?\s*$")
_FENCE: Final = re.compile(r"^\s*(?:```\w*|~~~\w*)\s*$")
_DISPLAY: Final = re.compile(r"\\\[|\$\$")


def list_lines(markdown: str) -> list[str]:
    """Return the lines of a page in Markdown, with empty lines between paragraphs.

    Args:
        markdown: Reply of a reader, without front matter.

    Returns:
        At most 1,000 lines of at most 20,000 characters each.
    """
    text = _TABLE.sub(lambda table: "\n".join(["", *read_html_table(table[0]), ""]), markdown)
    text = _join_display_rows(text)
    lines: list[str] = []
    for line in text.splitlines():
        if len(lines) == MOST_LINES:
            break
        if not _FENCE.match(line) and not _RULE.match(line):
            lines.append(read_line(line)[:MOST_CHARACTERS])
    return lines


def read_line(line: str) -> str:
    """Return a line of Markdown as printed text, with formulas between single dollar signs."""
    text = _HEADING.sub("", line.strip())
    if text.startswith("|") and text.endswith("|") and len(text) > 1:
        text = BETWEEN_CELLS.join(cell.strip() for cell in text[1:-1].split("|"))
    return "".join(_read_pieces(text)).strip()


def wrap_formula(latex: str) -> str:
    """Return a formula between single dollar signs, without its original delimiters."""
    spans = find_formulas(latex.strip())
    source = latex.strip()
    if len(spans) == 1 and (spans[0].start, spans[0].end) == (0, len(source)):
        source = spans[0].latex
    return _put_in_dollars(source)


def _join_display_rows(text: str) -> str:
    """Return the text with the source of each displayed formula joined in one row."""
    pieces: list[str] = []
    position = 0
    while (opening := _DISPLAY.search(text, position)) is not None:
        closing = "$$" if opening[0] == "$$" else r"\]"
        end = text.find(closing, opening.end())
        if end < 0:
            break
        source = " ".join(text[opening.end() : end].split())
        pieces += [text[position : opening.end()], source, closing]
        position = end + len(closing)
    return "".join([*pieces, text[position:]])


def _read_pieces(text: str) -> Iterator[str]:
    end = 0
    for span in find_formulas(text):
        yield _read_prose(text[end : span.start])
        yield _put_in_dollars(span.latex)
        end = span.end
    yield _read_prose(text[end:])


def _put_in_dollars(latex: str) -> str:
    source = " ".join(latex.split())
    return f"${source}$" if source else ""


def _read_prose(text: str) -> str:
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub(r"\2", text))


# Estimate the positions of a reply's lines on the page.
#
# A reader without line positions gives text in reading order, with boxes of figures or blocks.
# Later steps (paragraphs, columns, the problem of a figure) use the order, the gaps between lines
# and the type size, so these are preserved.

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
) -> Iterator[Reading]:
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
                yield Reading(text=line, quad=_corners((0.08 * width, y, right, y + 0.8 * step)))
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
) -> Iterator[Reading]:
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
        yield Reading(text=line, quad=_corners(edges))


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


def _corners(box: Edges) -> tuple[Point, Point, Point, Point]:
    left, top, right, bottom = box
    return (left, top), (right, top), (right, bottom), (left, bottom)
