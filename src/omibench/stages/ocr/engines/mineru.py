"""MinerU2.5 (OpenDataLab): first the layout of a page, then the content of each block.

The layout is requested for a picture of 1,036 by 1,036 pixels, and each block for its crop of the
page. Blocks are special tokens, which the server must not drop: `extra_body: {skip_special_tokens:
false}` in the model's block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from omibench.errors import ModelError
from omibench.schemas.request import Decoding, ImagePart, Request, Response, TextPart
from omibench.stages.ocr.engines.page_models import (
    MOST_CHARACTERS,
    Edges,
    PageJob,
    PresetPage,
    build_request,
    ends_in_loop,
    estimate_type_size,
    holds_otsl,
    keep_picture,
    list_lines,
    open_picture,
    place_block,
    read_html_table,
    read_otsl,
    turn_clockwise,
    wrap_formula,
)
from omibench.stages.ocr.engines.readers import ReadPage

if TYPE_CHECKING:
    from PIL.Image import Image

NAME: Final = "mineru"
SYSTEM: Final = "You are a helpful assistant."
LAYOUT_TASK: Final = "\nLayout Detection:"
TEXT_TASK: Final = "\nText Recognition:"
TABLE_TASK: Final = "\nTable Recognition:"
FORMULA_TASK: Final = "\nFormula Recognition:"
LAYOUT_SIDE: Final = 1036
DECODING: Final = Decoding(temperature=0.0, max_tokens=8192)
MOST_BLOCKS: Final = 500
_FIGURES: Final = frozenset({"image", "chart"})
_CONTAINERS: Final = frozenset({"list", "equation_block", "image_block"})
"""Kinds of blocks whose parts are separate blocks."""
_TASKS: Final = {"table": TABLE_TASK, "equation": FORMULA_TASK}
_MIN_SIDE, _MAX_RATIO = 28, 50
"""The minimum shorter side of a crop in pixels, and the maximum aspect ratio."""
_BLOCK: Final = re.compile(
    r"<\|box_start\|>(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})<\|box_end\|>"
    r"<\|ref_start\|>(\w{1,40})<\|ref_end\|>([^\n]{0,200})"
)
_BARE: Final = re.compile(r"^\s*\d{1,4} \d{1,4} \d{1,4} \d{1,4}\s*[a-z_]+", re.MULTILINE)
_ANGLES: Final = {"<|rotate_right|>": 90, "<|rotate_down|>": 180, "<|rotate_left|>": 270}
Turn = Literal[0, 90, 180, 270]


class LayoutBlock(NamedTuple):
    """A block of a page: its kind, its box in thousandths, and its turn clockwise."""

    kind: str
    box: Edges
    angle: int


class _LaidOutPage(NamedTuple):
    """A page with its blocks, after turning it."""

    page: PresetPage
    turn: Turn
    size: tuple[int, int]
    """Width and height in pixels."""
    blocks: list[LayoutBlock]
    is_whole: bool


class _Crop(NamedTuple):
    """A block to read: the index of its page, the block, its box in pixels, and the request."""

    place: int
    block: LayoutBlock
    box: Edges
    request: Request


def read_pages(pages: Sequence[PresetPage], job: PageJob) -> list[ReadPage | None]:
    """Request the layout of pages, then the content of every block.

    Args:
        pages: Pages to read.
        job: Job with study and model.

    Returns:
        The reading of each page; None without a layout. Pages that are not upright are turned, and
        their layout is requested again.

    Raises:
        ModelError: The server drops the special tokens of blocks.
    """
    laid_out = dict(enumerate(_ask_layouts([(page, 0) for page in pages], job)))
    turns = {place: _find_turn(page.blocks) for place, page in laid_out.items() if page}
    turned = [(place, turn) for place, turn in turns.items() if turn]
    if turned:
        again = _ask_layouts([(pages[place], turn) for place, turn in turned], job)
        laid_out |= {place: page for (place, _), page in zip(turned, again, strict=True)}
    crops = [crop for place, page in laid_out.items() if page for crop in _cut(place, page, job)]
    responses = job.ask([crop.request for crop in crops]) if crops else []
    contents: dict[int, list[tuple[_Crop, str | None]]] = {}
    for crop, response in zip(crops, responses, strict=True):
        contents.setdefault(crop.place, []).append((crop, _read_content(crop.block, response)))
    return [page and _place(page, contents.get(place, [])) for place, page in laid_out.items()]


def parse_layout(reply: str) -> list[LayoutBlock]:
    """Parse the blocks of a layout, in order; invalid blocks are skipped.

    Args:
        reply: Lines such as `<|box_start|>45 120 955 180<|box_end|><|ref_start|>title<|ref_end|>`
            each followed by a token for the block's direction.

    Returns:
        At most 500 blocks.
    """
    blocks: list[LayoutBlock] = []
    for match in _BLOCK.finditer(reply):
        x0, y0, x1, y1 = (float(number) for number in match.groups()[:4])
        box = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
        angle = next((angle for token, angle in _ANGLES.items() if token in match[6]), 0)
        if box[0] < box[2] <= 1000 and box[1] < box[3] <= 1000 and len(blocks) < MOST_BLOCKS:
            blocks.append(LayoutBlock(match[5].lower(), box, angle))
    return blocks


def read_block(kind: str, reply: str) -> str:
    """Parse the text of a block from its reply, with formulas between single dollar signs.

    Args:
        kind: Kind of the block, such as `text`, `table` or `equation`.
        reply: Markdown with formulas, the source of a formula, or a table in OTSL or HTML.
    """
    text = reply.strip()
    if kind == "equation":
        return wrap_formula(text)[:MOST_CHARACTERS]
    if kind == "table" and holds_otsl(text):
        return "\n".join(_read_cells(read_otsl(text)))
    if kind == "table" and "<t" in text:
        return "\n".join(_read_cells(read_html_table(text)))
    return "\n".join(line for line in list_lines(text) if line)


def _read_cells(rows: Sequence[str]) -> list[str]:
    return [line for row in rows for line in list_lines(row) if line]


def _ask_layouts(
    pages: Sequence[tuple[PresetPage, Turn]], job: PageJob
) -> list[_LaidOutPage | None]:
    requests = [
        build_request(page, _show_layout(page, turn, job), job, DECODING, SYSTEM)
        for page, turn in pages
    ]
    laid_out: list[_LaidOutPage | None] = []
    for (page, turn), response in zip(pages, job.ask(requests), strict=True):
        size = (page.width, page.height) if turn in (0, 180) else (page.height, page.width)
        blocks = parse_layout(response.text)
        if not blocks and _BARE.search(response.text):
            raise ModelError(
                f"{page.name}: the layout has no tokens such as <|box_start|>: set `extra_body: "
                "{skip_special_tokens: false}` in the block of the model set in ocr.reader"
            )
        whole = response.outcome == "answered" and not ends_in_loop(response.text)
        is_page = response.outcome in ("answered", "truncated") and (blocks or whole)
        laid_out.append(_LaidOutPage(page, turn, size, blocks, whole) if is_page else None)
    return laid_out


def _show_layout(page: PresetPage, turn: Turn, job: PageJob) -> tuple[ImagePart, TextPart]:
    from PIL.Image import Resampling

    square = turn_clockwise(open_picture(page), turn).resize(
        (LAYOUT_SIDE, LAYOUT_SIDE), Resampling.BICUBIC
    )
    return keep_picture(square, job), TextPart(text=LAYOUT_TASK)


def _find_turn(blocks: Sequence[LayoutBlock]) -> Turn:
    """Return the degrees clockwise that turn most of a page's text area upright."""
    areas = {0: 0.0, 90: 0.0, 180: 0.0, 270: 0.0}
    for block in blocks:
        if block.kind not in _FIGURES | _CONTAINERS:
            x0, y0, x1, y1 = block.box
            areas[block.angle] += (x1 - x0) * (y1 - y0)
    angle = max(areas, key=lambda angle: areas[angle])
    turns: dict[int, Turn] = {90: 270, 180: 180, 270: 90}
    return turns.get(angle, 0)


