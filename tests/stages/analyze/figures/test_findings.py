"""Sentences above figures say what the tests say, and nothing where there was none.

Without tests they count where intervals lie, and say that this is no test.
"""

from __future__ import annotations

import polars as pl
import pytest

from omibench.stages.analyze.figures import FIGURES
from omibench.stages.analyze.figures.findings import (
    compare_ends,
    count_differences,
    count_estimated_people,
    count_flags,
    count_gains,
    count_open_ranks,
    count_people_differences,
    count_sides,
    count_stars,
    count_vote_slopes,
)

ALONE = "The intervals are not corrected for their number."


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
        "Accuracy by robust over all problems: 3 of 4 differences significant after Holm's "
        "correction, 1 above zero and 2 below."
    )


def test_gptscore_is_named_as_elsewhere() -> None:
    table = differences((0.9, 0.06, False), rules="gptscore", measure="gptscore")
    assert count_differences(table) == (
        "GPTScore over all problems: none of 1 difference is significant after Holm's correction."
    )


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
    assert "1 of 1 difference significant" in (count_differences(pl.concat([first, *others])) or "")


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


def test_an_interval_that_touches_zero_is_on_no_side() -> None:
    intervals = [(0.1, 0.2), (0.0, 0.2), (-0.2, 0.0), (-0.3, -0.1), (None, 0.2), (-1.0, 1.0)]
    assert count_sides(intervals) == (1, 1, 5)


def curve(model: str, *points: tuple[int, float, float], rules: str = "robust") -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"model": model, "rules": rules, "metric": "accuracy", "slice": "", "budget": budget,
             "low": low, "high": high}
            for budget, low, high in points
        ]
    )  # fmt: skip


def test_ends_of_curves_are_compared_by_their_intervals_alone() -> None:
    find = compare_ends("budget", "largest budget", ["model"])
    table = pl.concat(
        [
            curve("rises", (4096, 0.6, 0.8), (1024, 0.2, 0.4)),
            curve("falls", (1024, 0.6, 0.8), (2048, 0.9, 1.0), (4096, 0.2, 0.4)),
            curve("overlaps", (1024, 0.1, 0.5), (4096, 0.4, 0.9)),
            curve("one point", (1024, 0.1, 0.5)),
            curve("rises", (1024, 0.9, 0.95), (4096, 0.1, 0.2), rules="emma"),
        ]
    )
    assert find(table) == (
        "At the largest budget the interval lies above that at the other end in 1 of 3 curves, and "
        "below it in 1. Overlapping intervals decide nothing."
    )
    assert find(curve("one point", (1024, 0.1, 0.5))) is None


def gains(*intervals: tuple[float, float], **columns: object) -> pl.DataFrame:
    common = {"metric": "gain", "rules": "robust", "slice": ""} | columns
    return pl.DataFrame([common | {"low": low, "high": high} for low, high in intervals])


def test_gains_are_counted_by_the_side_of_zero_on_which_their_intervals_lie() -> None:
    find = count_gains("gain", "gain", "in log P")
    table = pl.concat([gains((0.1, 0.3), (-0.1, 0.3)), gains((0.5, 0.6), rules="emma")])
    assert find(table) == f"Of 2 gains in log P, 1 has an interval above zero and 0 below. {ALONE}"
    assert find(gains((0.1, 0.2), metric="win")) is None


def test_a_share_that_cannot_fall_is_no_slope_of_votes() -> None:
    table = gains((0.1, 0.2), metric="slope", curve="pass@k")
    assert count_vote_slopes(table) is None
    assert "0 have an interval above zero and 1 below" in (
        count_vote_slopes(gains((-0.2, -0.1), metric="slope", curve="majority@k")) or ""
    )


