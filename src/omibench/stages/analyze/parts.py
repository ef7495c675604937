"""The parts of the report in the reader's order, and which sections and figures stand in each.

The first card of a part is open, the others are folded under their titles, and so are all cards of
parts of reference, so that a report is as long as what a reader opens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup


class ReportCard(NamedTuple):
    """One section or figure as the page shows it."""

    name: str
    title: str
    html: Markup


class ReportPart(NamedTuple):
    """A part of the report.

    Attributes:
        name: What its address ends with.
        title: Its heading.
        question: What it answers, in one line.
        cards: Names of the sections and figures in it, in their order.
        is_folded: Whether its first card is folded, too: what is looked up, not read.
    """

    name: str
    title: str
    question: str
    cards: tuple[str, ...]
    is_folded: bool = False


class FilledPart(NamedTuple):
    """A part with its cards, of which there is at least one."""

    part: ReportPart
    cards: Sequence[ReportCard]


PARTS: Final = (
    ReportPart(
        "leaderboard", "Leaderboard", "How good is each model?", ("main", "ranks", "accuracy")
    ),
    ReportPart(
        "settings",
        "What helps",
        "What do prompts, thinking, samples, examples and size change?",
        (
            "samples", "deltas", "dumbbell", "prompt-differences", "thinking-gains",
            "accuracy-by-k", "accuracy-by-budget", "tokens-by-budget", "accuracy-by-shots",
            "accuracy-by-parameters", "accuracy-by-active-parameters",
        ),
    ),
    ReportPart(
        "images",
        "What hurts",
        "What do more pictures, worse pictures, other pictures and longer questions change?",
        (
            "images", "drops", "real-clean", "real-clean-noise", "ocr-accuracy",
            "accuracy-by-length", "length-correlations", "accuracy-by-year", "saliency",
            "saliency-confidence", "saliency-gains", "saliency-wins", "saliency-impact",
        ),
    ),
    ReportPart(
        "certainty",
        "How sure that is",
        "Do rule books, judges and people agree?",
        ("rules", "judge", "other-judges", "disagreements", "agreement", "correlations"),
    ),
    ReportPart(
        "failures",
        "Failures",
        "Why is an answer missing or wrong?",
        ("failures", "error-types", "wrong-steps", "reasoning", "rationale-marks"),
    ),
    ReportPart("cost", "Cost", "What does accuracy cost?", ("accuracy-by-cost",)),
    ReportPart("people", "People", "How good are people?", ("people", "people-by-year")),
    ReportPart(
        "dataset",
        "Dataset",
        "What is asked?",
        ("dataset-composition", "question-lengths", "questions-by-year"),
        is_folded=True,
    ),
    ReportPart(
        "print",
        "Beside print",
        "What did papers print, and does it agree with itself?",
        ("published", "audit"),
    ),
    ReportPart("more", "More", "What did plug-ins add?", ()),
    ReportPart(
        "provenance",
        "Tables and provenance",
        "Where does each number come from?",
        ("results", "provenance"),
        is_folded=True,
    ),
)  # fmt: skip
_MORE: Final = "more"


def sort_cards(cards: Iterable[ReportCard]) -> list[FilledPart]:
    """Sort cards into parts; those that none names, of plug-ins, stand in a part of their own.

    Args:
        cards: The cards of a report, each name once.

    Returns:
        The parts that have cards, in the reader's order.
    """
    by_name = {card.name: card for card in cards}
    others = [card for name, card in by_name.items() if find_part(name).name == _MORE]
    filled = [
        FilledPart(
            part,
            others
            if part.name == _MORE
            else [by_name[name] for name in part.cards if name in by_name],
        )
        for part in PARTS
    ]
    return [part for part in filled if part.cards]


def find_part(name: str) -> ReportPart:
    """Find the part in which a section or figure stands.

    Args:
        name: Its name; that of a plug-in is in a part for these.
    """
    more = next(part for part in PARTS if part.name == _MORE)
    return next((part for part in PARTS if name in part.cards), more)
