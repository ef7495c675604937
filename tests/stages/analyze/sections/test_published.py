"""The card on printed results: which words it finds for cells that are simulated, or are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omibench.papers.comparison import make_comparisons
from omibench.stages.analyze.sections.printed import describe_comparisons

REAL: dict[str, Any] = {"model": "a", "rules": "emma", "simulated": False, "differs": True}
SAME, STAND_IN = REAL | {"differs": False}, REAL | {"simulated": True, "differs": None}


def describe(rows: Sequence[dict[str, Any]]) -> str:
    return describe_comparisons(make_comparisons(rows))


def test_real_responses_are_held_against_print() -> None:
    assert describe([REAL, SAME]) == (
        "Of 2 printed cells with complete responses, 1 follow from the responses (emma), "
        "1 cannot be reproduced."
    )
    assert describe([SAME]).endswith("(emma), and none differs.")
    assert describe([]).startswith("No printed cell belongs to")


def test_a_rehearsal_is_not_called_irreproducible() -> None:
    said = describe([STAND_IN] * 300)
    assert said.startswith("differences.csv lists SIMULATED values for 300 printed cells")
    assert "they are not compared" in said
    assert "reproduced" not in said


def test_a_study_of_both_kinds_says_both() -> None:
    said = describe([REAL, STAND_IN])
    assert "Of 1 printed cell with complete responses" in said
    assert "differences.csv lists SIMULATED values for 1 printed cell;" in said