def test_examples_are_above_none_where_the_test_has_stars() -> None:
    table = pl.DataFrame(
        {
            "rules": ["robust"] * 3,
            "value": [""] * 3,
            "p": [None, 0.01, 0.4],
            "stars": ["", "**", ""],
        },
        schema_overrides={"p": pl.Float64},
    )
    assert "1 of 2 points with examples is above no examples by Welch's one-sided test" in (
        count_stars(table) or ""
    )
    assert count_stars(table.head(1)) is None
    exams = table.with_columns(value=pl.lit("local"), stars=pl.lit(""))
    assert "0 of 2 points with examples are above no examples" in (
        count_stars(pl.concat([table, exams])) or ""
    )


def test_the_sentence_is_about_what_is_drawn() -> None:
    judged = curve("rises", (1024, 0.1, 0.2), (4096, 0.3, 0.4), rules="gptscore")
    ruled = curve("rises", (1024, 0.3, 0.4), (4096, 0.1, 0.2))
    assert "in 0 of 1 curve, and below it in 1" in (
        compare_ends("budget", "largest budget", ["model"])(pl.concat([ruled, judged])) or ""
    )


@pytest.mark.parametrize("few", [True, False])
def test_people_are_beside_models_by_intervals_of_differences(few: bool) -> None:
    votes = ((0.1, 0.2),) if few else ()
    found = count_people_differences(
        pl.concat(
            gains(*intervals, metric="difference", few_people=few, kind=kind)
            for kind, intervals in (("group", ((-0.3, -0.1), (-0.2, 0.2))), ("majority", votes))
            if intervals
        )
    )
    assert found is not None
    assert "of 2 differences, 0 have an interval above zero and 1 below" in found
    assert ("few people" in found) == few
    assert ("majority of people on each problem: 1 above zero and 0 below, of 1." in found) == few


def test_estimated_participants_are_taken_as_estimates() -> None:
    people = {"kind": "estimated people", "metric": "accuracy", "rules": "", "exam": "local",
              "year": 2020, "estimate": 0.5, "low": 0.3, "high": 0.7}  # fmt: skip
    model = people | {"kind": "model", "rules": "robust"}
    table = pl.DataFrame(
        [
            people,
            model | {"low": 0.6, "high": 0.8},
            model | {"low": 0.4, "high": 0.6},
            model | {"year": 1999, "low": 0.6, "high": 0.8},
        ]
    )
    found = count_estimated_people(table) or ""
    assert "Of 2 points of models by year, 1 has an interval above" in found
    assert "estimated from cut-offs" in found
    assert count_estimated_people(table.filter(kind="model")) is None


def test_problems_to_check_are_counted_by_the_first_scorer() -> None:
    flags = ["solved by none, suspected key", "weak yes strong no", "", None]
    table = pl.DataFrame(
        {
            "rules": ["robust"] * 4 + ["gptscore"] * 4,
            "metric": (["difficulty"] * 3 + ["ability"]) * 2,
            "guessed": [0.4, 0.3, 0.9, None] + [None] * 4,
            "flags": [*flags, "solved by none", "solved by none", "solved by all", None],
        }
    )
    assert count_flags(table) == (
        "Of 3 problems, no model solves 1, all models solve 0, and weak models but not strong ones "
        "solve 1. By robust, 1 has a suspected key: most strong models agree on another answer. "
        "Guesses would agree on 2."
    )
    assert "key" not in count_flags(table.filter(rules="gptscore"))
    assert "no model solves 2, all models solve 1, and weak models but not strong ones solve 0" in (
        count_flags(table.filter(rules="gptscore"))
    )


def test_figures_of_curves_people_and_correlations_say_what_they_show() -> None:
    for name in (
        "accuracy-by-length", "accuracy-by-parameters", "accuracy-by-k", "accuracy-by-shots",
        "length-correlations", "correlations", "saliency-confidence", "people", "people-by-year",
        "thinking-gains", "accuracy-by-cost", "items",
    ):  # fmt: skip
        assert FIGURES.get(name).finding is not None, name
