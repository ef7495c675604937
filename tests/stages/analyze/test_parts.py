"""Every built-in section and figure stands in one part of the report."""

from __future__ import annotations

from markupsafe import Markup

from omibench.plugins.built_in import built_in_parts
from omibench.stages.analyze.page_order import PARTS, ReportCard, sort_cards


def card(name: str) -> ReportCard:
    return ReportCard(name, name.title(), Markup(f"<p>{name}</p>"))


def test_every_built_in_card_has_one_place() -> None:
    named = [name for part in PARTS for name in part.cards]
    assert len(named) == len(set(named))
    assert {*built_in_parts("sections"), *built_in_parts("figures")} <= set(named)


def test_cards_stand_in_the_readers_order_and_others_in_a_part_of_their_own() -> None:
    parts = sort_cards([card("provenance"), card("mine"), card("accuracy"), card("main")])
    assert [(part.name, [card.name for card in cards]) for part, cards in parts] == [
        ("leaderboard", ["main", "accuracy"]),
        ("more", ["mine"]),
        ("provenance", ["provenance"]),
    ]
