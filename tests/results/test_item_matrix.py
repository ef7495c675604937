"""Items of cells as matrices: the sums are those of grouping rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omibench.results.grouped import average_samples, estimate_groups, estimate_sums
from omibench.results.slices import (
    LabelledItems,
    arrange_items,
    average_cells,
    code_values,
    describe_labels,
)

ROWS = st.lists(
    st.tuples(
        st.sampled_from("mn"), st.integers(0, 5), st.sampled_from([0.0, 0.25, 1.0, None])
    ),
    min_size=1,
    max_size=40,
)  # fmt: skip
LABELS = {"i0": ["a"], "i1": ["a", "b"], "i2": ["b"], "i3": ["c", "a"], "i4": [], "i5": ["b"]}


@settings(deadline=None, max_examples=50)
@given(ROWS)
def test_sums_under_labels_are_those_of_groups(rows: list[tuple[str, int, float | None]]) -> None:
    frame = pl.DataFrame(
        [(cell, f"i{n}", f"c{n // 2}", value) for cell, n, value in rows],
        schema={"cell": pl.String, "id": pl.String, "cluster": pl.String, "x": pl.Float64},
        orient="row",
    )
    matrix = arrange_items(frame, ["cell"], ["x"])
    ids = matrix.items["id"].to_list()
    pairs = [(place, label) for place, name in enumerate(ids) for label in LABELS[name]]
    if not pairs:
        return
    names = sorted({label for _, label in pairs})
    labelled = LabelledItems(
        np.array([place for place, _ in pairs]),
        np.array([names.index(label) for _, label in pairs]),
    )
    clusters = code_values(matrix.items["cluster"].to_list())
    sums = describe_labels(matrix.values["x"], clusters, labelled)
    ours = estimate_sums(sums, ["_cell", "_label"], 0.95)
    long = frame.join(
        pl.DataFrame([(ids[place], label) for place, label in pairs], schema=["id", "label"],
                     orient="row"),
        on="id",
    )  # fmt: skip
    theirs = estimate_groups(
        average_samples(long, ["cell", "label"], ["x"]), ["cell", "label"], 0.95, "x"
    )
    cells = matrix.cells["cell"].to_list()
    keyed = {
        (cells[row["_cell"]], names[row["_label"]]): list(row.values())[2:]
        for row in ours.iter_rows(named=True)
    }
    expected = {(row["cell"], row["label"]): list(row.values())[2:] for row in theirs.to_dicts()}
    assert keyed.keys() == expected.keys()
    for key, values in expected.items():
        assert keyed[key] == pytest.approx(values, abs=1e-9)


def test_samples_are_averaged_and_what_is_absent_is_no_number() -> None:
    frame = pl.DataFrame(
        {
            "cell": ["m", "m", "n", "n"],
            "id": ["a", "a", "b", "a"],
            "cluster": ["1", "1", "2", "1"],
            "x": [1.0, 0.0, 1.0, None],
        }
    )
    matrix = arrange_items(frame, ["cell"], ["x"])
    np.testing.assert_equal(matrix.values["x"], [[0.5, np.nan], [np.nan, 1.0]])


def test_cells_of_a_group_count_the_same() -> None:
    matrix = np.array([[1.0, np.nan], [0.0, np.nan], [0.5, 1.0]])
    np.testing.assert_equal(
        average_cells(matrix, np.array([0, 0, 1]), 2), [[0.5, np.nan], [0.5, 1.0]]
    )
