"""A vision model that reads a page: its text by one prompt, its figures by another (MathReal).

Both requests go through the store. A model reports the positions of figures, but not of lines:
these are spread between the figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from omibench.schemas.request import Decoding, TextPart
from omibench.settings.prompts import PromptEntry, add_prompt, choose_wording
from omibench.stages.ocr.engines.page_models import (
    Edges,
    PageJob,
    PresetPage,
    build_request,
    place_runs,
)
from omibench.stages.ocr.engines.readers import ReadPage

NAME = "vision"
DECODING = Decoding(temperature=0.0, max_tokens=8192)
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
_MARK = re.compile(r"\[FIGURE\s*(\d{1,2})\]", re.I)
_FENCE = re.compile(r"^\s*```\w*\s*$")


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
    wordings = [choose_wording(job.prompts, prompt) for prompt in (TEXT, FIGURES)]
    responses = job.ask(
        [
            build_request(page, (page.image, TextPart(text=w.text)), job, DECODING, w.system)
            for page in pages
            for w in wordings
        ]
    )
    return [
        _place(page, text.text, figures.text if figures.outcome == "answered" else "")
        if text.outcome == "answered"
        else None
        for page, text, figures in zip(pages, responses[::2], responses[1::2], strict=True)
    ]


def read_figure_edges(reply: str) -> dict[int, Edges]:
    """Return the figures of a reply by number, in thousandths; invalid lines are skipped."""
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


def _place(page: PresetPage, text: str, reply: str) -> ReadPage:
    """Spread the lines of a text over the page between the figures of a reply."""
    wide, high = page.width / 1000, page.height / 1000
    figures = {
        number: (left * wide, top * high, right * wide, bottom * high)
        for number, (left, top, right, bottom) in read_figure_edges(reply).items()
    }
    runs: list[list[str]] = [[]]
    between: list[Edges] = []
    for line in text.splitlines():
        mark = _MARK.fullmatch(line.strip())
        if mark and int(mark[1]) in figures:
            between.append(figures[int(mark[1])])
            runs.append([])
        elif not mark and line.strip() and not _FENCE.match(line):
            runs[-1].append(line.strip())
    return ReadPage(
        engine=NAME,
        width=page.width,
        height=page.height,
        lines=list(place_runs(runs, between, page.width, page.height)),
        figures=list(figures.values()),
    )
