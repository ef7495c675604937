"""Calibration sets from settled work (OMIBench, A.3.2)."""

from __future__ import annotations

import pytest

from omibench.errors import ParamsError
from omibench.params.review import CalibrationParams
from omibench.review.calibration import measure_calibration
from omibench.review.sampling.calibration_sets import CalibrationPlan, draw_calibration
from review.builders import GOOD, decide
from review.sampling.test_weekly import settle_items


def test_results_of_settled_tasks_are_gold() -> None:
    tasks, decisions = settle_items(40)
    drawn = draw_calibration(tasks, decisions, CalibrationPlan("item", items=30))
    assert len(drawn) == 30
    assert all(task.gold == GOOD and task.purpose == "calibration" for task in drawn)
    assert all(task.id == f"{task.of}@calibration" for task in drawn)
    again = draw_calibration([*tasks, *drawn], decisions, CalibrationPlan("item", items=30))
    assert again == []
    answers = [decide(500 + i, "new", "annotator", task) for i, task in enumerate(drawn)]
    (result,) = measure_calibration(drawn, answers, CalibrationParams())
    assert (result.person, result.status, result.set_name) == ("new", "passed", "calibration")


def test_too_little_settled_work_is_refused() -> None:
    with pytest.raises(ParamsError, match="only 5 'item' tasks are settled"):
        draw_calibration(*settle_items(5), CalibrationPlan("item", items=30))
