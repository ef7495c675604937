"""Warnings are typed in the program and text in files, either way without loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.schemas.problem import ProblemWarning, parse_warning

CODES = st.from_regex(r"[a-z_]{1,20}", fullmatch=True)
DETAILS = st.text(max_size=60) | st.sampled_from(
    ["key 3, solution 4", "x; SIMULATED (a)", "SIMULATED (a)", "y: SIMULATED (a, b)", "a: b; c"]
)
MODELS = st.lists(st.from_regex(r"[a-z0-9.-]{1,12}", fullmatch=True), max_size=3).map(tuple)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("answer_cancelled", ProblemWarning("answer_cancelled")),
        ("page_needs_ocr: 2", ProblemWarning("page_needs_ocr", "2")),
        ("rationale: SIMULATED (sim)", ProblemWarning("rationale", simulated_by=("sim",))),
        ("a_new_one: SIMULATED (a, b)", ProblemWarning("a_new_one", simulated_by=("a", "b"))),
        ("x: from es: y; SIMULATED (a)", ProblemWarning("x", "from es: y", ("a",))),
    ],
)
def test_a_warning_of_an_older_file_is_read(text: str, warning: ProblemWarning) -> None:
    assert parse_warning(text) == warning
    assert str(warning) == text


@given(code=CODES, detail=DETAILS, models=MODELS)
def test_nothing_that_is_noted_looks_simulated_and_nothing_simulated_is_lost(
    code: str, detail: str, models: tuple[str, ...]
) -> None:
    warning = ProblemWarning(code, detail, models)
    assert parse_warning(str(warning)).simulated_by == models
    assert str(parse_warning(str(warning))) == str(warning)
    assert parse_warning(str(warning)).code == code
