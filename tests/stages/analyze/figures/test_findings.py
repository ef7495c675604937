"""Sentences above figures say what the tests say, and nothing where there was none."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.figures.test_differences import open_study

from omibench.stages.analyze.figures.figure import FIGURES
from omibench.stages.analyze.figures.findings import count_differences, count_open_ranks


def differences(*rows: tuple[float, float | None, bool], **columns: str) -> pl.DataFrame:
    common = {
        "metric": "difference", "slice": "", "rules": "robust", "measure": "accuracy",
        "kind": "setting",
    } | columns  # fmt: skip
    return pl.DataFrame(
        [
            common | {"estimate": estimate, "p_holm": p, "significant": significant}
            for estimate, p, significant in rows
        ],
        schema_overrides={"p_holm": pl.Float64},
    )


def test_significant_differences_are_counted_by_their_sign() -> None:
    table = differences(
        (0.2, 0.01, True), (-0.3, 0.001, True), (-0.2, 0.01, True), (0.4, 0.2, False)
    )
    assert count_differences(table) == (
        "Accuracy by robust over all items: 3 of 4 differences significant after Holm's "
        "correction, 1 above zero and 2 below."
    )


def test_gptscore_is_named_as_elsewhere() -> None:
    table = differences((0.9, 0.06, False), rules="gptscore", measure="gptscore")
    assert count_differences(table) == (
        "GPTScore over all items: none of 1 difference is significant after Holm's correction."
    )


def test_large_differences_that_are_not_significant_are_not_claimed() -> None:
    found = count_differences(differences((0.9, 0.06, False), (0.8, 0.06, False)))
    assert found is not None
    assert "none of 2 differences is significant" in found


@pytest.mark.parametrize(
    "table",
    [
        differences((0.9, None, False)),
        differences((0.9, 0.01, True), slice="subject"),
        differences((0.9, 0.01, True)).drop("p_holm"),
    ],
)
def test_nothing_is_said_where_nothing_was_tested_over_all_items(table: pl.DataFrame) -> None:
    assert count_differences(table) is None


def test_other_scorers_measures_and_kinds_do_not_count() -> None:
    first = differences((0.2, 0.01, True))
    others = [
        differences((0.2, 0.01, True), rules="emma"),
        differences((0.2, 0.01, True), measure="strict"),
        differences((0.2, 0.01, True), kind="model"),
    ]
    found = count_differences(pl.concat([first, *others]))
    assert found is not None
    assert "1 of 1 difference significant" in found


def test_open_and_settled_ranks_are_counted() -> None:
    table = pl.DataFrame(
        {
            "rules": ["robust"] * 3 + ["emma"],
            "low": [1.0, 1.0, 3.0, 1.0],
            "high": [2.0, 2.0, 3.0, 1.0],
        }
    )
    assert count_open_ranks(table) == (
        "Paired tests by robust allow the first rank for 2 of 3 cells; "
        "they determine the rank of 1."
    )
    assert count_open_ranks(table.head(1)) is None
    open_table = table.head(2)
    assert (count_open_ranks(open_table) or "").endswith("they determine the rank of none.")


@pytest.mark.parametrize("name", ["dumbbell", "deltas", "drops", "real-clean", "ranks"])
def test_figures_of_tests_have_a_finding(tmp_path: Path, name: str) -> None:
    baselines = {"settings": {"cot": "direct", "blind": "direct"}}
    analysis = open_study(tmp_path, baselines=baselines, slices=["subject"])
    figure = FIGURES.get(name)
    table = analysis.table(figure.table)
    assert figure.finding is not None
    assert table is not None
    assert figure.finding(table)
