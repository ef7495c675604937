"""Keys of coding problems: the code that is shown is run, and its chart compared."""

from __future__ import annotations

import io
import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from PIL import Image

from generators.conftest import Make
from omibench.datasets.generators.make import MadeProblem
from omibench.extras import has_extra

pytestmark = pytest.mark.skipif(not has_extra("coding"), reason="needs the extra coding")
DIFFICULTIES = pytest.mark.parametrize(
    "difficulty",
    [pytest.param(1, marks=pytest.mark.slow), 3, pytest.param(5, marks=pytest.mark.slow)],
)
LEAST_PIXELS = 20
"""Pixels in which two charts differ at least."""


def run_code(code: str) -> np.ndarray:
    """The chart of a program of ours."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.use("agg")
        scope: dict[str, Any] = {}
        exec(code, scope)
        file = io.BytesIO()
        scope["fig"].savefig(file, format="png")
        plt.close("all")
    return read(file.getvalue())


def read(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def get_code(text: str) -> str:
    found = re.search(r"```python\n(.+?)\n```", text, re.S)
    assert found
    return found[1]


def differ(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape != b.shape or ((abs(a - b).max(-1) > 40).sum() >= LEAST_PIXELS)


def list_texts(problem: MadeProblem) -> dict[str, str]:
    return {choice.label: choice.text or "" for choice in problem.choices or []}


@DIFFICULTIES
def test_only_the_right_code_draws_the_chart(make: Make, difficulty: int) -> None:
    for problem in make("coding", "choose_code", 4, difficulty=difficulty):
        target = read(problem.pictures[0].draw())
        charts = {k: run_code(get_code(text)) for k, text in list_texts(problem).items()}
        assert (charts.pop(problem.answer[0]) == target).all()
        assert all(differ(chart, target) for chart in charts.values())


@pytest.mark.slow
@DIFFICULTIES
def test_only_the_right_chart_is_that_of_the_code(make: Make, difficulty: int) -> None:
    for problem in make("coding", "choose_chart", 4, difficulty=difficulty):
        target = run_code(get_code(problem.draft.question))
        charts = {
            choice.label: read(problem.pictures[choice.image or 0].draw())
            for choice in problem.choices or []
        }
        assert all(differ(a, b) for a, b in combinations(charts.values(), 2))
        assert (charts[problem.answer[0]] == target).all()


@DIFFICULTIES
@pytest.mark.parametrize(
    "template", ["modify", pytest.param("modify_with_original", marks=pytest.mark.slow)]
)
def test_only_the_right_change_gives_the_chart(make: Make, template: str, difficulty: int) -> None:
    for problem in make("coding", template, 3, difficulty=difficulty):
        code = get_code(problem.draft.question)
        *originals, target = [read(drawing.draw()) for drawing in problem.pictures]
        assert len(originals) == (template != "modify")
        assert all((run_code(code) == original).all() for original in originals)
        for label, text in list_texts(problem).items():
            change = re.fullmatch(r"replace `(.+)` by `(.+)`", text)
            assert change
            assert code.count(change[1]) == 1
            chart = run_code(code.replace(change[1], change[2]))
            assert differ(chart, target) == (label != problem.answer[0])


def test_variants_change_fewer_properties_at_higher_difficulty(make: Make) -> None:
    def count(difficulty: int) -> int:
        texts = [p.draft.solution for p in make("coding", "modify", 20, difficulty=difficulty)]
        lists = {len(text.split(";")[0].split(", ")) for text in texts}
        assert len(lists) == 1
        return lists.pop()

    assert [count(difficulty) for difficulty in (1, 3, 5)] == [4, 2, 1]


@pytest.mark.slow
def test_all_choices_look_different(make: Make) -> None:
    for difficulty in (1, 3, 5):
        for problem in make("coding", "choose_chart", 12, seed=2, difficulty=difficulty):
            charts = [read(drawing.draw()) for drawing in problem.pictures]
            assert all(differ(a, b) for a, b in combinations(charts, 2)), problem.draft.solution
