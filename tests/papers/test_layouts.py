"""What `tables.yaml` may say, and what the parts of a table stand for."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from omibench.papers.layouts import TOTAL, ColumnGroup, TableLayout


def make_group(**keys: Any) -> ColumnGroup:
    base = {
        "dataset": "d",
        "names": "{part}",
        "metrics": {"acc": "count"},
        "parts": {"a": 3},
    }
    return ColumnGroup.model_validate(base | keys)


def test_a_part_is_a_value_of_an_attribute() -> None:
    group = make_group(slice="category", values={"a": "Plane Geometry"})
    assert group.place("a") == ("category", "Plane Geometry")
    assert group.place("b") == ("category", "b")
    assert group.place(TOTAL) == ("", "")


def test_parts_within_a_subject_are_of_two_attributes() -> None:
    group = make_group(slice="category", within={"subject": "mathematics"})
    assert group.place("a") == ("subject × category", "mathematics × a")
    assert group.place(TOTAL) == ("subject", "mathematics")


@pytest.mark.parametrize(
    "keys",
    [
        {"names": "{part:>99999999}"},
        {"names": "{part.__class__}"},
        {"names": "{other}"},
        {"names": "{part"},
        {"interval": ("{part!r}", "{part}")},
        {"deviation": "{metric}"},
    ],
)
def test_a_pattern_is_made_of_plain_names(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        make_group(**keys)


@pytest.mark.parametrize("key", ["model", "setting", "metric"])
def test_patterns_of_rows_name_columns_of_the_row(key: str) -> None:
    layout = {"source": "s", "row": ["method"], "columns": []}
    assert TableLayout.model_validate(layout | {key: "by {method}"})
    with pytest.raises(ValidationError, match=r"is not a pattern of \{method\}"):
        TableLayout.model_validate(layout | {key: "{reward}"})
