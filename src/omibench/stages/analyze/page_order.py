"""The parts of the report in order, each with its sections and figures.

The first card of a part is open. The others, and all cards of reference parts, are folded, so the
report is only as long as what you open.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from markupsafe import Markup


class ReportCard(NamedTuple):
    """A section or figure on the page."""

    name: str
    title: str
    html: Markup


class ReportPart(NamedTuple):
    """A part of the report.

    Attributes:
        name: End of its address.
        title: Heading.
        question: The question it answers, in one line.
        cards: Names of its sections and figures, in order.
        is_folded: Whether its first card is folded too, because the part is for reference.
    """

    name: str
    title: str
    question: str
    cards: tuple[str, ...]
    is_folded: bool = False


PARTS: Final = (
    ReportPart(
        "leaderboard",
        "Leaderboard",
        "How good is each model?",
        ("main", "stopped", "sampled", "ranks", "accuracy"),
    ),
    ReportPart(
        "settings",
        "What helps",
        "What do prompts, thinking, samples, examples and size change?",
        (
            "samples", "deltas", "dumbbell", "prompt-differences", "thinking-gains", "tuning-loss",
            "accuracy-by-k", "accuracy-by-budget", "tokens-by-budget", "accuracy-by-shots",
            "accuracy-by-parameters", "accuracy-by-active-parameters",
        ),
    ),
    ReportPart(
        "images",
        "What hurts",
        "What do more pictures, worse pictures, other pictures and longer problems change?",
        (
            "images", "drops", "real-clean", "real-clean-noise", "ocr-accuracy",
            "accuracy-by-length", "length-correlations", "accuracy-by-year", "cutoffs", "fresh",
            "saliency", "saliency-confidence", "saliency-gains", "saliency-wins", "saliency-impact",
        ),
    ),
    ReportPart(
        "certainty",
        "How certain the scores are",
        "Do scorers, judges and human labels agree?",
        ("rules", "judge", "other-judges", "disagreements", "agreement", "correlations"),
    ),
    ReportPart(
        "failures",
        "Failures",
        "Why is an answer missing or wrong?",
        (
            "failures", "items", "key-effects", "error-types", "wrong-steps", "reasoning",
            "rationale-marks",
        ),
    ),
    ReportPart("cost", "Cost", "What does accuracy cost?", ("accuracy-by-cost",)),
    ReportPart("people", "People", "How good are people?", ("people", "people-by-year")),
    ReportPart(
        "dataset",
        "Dataset",
        "What is in the dataset?",
        ("dataset-composition", "question-lengths", "questions-by-year"),
        is_folded=True,
    ),
    ReportPart(
        "print",
        "Beside print",
        "What did papers print, and is it consistent?",
        ("published", "audit"),
    ),
    ReportPart("more", "More", "What do plug-ins add?", ()),
    ReportPart(
        "provenance",
        "Tables and provenance",
        "Where does each number come from?",
        ("results", "provenance"),
        is_folded=True,
    ),
)  # fmt: skip
_MORE: Final = next(part for part in PARTS if part.name == "more")


def sort_cards(cards: Iterable[ReportCard]) -> list[tuple[ReportPart, list[ReportCard]]]:
    """Sort cards into parts; cards of plug-ins go into a separate part.

    Args:
        cards: Cards of a report, with unique names.

    Returns:
        The non-empty parts with their cards, in order.
    """
    filled: dict[ReportPart, list[ReportCard]] = {part: [] for part in PARTS}
    for card in cards:
        filled[find_part(card.name)].append(card)
    for part, own in filled.items():
        if part is not _MORE:
            own.sort(key=lambda card: part.cards.index(card.name))
    return [(part, own) for part, own in filled.items() if own]


def find_part(name: str) -> ReportPart:
    """Return the part of a section or figure.

    Args:
        name: Name of the card; cards of plug-ins are in a part for plug-ins.
    """
    return next((part for part in PARTS if name in part.cards), _MORE)
