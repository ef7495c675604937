"""A vision model that reads a page: its text by one prompt, its figures by another (MathReal).

Both requests go through the store. A model reports the positions of figures, but not of lines:
these are spread between the figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from omibench.prompts.catalogue import PromptEntry, add_prompt
from omibench.prompts.wording import Wording, read_wording
from omibench.schemas.request import (
    Conversation,
    Decoding,
    Message,
    Request,
    Response,
    Tags,
    TextPart,
)
from omibench.stages.ocr.engines.presets.asking import PageJob, PresetPage
from omibench.stages.ocr.engines.recorded import ReadLine, ReadPage

NAME = "vision"
MAX_TOKENS = 8192
TEXT_PROMPT = """\
Copy out the printed text of this exam page, line by line, as it is set.

- Every printed line once, from top to bottom, columns one after the other; keep the numbers of \
problems, their choices with letters, and blanks as ____.
- Formulas in LaTeX between dollar signs: $v_0$, $\\frac{a}{b}$.
- Leave out handwriting, running heads, page numbers, and text inside figures. Keep captions.
- Cells of a table stand in one line a row, with " | " between them.
- Where a figure stands, write a line [FIGURE 1], [FIGURE 2], ... in the order of reading.

Copy, do not correct, translate, explain or solve. Write nothing but the lines."""
FIGURES_PROMPT = """\
Say where the figures of this exam page are: drawings, diagrams, graphs, photographs, pictures \
that are choices. Panels under one caption are one figure; logos, tables, formulas and \
handwriting are none. Number them in the order of reading.

Reply with one JSON object a line and nothing else, edges in thousandths of the width and height \
of the page from its top left, labels of the figure inside and its caption outside:
{"figure": 1, "left": 120, "top": 300, "right": 480, "bottom": 520}
Without figures reply {}."""
TEXT = add_prompt(
    PromptEntry(
        name="page-text",
        purpose="transcribes the printed text of a page; follows the picture",
        text=TEXT_PROMPT,
        source="MathReal, D: Prompt for OCR Task (of one question, not of a page)",
        owner="page reader",
    )
)
FIGURES = add_prompt(
    PromptEntry(
        name="page-figures",
        purpose="lists the figures of a page with their boxes; follows the picture",
        text=FIGURES_PROMPT,
        owner="page reader",
    )
)
NO_FILES: Mapping[str, str] = {}
_MARK = re.compile(r"\[FIGURE\s*(\d{1,2})\]", re.I)
_FENCE = re.compile(r"^\s*```\w*\s*$")
_LINE = 0.018
"""The default height of a line as a share of the page's."""
Edges = tuple[float, float, float, float]


def read_pages(pages: Sequence[PresetPage], job: PageJob) -> list[ReadPage | None]:
    """Request the text and the figures of pages.

    Args:
        pages: Pages to read.
        job: Job with study and model.

    Returns:
        The reading of each page; None if the answer for its text is incomplete.

    Raises:
        ParamsError: A prompt's file cannot be read or is invalid.
    """
    pairs = [build_page_requests(page, job.study, job.prompts) for page in pages]
    responses = job.ask([request for pair in pairs for request in pair])
    return [
        read_page_replies(page, text, figures)
        for page, text, figures in zip(pages, responses[::2], responses[1::2], strict=True)
    ]


def build_page_requests(
    page: PresetPage, study: str = "", prompts: Mapping[str, str] = NO_FILES
) -> tuple[Request, Request]:
    """Return the request for the text of a page, and the one for its figures.

    Args:
        page: Page to read.
        study: The study.
        prompts: Files that replace prompts, by their names.

    Returns:
        Both requests.

    Raises:
        ParamsError: A file cannot be read or is invalid.
    """
    text, figures = (_build_request(page, study, entry, prompts) for entry in (TEXT, FIGURES))
    return text, figures


def _build_request(
    page: PresetPage, study: str, entry: PromptEntry, prompts: Mapping[str, str]
) -> Request:
    file = prompts.get(entry.name)
    wording = read_wording(file, entry) if file else Wording("", entry.text)
    first = (TextPart(text=wording.system),)
    system = (Message(role="system", parts=first),) if wording.system else ()
    user = Message(role="user", parts=(page.image, TextPart(text=wording.text)))
    return Request(
        conversation=Conversation(messages=(*system, user)),
        decoding=Decoding(temperature=0.0, max_tokens=MAX_TOKENS),
        tags=Tags(role="page_reader", problem=page.name, study=study),
    )


def read_page_replies(page: PresetPage, text: Response, figures: Response) -> ReadPage | None:
    """Combine the two replies for a page; None if the answer for its text is incomplete."""
    if text.outcome != "answered":
        return None
    boxes = read_figure_edges(figures.text) if figures.outcome == "answered" else {}
    scaled = {
        number: (
            box[0] * page.width / 1000,
            box[1] * page.height / 1000,
            box[2] * page.width / 1000,
            box[3] * page.height / 1000,
        )
        for number, box in boxes.items()
    }
    lines = list(place_lines(text.text, scaled, page.width, page.height))
    return ReadPage(
        engine=NAME,
        width=page.width,
        height=page.height,
        lines=lines,
        figures=list(scaled.values()),
    )


def read_figure_edges(reply: str) -> dict[int, Edges]:
    """Return the figures of a reply by number; invalid lines are skipped."""
    edges_by_number: dict[int, Edges] = {}
    for line in reply.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(entry, dict) or type(entry.get("figure")) is not int:
            continue
        edges = [entry.get(key) for key in ("left", "top", "right", "bottom")]
        if all(type(e) in (int, float) and 0 <= e <= 1000 for e in edges):  # type: ignore[operator]
            left, top, right, bottom = (float(e) for e in edges)  # type: ignore[arg-type]
            if left < right and top < bottom:
                edges_by_number[entry["figure"]] = (left, top, right, bottom)
    return edges_by_number


def place_lines(
    text: str, figures: Mapping[int, Edges], width: float, height: float
) -> Iterator[ReadLine]:
    """Spread the lines of a reply over the page between its figures."""
    runs: list[list[str]] = [[]]
    bounds: list[tuple[float, float]] = []
    for line in text.splitlines():
        mark = _MARK.fullmatch(line.strip())
        if mark and int(mark[1]) in figures:
            box = figures[int(mark[1])]
            bounds.append((box[1], box[3]))
            runs.append([])
        elif not mark and line.strip() and not _FENCE.match(line):
            runs[-1].append(line.strip())
    tops = [0.0, *(bottom for _, bottom in bounds)]
    ends = [*(top for top, _ in bounds), height]
    floor = 0.0
    for run, top, end in zip(runs, tops, ends, strict=True):
        top = max(top, floor)  # noqa: PLW2901 - figures side by side leave no room between them
        step = min(_LINE * height * 1.4, max(end - top, 1.0) / (len(run) + 1))
        yield from _spread_lines(run, top, step, width)
        floor = top + step * len(run)


def _spread_lines(run: Sequence[str], top: float, step: float, width: float) -> Iterator[ReadLine]:
    for index, text in enumerate(run):
        y = top + (index + 0.5) * step
        right = width * min(0.95, 0.08 + 0.008 * len(text))
        box = (
            (0.08 * width, y),
            (right, y),
            (right, y + 0.8 * step),
            (0.08 * width, y + 0.8 * step),
        )
        yield ReadLine(text=text, quad=box)
