"""Slices by attributes of items, models and settings."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omibench.errors import ArgumentError
from omibench.results.attributes import NOT_STATED, AttributeTables
from omibench.results.slices import (
    CELL,
    LENGTHS,
    MEANS,
    OPTIONAL_MEASURES,
    VALUES,
    ItemMatrix,
    SlicePlan,
    arrange_items,
    arrange_outcomes,
    arrange_samples,
    average_cells,
    fill_measures,
    slice_lengths,
    slice_values,
    sort_values,
)
from omibench.results.statistics.intervals import clustered_wilson

MODELS = pl.DataFrame({"model": ["big", "small"], "family": ["sim", "sim"], "size": [30.0, 7.5]})
SETTINGS = pl.DataFrame({"setting": ["cot", "direct"], "prompt": ["cot", "direct"]})
ITEM = st.tuples(
    st.sampled_from(["local", "national", None]),
    st.lists(st.sampled_from("xyz"), max_size=3),
    st.integers(0, 9),
    st.sampled_from("123"),
)
NUMBERS = st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 4)
FIRST = (("local", ["x"], 2, "1"), (1.0, 0.0, 0.5, 1.0))
"""An item that has every attribute, so that each can be sliced by."""
DRAWN = st.lists(st.tuples(ITEM, NUMBERS), max_size=12).map(lambda drawn: [FIRST, *drawn])
FEW = settings(max_examples=15, deadline=None)
"""Each example makes several frames."""


def make_tables(items: list[tuple[str | None, list[str], int, str]]) -> AttributeTables:
    ids = [f"i{n}" for n in range(len(items))]
    exams, skills, counts, clusters = zip(*items, strict=True)
    frame = pl.DataFrame(
        {
            "id": ids,
            "cluster": list(clusters),
            "exam": pl.Series(list(exams), dtype=pl.String),
            "skills": pl.Series([labels or None for labels in skills], dtype=pl.List(pl.String)),
            "n_images": list(counts),
        }
    )
    return AttributeTables(frame, MODELS, SETTINGS)


def make_values(tables: AttributeTables, values: list[tuple[float, ...]]) -> pl.DataFrame:
    cells = [(m, s) for m in MODELS["model"] for s in SETTINGS["setting"]]
    rows = [
        (model, setting, "robust", name, cluster, numbers[place], None, None, None)
        for place, (model, setting) in enumerate(cells)
        for (name, cluster), numbers in zip(
            tables.items.select("id", "cluster").iter_rows(), values, strict=True
        )
    ]
    names = ["model", "setting", "rules", "id", "cluster", "verdict", "credit", "ratio", "strict"]
    words = dict.fromkeys(names[:5], pl.String())
    return pl.DataFrame(
        rows, schema={**words, **dict.fromkeys(names[5:], pl.Float64())}, orient="row"
    )


def arrange(values: pl.DataFrame) -> ItemMatrix:
    return arrange_items(values, VALUES, [*MEANS])


def plan(tables: AttributeTables, *by: str) -> SlicePlan:
    marks = pl.DataFrame(
        [
            (model, setting, "robust", model == "big")
            for model in MODELS["model"]
            for setting in SETTINGS["setting"]
        ],
        schema=["model", "setting", "rules", "simulated"],
        orient="row",
    )
    return SlicePlan.make(by, tables, marks, 0.95)


@FEW
@given(DRAWN)
def test_the_values_of_a_slice_add_up_to_the_whole(drawn: list[tuple[tuple, tuple]]) -> None:
    tables = make_tables([item for item, _ in drawn])
    values = make_values(tables, [numbers for _, numbers in drawn])
    for by in (("exam",), ("n_images",), ("exam", "n_images")):
        table = slice_values(arrange(values), plan(tables, *by))
        for (model, setting), part in table.group_by("model", "setting"):
            whole = values.filter(model=model, setting=setting)
            assert part["n"].sum() == whole.height
            total = (part["estimate"] * part["n"]).sum() / part["n"].sum()
            assert total == pytest.approx(whole["verdict"].mean())


@FEW
@given(DRAWN, st.randoms(use_true_random=False))
def test_a_slice_does_not_depend_on_the_order_of_rows(
    drawn: list[tuple[tuple, tuple]], rng: random.Random
) -> None:
    tables = make_tables([item for item, _ in drawn])
    values = make_values(tables, [numbers for _, numbers in drawn])
    order = list(range(values.height))
    rng.shuffle(order)
    keys = ["model", "setting", "value"]
    for by in (("skills",), ("exam", "skills"), ("family",), ("prompt", "exam")):
        first, second = (
            slice_values(arrange(rows), plan(tables, *by)).sort(keys)
            for rows in (values, values[order])
        )
        numbers = ("estimate", "low", "high", "n_eff")
        assert first.drop(numbers).equals(second.drop(numbers))
        for column in numbers:
            assert first[column].to_list() == pytest.approx(second[column].to_list())


@FEW
@given(DRAWN)
def test_each_value_is_estimated_as_its_items_alone(drawn: list[tuple[tuple, tuple]]) -> None:
    tables = make_tables([item for item, _ in drawn])
    values = make_values(tables, [numbers for _, numbers in drawn])
    for row in slice_values(arrange(values), plan(tables, "skills")).iter_rows(named=True):
        ids = {
            f"i{n}"
            for n, (item, _) in enumerate(drawn)
            if row["value"] in (item[1] or [NOT_STATED])
        }
        part = values.filter(pl.col("id").is_in(list(ids)), model=row["model"])
        part = part.filter(setting=row["setting"])
        alone = clustered_wilson(part["verdict"].to_list(), part["cluster"].to_list())
        assert (row["estimate"], row["low"], row["high"], row["n"]) == pytest.approx(alone[:4])
        assert row["cells"] == 1


@FEW
@given(DRAWN)
def test_over_models_an_item_is_the_mean_of_its_cells(drawn: list[tuple[tuple, tuple]]) -> None:
    tables = make_tables([item for item, _ in drawn])
    values = make_values(tables, [numbers for _, numbers in drawn])
    (cot, direct) = slice_values(arrange(values), plan(tables, "family")).iter_rows(named=True)
    assert (cot["model"], cot["setting"], cot["value"]) == ("", "cot", "sim")
    assert (cot["n"], cot["cells"], cot["simulated"]) == (len(drawn), 2, True)
    for row in (cot, direct):
        part = (
            values.filter(setting=row["setting"])
            .group_by("id", "cluster")
            .agg(pl.col("verdict").mean())
        )
        alone = clustered_wilson(part["verdict"].to_list(), part["cluster"].to_list())
        assert (row["estimate"], row["low"], row["high"]) == pytest.approx(alone[:3])


def test_cells_of_a_group_count_the_same_where_they_have_a_value() -> None:
    matrix = np.array([[1.0, np.nan], [0.0, np.nan], [0.5, 1.0]])
    np.testing.assert_equal(
        average_cells(matrix, np.array([0, 0, 1]), 2), [[0.5, np.nan], [0.5, 1.0]]
    )


def test_simulated_cells_mark_their_rows_alone() -> None:
    tables = make_tables([("local", [], 2, "1"), ("national", [], 3, "2")])
    values = make_values(tables, [(1.0, 0.0, 1.0, 0.0)] * 2)
    table = slice_values(arrange(values), plan(tables, "size", "exam"))
    assert table["slice"].unique().to_list() == ["size × exam"]
    assert table.filter(setting="cot").select("value", "simulated", "cells").rows() == [
        ("7.5 × local", False, 1), ("7.5 × national", False, 1),
        ("30 × local", True, 1), ("30 × national", True, 1),
    ]  # fmt: skip


def test_a_judge_s_accuracy_is_gptscore() -> None:
    tables = make_tables([("local", [], 2, "1")])
    values = make_values(tables, [(1.0,) * 4]).with_columns(rules=pl.lit("gptscore/judge"))
    assert slice_values(arrange(values), plan(tables, "exam"))["metric"].unique().to_list() == [
        "gptscore"
    ]


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (["exams"], "slice 'exams': no item, model or setting has the attribute 'exams'; "
                    "available: exam, skills, n_images, family, size, prompt"),
        ([], "slice '': give one attribute, or 2 different ones"),
        (["exam", "exam"], "slice 'exam,exam': give one attribute"),
        (["exam", "skills", "size"], "slice 'exam,skills,size': give one"),
        (["cluster"], "no item, model or setting has the attribute 'cluster'"),
    ],
)  # fmt: skip
def test_an_attribute_that_is_not_there_is_one_line(by: list[str], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        plan(make_tables([("local", ["x"], 2, "1")]), *by)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_outcomes_are_shares_of_items() -> None:
    tables = make_tables([("local", [], 2, "1"), ("local", [], 2, "2"), ("national", [], 2, "3")])
    verdicts = pl.DataFrame(
        {
            "model": ["big"] * 4,
            "setting": ["cot"] * 4,
            "rules": ["robust"] * 4,
            "id": ["i0", "i0", "i1", "i2"],
            "cluster": ["1", "1", "2", "3"],
            "outcome": ["refused", "scored", "scored", "truncated"],
        }
    )
    table = slice_values(arrange_outcomes(verdicts), plan(tables, "exam"))
    assert table.select("value", "metric", "estimate", "n").rows() == [
        ("local", "outcome-refused", 0.25, 2), ("local", "outcome-truncated", 0.0, 2),
        ("national", "outcome-refused", 0.0, 1), ("national", "outcome-truncated", 1.0, 1),
    ]  # fmt: skip
    answered = verdicts.with_columns(outcome=pl.lit("scored"))
    assert slice_values(arrange_outcomes(answered), plan(tables, "exam")).is_empty()


def test_samples_keep_their_metric_and_k() -> None:
    tables = make_tables([("local", [], 2, "1"), ("local", [], 2, "2")])
    rows = [
        ("big", "cot", "robust", name, name, metric, k, value)
        for name, value in (("i0", 1.0), ("i1", 0.0))
        for metric, k in (("pass", 1), ("pass", 4), ("consistency", 4))
    ]
    names = ["model", "setting", "rules", "id", "cluster", "metric", "k", "value"]
    samples = arrange_samples(pl.DataFrame(rows, schema=names, orient="row"))
    table = slice_values(samples, plan(tables, "exam"))
    assert table.select("metric", "estimate", "n").rows() == [
        ("pass@1", 0.5, 2), ("pass@4", 0.5, 2), ("consistency@4", 0.5, 2),
    ]  # fmt: skip


def test_lengths_leave_out_what_nobody_counted() -> None:
    tables = make_tables([("local", [], 2, "1"), ("local", [], 2, "2"), ("local", [], 2, "3")])
    responses = pl.DataFrame(
        {
            "model": ["big"] * 3,
            "setting": ["cot"] * 3,
            "id": ["i0", "i1", "i2"],
            "cluster": ["1", "2", "3"],
            "characters": [2, 4, 0],
            "output_tokens": [10, None, 30],
            "reasoning_tokens": pl.Series([None] * 3, dtype=pl.Int64),
        }
    )
    table = slice_lengths(arrange_items(responses, CELL, LENGTHS), plan(tables, "exam"))
    assert table.select("metric", "estimate", "n", "low").rows() == [
        ("characters", 2.0, 3, 0.0), ("output_tokens", 20.0, 2, 0.0),
    ]  # fmt: skip
    assert "rules" not in table.columns


def test_values_stand_in_their_natural_order() -> None:
    values = ["10", "2", "6+", NOT_STATED, "b", "a", "nan", "2 × b", "2 × a"]
    assert sort_values(values) == [
        "2", "2 × a", "2 × b", "6+", "10", "a", "b", "nan", NOT_STATED,
    ]  # fmt: skip


# Credit, ratio and strict accuracy count the same responses as accuracy does.


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