def _cut(place: int, page: _LaidOutPage, job: PageJob) -> Iterator[_Crop]:
    picture = turn_clockwise(open_picture(page.page), page.turn)
    for block in page.blocks:
        if block.kind in _FIGURES | _CONTAINERS:
            continue
        box = _scale(block.box, page.size)
        crop = picture.crop((int(box[0]), int(box[1]), ceil(box[2]), ceil(box[3])))
        image = keep_picture(_fit_crop(turn_clockwise(crop, -block.angle % 360)), job)
        parts = (image, TextPart(text=_TASKS.get(block.kind, TEXT_TASK)))
        yield _Crop(place, block, box, build_request(page.page, parts, job, DECODING, SYSTEM))


def _fit_crop(crop: Image) -> Image:
    """Pad a narrow crop with white, and enlarge a small one."""
    from PIL import Image as images  # noqa: N813

    width, height = crop.size
    room = (max(width, ceil(height / _MAX_RATIO)), max(height, ceil(width / _MAX_RATIO)))
    if room != crop.size:
        sheet = images.new("RGB", room, "white")
        sheet.paste(crop, ((room[0] - width) // 2, (room[1] - height) // 2))
        crop = sheet
    if min(crop.size) < _MIN_SIDE:
        factor = _MIN_SIDE / min(crop.size)
        size = (ceil(crop.width * factor), ceil(crop.height * factor))
        crop = crop.resize(size, images.Resampling.BICUBIC)
    return crop


def _scale(box: Edges, size: tuple[int, int]) -> Edges:
    wide, high = size[0] / 1000, size[1] / 1000
    return (box[0] * wide, box[1] * high, box[2] * wide, box[3] * high)


def _read_content(block: LayoutBlock, response: Response) -> str | None:
    """Return the text of a block; None if the reply was cut off or is a loop."""
    if response.outcome == "empty":
        return ""
    if response.outcome != "answered" or ends_in_loop(response.text):
        return None
    return read_block(block.kind, response.text)


def _place(page: _LaidOutPage, contents: Sequence[tuple[_Crop, str | None]]) -> ReadPage:
    prose = [(text, crop.box) for crop, text in contents if text and crop.block.kind not in _TASKS]
    size = estimate_type_size(prose)
    lines = [
        line
        for crop, text in contents
        if text
        for line in place_block(text, crop.box, size, is_text=crop.block.kind not in _TASKS)
    ]
    return ReadPage(
        engine=NAME,
        width=page.size[0],
        height=page.size[1],
        lines=lines,
        figures=[_scale(b.box, page.size) for b in page.blocks if b.kind in _FIGURES],
        turn=page.turn,
        incomplete=not page.is_whole or any(text is None for _, text in contents),
    )
