"""Page of the rejected problems, with their pictures, which opens from disk.

It loads scripts, from an adjacent folder, only if a problem has formulas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.latex import find_formulas
from omibench.schemas.image_marks import pair_with_pictures
from omibench.schemas.problem import Problem
from omibench.schemas.rejects import Reject
from omibench.schemas.tables import write_text
from omibench.web.formulas import FORMULAS_POLICY, write_formula_files
from omibench.web.pictures import link_picture
from omibench.web.policy import PAGE_POLICY
from omibench.web.templates import render_page


class RejectFigure(NamedTuple):
    """A picture of a problem: its mark, its address relative to the page, its caption."""

    name: str
    src: str
    caption: str


class RejectPiece(NamedTuple):
    """A run of text, and the picture after it."""

    text: str
    figure: RejectFigure | None


class RejectChoice(NamedTuple):
    """A choice: its letter, and its text with pictures."""

    label: str
    pieces: list[RejectPiece]


class RejectCard(NamedTuple):
    """A rejected problem on the page."""

    problem: Problem
    findings: list[tuple[str, str]]
    pieces: list[RejectPiece]
    choices: list[RejectChoice]
    unmarked: list[RejectFigure]
    """Pictures without a position in the text."""


class ReasonGroup(NamedTuple):
    """The problems with this first reason, and the number of all problems with it."""

    reason: str
    cards: list[RejectCard]
    in_all: int


def write_rejects(
    path: Path, rejected: Sequence[tuple[Problem, Reject]], folder: Path, summary: str
) -> None:
    """Write the page, and next to it the folder `formulas` if a problem has any.

    Args:
        path: The file of the page.
        rejected: Problems with their reasons.
        folder: The base folder of picture paths.
        summary: A sentence above them.
    """
    cards = [(reject.reason, _card(problem, reject, folder, path)) for problem, reject in rejected]
    counts = Counter(reason for _, reject in rejected for reason in reject.reasons)
    groups = [
        ReasonGroup(reason, [card for first, card in cards if first == reason], count)
        for reason, count in counts.most_common()
    ]
    has_formulas = any(_has_formulas(problem) for problem, _ in rejected)
    if has_formulas:
        write_formula_files(path.parent / "formulas")
    page = render_page(
        "omibench.stages.filter",
        "rejects.html.j2",
        csp=FORMULAS_POLICY if has_formulas else PAGE_POLICY,
        summary=summary,
        groups=groups,
        has_formulas=has_formulas,
    )
    write_text(path, page)


def _has_formulas(problem: Problem) -> bool:
    texts = [problem.question, *(problem.answer or [])]
    texts += [choice.text or "" for choice in problem.choices or []]
    return any(find_formulas(text) for text in texts)


def _card(problem: Problem, reject: Reject, folder: Path, page: Path) -> RejectCard:
    figures = [
        RejectFigure(f"IMAGE{k}", link_picture(folder, figure.file, page), figure.caption or "")
        for k, figure in enumerate(problem.images)
    ]
    pieces = _pieces(problem.question, figures)
    choices = []
    for choice in problem.choices or []:
        choice_pieces = _pieces(choice.text or "", figures)
        if choice.image is not None:
            choice_pieces.append(RejectPiece("", figures[choice.image]))
        choices.append(RejectChoice(choice.label, choice_pieces))
    placed = {piece.figure for piece in [*pieces, *(p for c in choices for p in c.pieces)]}
    return RejectCard(
        problem=problem,
        findings=list(zip(reject.reasons, reject.evidences, strict=True)),
        pieces=pieces,
        choices=choices,
        unmarked=[figure for figure in figures if figure not in placed],
    )


def _pieces(text: str, figures: Sequence[RejectFigure]) -> list[RejectPiece]:
    """Split a text at its picture marks, without trailing blanks."""
    pieces = [RejectPiece(*pair) for pair in pair_with_pictures(text, figures)]
    return pieces if pieces[-1].text.strip() else pieces[:-1]
