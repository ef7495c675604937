"""Correction templates of an inspection page, prefilled with the reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from omibench.schemas.pages import PageLine
from omibench.schemas.problem import BBox, DoubtfulFormula, Figure, Problem
from omibench.stages.ocr.corrections.reading import (
    compute_digest,
    describe_answer,
    describe_choices,
    describe_figure,
    join_lines,
)

Shown = tuple[int, BBox]
"""A page and a box on it."""
_LONGEST: Final = 60
"""Maximum length of the original text in a correction; longer texts are given by digest."""


def draft_line(source: str, page: int, line: PageLine) -> str:
    """Return the correction of one line of a page, as JSON for the page's script."""
    return draft_lines(source, page, line.bbox, [line])


def draft_lines(source: str, page: int, box: BBox, lines: Sequence[PageLine]) -> str:
    """Return the correction of all lines in a box, as one text."""
    text = join_lines([line.text for line in lines])
    return _write(
        {
            "title": f"Text on page {page}",
            "paper": source,
            "page": page,
            "box": _round(box),
            "kind": "text",
            "value": text,
            "was": _describe(text),
            "shown": {"page": page, "box": _round(box)},
        }
    )


def draft_ink(source: str, page: int, box: BBox, lines: Sequence[PageLine], text: str) -> str:
    """Return the correction of a place with ink that was not read.

    Args:
        source: The name of the paper.
        page: Page number, from 1.
        box: The box around the ink and the lines next to it.
        lines: The lines with their centre in the box.
        text: Their text, to which the ink can be added.
    """
    was = join_lines([line.text for line in lines])
    return _write(
        {
            "title": f"Ink on page {page} that was not read",
            "paper": source,
            "page": page,
            "box": _round(box),
            "kind": "text",
            "value": text,
            "was": _describe(was),
            "shown": {"page": page, "box": _round(box)},
        }
    )


def draft_formula(source: str, formula: DoubtfulFormula) -> str:
    """Return the correction of a doubtful formula."""
    return _write(
        {
            "title": f"Formula on page {formula.page}",
            "paper": source,
            "page": formula.page,
            "box": _round(formula.bbox),
            "kind": "formula",
            "value": formula.latex,
            "was": formula.latex,
            "shown": {"page": formula.page, "box": _round(formula.bbox)},
        }
    )


def draft_problem(
    source: str, problem: Problem, shown: Shown | None = None
) -> list[tuple[str, str]]:
    """Return corrections of a whole problem: button texts and templates.

    Args:
        source: The name of the paper.
        problem: The problem as read.
        shown: The boxes of its statement.
    """
    was = _describe(problem.question)
    figure = {"image": len(problem.images), "page": problem.pages[0], "box": []}
    choices = [{"label": c.label, "text": c.text or ""} for c in problem.choices or []]
    drafts: list[tuple[str, str, object, str]] = [
        ("statement", "text", problem.question, was),
        ("all choices", "choices", choices, _describe(describe_choices(problem.choices))),
        ("answer", "answer", problem.answer or [], describe_answer(problem.answer)),
        ("solution", "solution", problem.solution or "", _describe(problem.solution or "")),
        ("split in two", "split", {"at": "", "number": ""}, was),
        ("merge with another", "merge", "", was),
        ("drop", "drop", True, was),
        ("add a figure", "figure", figure, ""),
    ]
    return [
        (words, _draft(source, problem, words, {"kind": kind, "value": value, "was": now}, shown))
        for words, kind, value, now in drafts
    ]


def draft_choice(
    source: str, problem: Problem, label: str, text: str, shown: Shown | None = None
) -> str:
    """Return the correction of one choice; `shown` is its box."""
    value = {"label": label, "text": text}
    change: Mapping[str, object] = {"kind": "choice", "value": value, "was": _describe(text)}
    return _draft(source, problem, f"choice {label}", change, shown)


def draft_figure(source: str, problem: Problem, image: int, figure: Figure) -> str:
    """Return the correction of a figure's box."""
    box = _round(figure.bbox) if figure.bbox else []
    value = {"image": image, "page": figure.page or problem.pages[0], "box": box}
    change: Mapping[str, object] = {
        "kind": "figure",
        "value": value,
        "was": describe_figure(figure),
    }
    return _draft(source, problem, f"figure IMAGE{image}", change)


def _draft(
    source: str,
    problem: Problem,
    words: str,
    change: Mapping[str, object],
    shown: Shown | None = None,
) -> str:
    number = problem.number
    title = f"Problem {number}: {words}"
    place = {"shown": {"page": shown[0], "box": _round(shown[1])}} if shown else {}
    return _write({"title": title, "paper": source, "problem": number, **change, **place})


def _describe(text: str) -> str:
    is_short = len(text) <= _LONGEST and "\n" not in text
    return text if is_short else compute_digest(text)


def _round(box: BBox) -> list[float]:
    return [round(edge, 1) for edge in box]


def _write(draft: Mapping[str, object]) -> str:
    return json.dumps(draft, ensure_ascii=False)
