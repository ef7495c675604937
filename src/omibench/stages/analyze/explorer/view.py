"""Words on the pages of items and cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from omibench.schemas.problem import Answer, Figure, Question
from omibench.schemas.verdict import RIGHT
from omibench.stages.analyze.words import count_noun, name_outcome, name_rules

LONGEST: Final = 20_000
"""The maximum length of a response on a page, in characters; the middle of a longer one is cut."""
LONGEST_LISTED: Final = 120
"""The maximum length of an answer in the list of a cell, in characters."""
PARTS: Final = ("credit", "strict", "ratio")
"""Columns of VerdictRow that can differ from the verdict itself."""


def describe_place(question: Question, figure: Figure) -> str:
    """Return a figure's source: 'papers/physics.pdf, page 3, box 72.0, 90.5 to 232.5, 190.5 pt';
    empty when unknown."""
    words = [question.source] if question.source else []
    if figure.page is not None:
        words.append(f"page {figure.page}")
    if figure.bbox is not None:
        x0, y0, x1, y1 = figure.bbox
        words.append(f"box {x0:.1f}, {y0:.1f} to {x1:.1f}, {y1:.1f} pt")
    return ", ".join(words)


def shorten_response(text: str) -> str:
    """Return a response for display: whole, or its two ends with a note on the cut."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n\n[… {left_out:,} characters omitted …]\n\n{text[-half:]}"


def clip_answer(text: str) -> str:
    """Return an extracted answer for a list; the problem's page shows all of it."""
    return text if len(text) <= LONGEST_LISTED else f"{text[: LONGEST_LISTED - 1].rstrip()}…"


def natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts physics-2 before physics-10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def image_words(question: Question, answer: Answer) -> str:
    """Return '2 images', or '2 images, pictures not included' if the dataset lacks files."""
    pictures_held = len(question.images) >= answer.n_images
    return count_noun(answer.n_images, "image") + (
        "" if pictures_held else ", pictures not included"
    )


def describe_verdict(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return one verdict: the extracted answer, the score, or the reason that it has none.

    Args:
        row: A VerdictRow; `judge_simulated` states whether its judge was, and `calibration` is a
            note on the judge.
    """
    scored = row["outcome"] == "scored"
    word = "right" if row["verdict"] >= RIGHT else "wrong"
    return {
        "rules": row["rules"],
        "title": name_rules(row["rules"]),
        "version": row["version"],
        "verdict": row["verdict"],
        "parts": _describe_parts(row) if scored else "",
        "word": word if scored else name_outcome(row["outcome"]),
        "scored": scored,
        "extracted": row["extracted"] or "",
        "method": row["method"],
        "judge": row["judge"] or "",
        "judge_key": row["judge_key"] or "",
        "judge_simulated": bool(row["judge"] and row.get("judge_simulated", row["simulated"])),
        "calibration": row.get("calibration", ""),
    }


def _describe_parts(row: Mapping[str, Any]) -> str:
    """Return the rest of a verdict: its credit, its strict value, or eq. 6's ratio."""
    for name in PARTS:
        if row[name] not in (None, row["verdict"]):
            return f"{name} {row[name]:.3g}"
    return ""
