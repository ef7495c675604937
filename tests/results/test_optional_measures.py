"""Credit, ratio and strict accuracy count the same responses as accuracy does."""

from __future__ import annotations

import polars as pl

from omibench.results.slices import OPTIONAL_MEASURES, fill_measures


def make_verdicts(**columns: list[object]) -> pl.DataFrame:
    types = dict.fromkeys(("verdict", *OPTIONAL_MEASURES), pl.Float64)
    return pl.DataFrame(columns, schema_overrides=types)


def test_a_response_without_an_answer_is_wrong_by_every_measure() -> None:
    verdicts = make_verdicts(
        rules=["mathreal"] * 3,
        verdict=[1.0, 0.5, 0.0],
        credit=[1.0, 0.5, None],
        ratio=[None] * 3,
        strict=[1.0, 0.0, None],
    )
    filled = fill_measures(verdicts)
    assert filled["credit"].to_list() == [1.0, 0.5, 0.0]
    assert filled["strict"].to_list() == [1.0, 0.0, 0.0]
    assert filled["ratio"].null_count() == 3


def test_a_scorer_without_a_measure_gets_none() -> None:
    verdicts = make_verdicts(
        rules=["robust", "emma"],
        verdict=[0.0, 1.0],
        credit=[0.5, None],
        ratio=[None, None],
        strict=[None, None],
    )
    assert fill_measures(verdicts)["credit"].to_list() == [0.5, None]
