"""Shares by replay are those that scoring every mixed run from scratch gives."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.run_comparison.runs import NAMES, MadeRun

from omibench.run_comparison.compare import compare_run_folders
from omibench.schemas.verdict import ScoredItem
from omibench.scorers.registry import score_item

COMPONENTS = ("gold", "rules", "responses")
GOLDS = st.lists(st.sampled_from(["0.5 m", "50 cm", "7 m"]), min_size=3, max_size=3)
TEXTS = st.lists(
    st.sampled_from([r"\boxed{0.5 m}", r"\boxed{50 cm}", r"\boxed{7 m}"]),
    min_size=3, max_size=3,
)  # fmt: skip
RULES = st.sampled_from(["robust", "emma"])


def score_mixed(text: str, gold: str, rules: str) -> float:
    item = ScoredItem(
        id="x", prediction=text, gold=[gold], answer_type="open", finish_reason="stop"
    )
    return score_item(item, rules).verdict


def average_by_hand(runs: list[dict[str, str]]) -> dict[str, float]:
    """The shares of one problem: every order of switching, each step scored from scratch."""
    shares = dict.fromkeys(COMPONENTS, 0.0)
    orders = list(permutations(COMPONENTS))
    for order in orders:
        mixed = dict(runs[0])
        for component in order:
            before = score_mixed(mixed["responses"], mixed["gold"], mixed["rules"])
            mixed[component] = runs[1][component]
            after = score_mixed(mixed["responses"], mixed["gold"], mixed["rules"])
            shares[component] += (after - before) / len(orders)
    return shares


@hypothesis_settings(max_examples=15)
@given(st.tuples(GOLDS, GOLDS), st.tuples(TEXTS, TEXTS), st.tuples(RULES, RULES))
def test_shares_are_those_of_every_order_scored_from_scratch(
    golds: tuple[list[str], list[str]],
    texts: tuple[list[str], list[str]],
    rules: tuple[str, str],
) -> None:
    with TemporaryDirectory() as folder:
        folders = [
            MadeRun(
                golds=dict(zip(NAMES, golds[side], strict=False)),
                cells={"m/cot": {n: [t] for n, t in zip(NAMES, texts[side], strict=False)}},
                rules=(rules[side],), revision=str(side),
            ).write(Path(folder, str(side)))
            for side in (0, 1)
        ]  # fmt: skip
        comparison = compare_run_folders(*folders)
    expected = dict.fromkeys(COMPONENTS, 0.0)
    for number in range(3):
        runs = [
            {"gold": golds[s][number], "rules": rules[s], "responses": texts[s][number]}
            for s in (0, 1)
        ]
        for component, share in average_by_hand(runs).items():
            expected[component] += share / 3
    shares = {share.name: share.share for share in comparison.total.shares}
    assert shares.keys() <= expected.keys()
    assert {name: shares.get(name, 0.0) for name in expected} == pytest.approx(expected, abs=1e-9)
    assert sum(shares.values()) == pytest.approx(comparison.total.difference, abs=1e-12)
