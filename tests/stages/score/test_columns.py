from __future__ import annotations

import io
import json
import logging
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.stages.score.stage import build_scored_frame

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


def written(raw: list[dict[str, Any]], **new: list[Any]) -> pl.DataFrame:
    """The frame as it comes back from Parquet."""
    buffer = io.BytesIO()
    build_scored_frame(raw, new).write_parquet(buffer)
    return pl.read_parquet(io.BytesIO(buffer.getvalue()))


def rows(*values: object) -> list[dict[str, Any]]:
    return [{"note": value} for value in values]


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([1, "two", None], ["1", '"two"', None]),
        ([True, 2], ["true", "2"]),
        ([[1], ["a"]], ["[1]", '["a"]']),
        ([{"a": 1}, {"b": 2}], ['{"a": 1}', '{"b": 2}']),
        ([{}, {}], ["{}", "{}"]),
        ([10**30, 1], [str(10**30), "1"]),
    ],
)
def test_columns_of_mixed_types_become_json_text(values: list[Any], kept: list[Any]) -> None:
    assert written(rows(*values))["note"].to_list() == kept


@pytest.mark.parametrize(
    "values", [[1, 2.5], ["a", None], [["a"], []], [{"a": 1}, {"a": None}], [None, None], [[], []]]
)
def test_columns_of_one_type_stay_as_they_are(values: list[Any]) -> None:
    assert written(rows(*values))["note"].to_list() == values


def test_ids_of_mixed_types_become_text() -> None:
    assert written([{"id": 7}, {"id": "q8"}])["id"].to_list() == ["7", "q8"]


@given(st.lists(VALUES, max_size=5))
def test_any_values_survive(values: list[Any]) -> None:
    kept = written(rows(*values), verdict=[0.5] * len(values))
    assert len(kept) == len(values)
    for before, after in zip(values, kept["note"].to_list() if values else [], strict=True):
        assert after == before or json.loads(after) == before


def test_a_column_with_the_name_of_a_new_one_is_kept_and_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw = [{"id": "q1", "verdict": "old", "input_verdict": "older"}]
    with caplog.at_level(logging.WARNING, "omibench"):
        frame = written(raw, verdict=[1.0])
    assert frame.row(0, named=True) == {
        "id": "q1", "input_input_verdict": "old", "input_verdict": "older", "verdict": 1.0
    }  # fmt: skip
    assert caplog.messages == ["score: the input column 'verdict' is kept as 'input_input_verdict'"]
