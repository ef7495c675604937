"""olmOCR (Allen Institute for AI): from a page to Markdown with front matter.

The request has the prompt, then the page with 1,288 pixels on its longest side. The reply's front
matter states whether the page is upright; otherwise the page is turned and requested again, as in
olmOCR's pipeline. Figures are in the text as `![...](page_X_Y_WIDTH_HEIGHT.png)`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from omibench.schemas.request import Decoding, Request, Response, TextPart
from omibench.settings.prompts import PromptEntry, add_prompt, choose_wording
from omibench.stages.ocr.engines.page_models import (
    Edges,
    PageJob,
    PresetPage,
    build_request,
    ends_in_loop,
    keep_picture,
    list_lines,
    open_picture,
    place_runs,
    turn_clockwise,
)
from omibench.stages.ocr.engines.readers import ReadPage

NAME: Final = "olmocr"
SIDE: Final = 1288
DECODING: Final = Decoding(temperature=0.1, max_tokens=8000)
PROMPT_TEXT: Final = """\
Transcribe the attached page of a document into Markdown, in the order in which one reads it. \
Write equations in LaTeX and tables in HTML.
Where a figure or chart stands, put ![what it shows](page_startx_starty_width_height.png).
Begin with a front matter section that gives primary_language, is_rotation_valid, \
rotation_correction, is_table and is_diagram."""
PROMPT: Final = add_prompt(
    PromptEntry(
        name="page-olmocr",
        purpose="transcribes a page with olmOCR; precedes the picture",
        text=PROMPT_TEXT,
        source="olmOCR, prompts.py: build_no_anchoring_v4_yaml_prompt, on which it was trained",
        owner="page reader",
    )
)
MOST_CHARACTERS: Final = 200_000
_MOST_FIGURES: Final = 100
_FRONT: Final = re.compile(r"\s*---[ \t]*\n(.*?)(?:\n---[ \t]*(?:\n|\Z)|\Z)", re.DOTALL)
_FIELD: Final = re.compile(r"(\w+):[ \t]*(\S*)")
_FIGURE: Final = re.compile(r"!\[[^\]\n]{0,500}\]\(([^)\n]{0,200})\)")
_PLACE: Final = re.compile(r"page_(\d{1,5})_(\d{1,5})_(\d{1,5})_(\d{1,5})\.\w{3,4}")
Turn = Literal[0, 90, 180, 270]


class OlmPage(NamedTuple):
    """One reply: the turn clockwise that makes the page upright, and its Markdown."""

    turn: Turn
    markdown: str


class _ShownPage(NamedTuple):
    """A page as sent to the model."""

    page: PresetPage
    turn: Turn
    request: Request
    width: int
    height: int


def read_pages(pages: Sequence[PresetPage], job: PageJob) -> list[ReadPage | None]:
    """Request pages, and again those that are not upright.

    Args:
        pages: Pages to read.
        job: Job with study and model.

    Returns:
        The reading of each page; None if a reply was cut off or is a loop.

    Raises:
        ParamsError: A prompt's file cannot be read.
    """
    sheets = [_show(page, 0, job) for page in pages]
    replies = [_read_reply(r) for r in job.ask([s.request for s in sheets])]
    turned = {
        place: _show(pages[place], reply.turn, job)
        for place, reply in enumerate(replies)
        if reply and reply.turn
    }
    if turned:
        responses = job.ask([page.request for page in turned.values()])
        for (place, page), response in zip(turned.items(), responses, strict=True):
            sheets[place], replies[place] = page, _read_reply(response)
    return [
        reply and _place(page, reply.markdown) for page, reply in zip(sheets, replies, strict=True)
    ]


def parse_reply(text: str) -> OlmPage:
    """Parse a reply's front matter, if any, and its Markdown.

    Args:
        text: The reply; text beyond 200,000 characters is ignored.
    """
    text = text[:MOST_CHARACTERS].replace("\r\n", "\n")
    front = _FRONT.match(text)
    if front is None:
        return OlmPage(0, text)
    fields = dict(_FIELD.findall(front[1]))
    correction = fields.get("rotation_correction", "0")
    upright = fields.get("is_rotation_valid", "true").lower() != "false"
    turns: dict[str, Turn] = {"90": 90, "180": 180, "270": 270}
    return OlmPage(0 if upright else turns.get(correction, 0), text[front.end() :])


def _show(page: PresetPage, turn: Turn, job: PageJob) -> _ShownPage:
    from PIL.Image import Resampling

    picture = turn_clockwise(open_picture(page), turn)
    factor = SIDE / max(picture.size)
    size = (max(1, round(picture.width * factor)), max(1, round(picture.height * factor)))
    small = picture.resize(size, Resampling.LANCZOS)
    wording = choose_wording(job.prompts, PROMPT)
    parts = (TextPart(text=wording.text), keep_picture(small, job))
    request = build_request(page, parts, job, DECODING, wording.system)
    return _ShownPage(page, turn, request, *size)


def _read_reply(response: Response) -> OlmPage | None:
    if response.outcome != "answered" or ends_in_loop(response.text):
        return None
    return parse_reply(response.text)


def _place(sheet: _ShownPage, markdown: str) -> ReadPage:
    figures: list[Edges] = []
    runs: list[list[str]] = [[]]
    end, lost = 0, len(markdown) >= MOST_CHARACTERS
    for tag in _FIGURE.finditer(markdown):
        runs[-1] += list_lines(markdown[end : tag.start()])
        end = tag.end()
        box = _read_box(tag[1], sheet.width, sheet.height)
        if box is None or len(figures) == _MOST_FIGURES:
            lost = True
            continue
        figures.append(box)
        runs.append([])
    runs[-1] += list_lines(markdown[end:])
    lines = list(place_runs(runs, figures, sheet.width, sheet.height))
    return ReadPage(
        engine=NAME,
        width=sheet.width,
        height=sheet.height,
        lines=lines,
        figures=figures,
        turn=sheet.turn,
        incomplete=lost,
    )


def _read_box(name: str, width: int, height: int) -> Edges | None:
    """Return the box in a figure's file name, clipped to the page; None if it has none."""
    place = _PLACE.fullmatch(name.strip())
    if place is None:
        return None
    x, y, wide, high = map(int, place.groups())
    box = (float(x), float(y), float(min(x + wide, width)), float(min(y + high, height)))
    return box if box[0] < box[2] and box[1] < box[3] else None
