"""Values for the explorer's templates: a problem, its figures and its responses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from omibench.schemas.image_marks import pair_with_pictures
from omibench.schemas.problem import Answer, Choice, Figure, Question
from omibench.stages.analyze.words import count_noun, name_outcome, name_rules
from omibench.web.pictures import link_picture

LONGEST = 20_000
"""The maximum length of a response on a page, in characters; the middle of a longer one is cut."""
LONGEST_LISTED = 120
"""The maximum length of an answer in the list of a cell, in characters."""


class Evidence(NamedTuple):
    """A figure of a problem, with its position on the page and in the source."""

    name: str
    src: str
    caption: str
    place: str
    sha256: str


class EvidencePiece(NamedTuple):
    """A run of the statement: text, and the figure that follows it."""

    text: str
    figure: Evidence | None


def evidence(question: Question, freeze: Path, page: Path) -> list[Evidence]:
    """Return the figures of a problem in order of their marks' numbers."""
    return [
        Evidence(
            f"IMAGE{index}",
            link_picture(freeze, figure.file, page) if figure.sha256 else "",
            figure.caption or "",
            place(question, figure),
            figure.sha256,
        )
        for index, figure in enumerate(question.images)
    ]


def pieces(text: str, figures: list[Evidence]) -> list[EvidencePiece]:
    """Split a text at its image marks."""
    return [EvidencePiece(*pair) for pair in pair_with_pictures(text, figures)]


def choice_view(choice: Choice, figures: list[Evidence], gold: bool) -> dict[str, Any]:
    """Return a choice: its text with marked pictures in place, then its other pictures."""
    choice_pieces = pieces(choice.text or "", figures)
    if choice.image is not None:
        choice_pieces.append(EvidencePiece("", figures[choice.image]))
    return {"label": choice.label, "pieces": choice_pieces, "gold": gold}


def place(question: Question, figure: Figure) -> str:
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


def verdict_words(row: dict[str, Any]) -> dict[str, Any]:
    """Return one verdict: the extracted answer, the score, and the reason if there is no score."""
    scored = row["outcome"] == "scored"
    right = row["verdict"] >= 0.5
    return {
        "rules": name_rules(row["rules"]),
        "version": row["version"],
        "verdict": f"{row['verdict']:g}",
        "parts": _describe_parts(row),
        "word": ("right" if right else "wrong") if scored else name_outcome(row["outcome"]),
        "style": ("right" if right else "wrong") if scored else "failed",
        "extracted": row["extracted"] or "",
        "method": row["method"],
        "judge": row["judge"] or "",
        "judge_key": row["judge_key"] or "",
        "simulated": row["judge_simulated"],
    }


def _describe_parts(row: dict[str, Any]) -> str:
    """Return the rest of a verdict: its credit, its strict value, or eq. 6's ratio."""
    for name in ("credit", "strict", "ratio"):
        if row[name] not in (None, row["verdict"]):
            return f"{name} {row[name]:.2g}"
    return ""
