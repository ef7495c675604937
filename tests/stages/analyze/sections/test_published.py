"""The card on printed results: which words it finds for cells that are simulated, or are not."""

from __future__ import annotations

from omibench.params.cell import Cell
from omibench.stages.analyze.sections.published import describe_comparisons
from omibench.stages.analyze.tables.published import PrintedComparison

REAL = PrintedComparison(Cell("a", "cot"), "total", "acc", "emma", 35.0, 28.0, 100, False)
SAME, STAND_IN = REAL._replace(measured=35.0), REAL._replace(simulated=True)


def test_real_responses_are_held_against_print() -> None:
    assert describe_comparisons([REAL, SAME]) == (
        "Of 2 printed cells with complete responses, 1 follow from the responses (emma), "
        "1 cannot be reproduced."
    )
    assert describe_comparisons([SAME]).endswith("(emma), and none differs.")
    assert describe_comparisons([]).startswith("No printed cell belongs to")


def test_a_rehearsal_is_not_called_irreproducible() -> None:
    said = describe_comparisons([STAND_IN] * 300)
    assert said.startswith("differences.csv lists SIMULATED values for 300 printed cells")
    assert "they are not compared" in said
    assert "reproduced" not in said


def test_a_study_of_both_kinds_says_both() -> None:
    said = describe_comparisons([REAL, STAND_IN])
    assert "Of 1 printed cell with complete responses" in said
    assert "differences.csv lists SIMULATED values for 1 printed cell;" in said
