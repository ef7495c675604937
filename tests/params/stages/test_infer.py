"""Cells that tables print: their union, narrowed by what else is named."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.graph.job_hash import slice_study
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study

SIM = {"provider": "simulated", "oracle": "synthetic:omibench"}
VALUES: dict[str, Any] = {
    "models": dict.fromkeys(("a", "b", "c"), SIM),
    "settings": {name: {} for name in ("cot", "direct", "k16")},
}
PRINTED: dict[str, Any] = {
    "table 2": {"models": ["a", "b", "c"], "settings": ["cot"]},
    "figure 4b": [
        {"models": ["b"], "settings": ["direct", "cot"]},
        {"models": ["a"], "settings": ["k16"]},
    ],
}


def study(**infer: Any) -> Study:
    return parse_study(VALUES | {"infer": {"printed": PRINTED} | infer}, "test")


def test_cells_are_the_union_of_what_is_printed() -> None:
    assert study().cells == [
        Cell("a", "cot"), Cell("a", "k16"), Cell("b", "cot"), Cell("b", "direct"), Cell("c", "cot"),
    ]  # fmt: skip
    assert study().infer.list_printed_places("b", "cot") == ["table 2", "figure 4b"]


def test_the_lists_narrow_it() -> None:
    assert study(models=["b"]).cells == [Cell("b", "cot"), Cell("b", "direct")]
    assert study(settings=["k16"], models=["a", "b"]).cells == [Cell("a", "k16")]
    assert study(only={"b": ["direct"], "a": ["cot"]}).cells == [
        Cell("a", "cot"), Cell("b", "direct"), Cell("c", "cot"),
    ]  # fmt: skip


def test_a_setting_is_in_the_slice_of_its_own_cells_alone() -> None:
    changed = VALUES | {"settings": VALUES["settings"] | {"k16": {"prompt": "direct"}}}
    other = parse_study(changed | {"infer": {"printed": PRINTED}}, "test")
    moved = [
        c
        for c in study().cells
        if slice_study(study(), "infer", c) != slice_study(other, "infer", c)
    ]
    assert moved == [Cell("a", "k16")]


def test_a_misspelt_name_is_told_with_its_table() -> None:
    wrong = {"table 2": {"models": ["a"], "settings": ["cott"]}}
    with pytest.raises(ParamsError, match="'cott' is not defined; did you mean 'cot'"):
        study(printed=wrong)
    with pytest.raises(ParamsError, match=r"infer\.printed\.table 2"):
        study(printed={"table 2": {"models": [], "settings": ["cot"]}})


def test_a_base_is_a_model_and_active_parameters_are_part_of_all() -> None:
    tuned = {"models": VALUES["models"] | {"d": SIM | {"base": "x"}}}
    with pytest.raises(ParamsError, match=r"models\.d\.base: 'x'"):
        parse_study(VALUES | tuned | {"infer": {"printed": PRINTED}}, "test")
    odd = {"models": {"d": SIM | {"parameters_b": 3.0, "active_parameters_b": 30.0}}}
    with pytest.raises(ParamsError, match="larger than parameters_b"):
        parse_study(odd, "test")


def test_what_tables_say_of_a_model_is_in_no_slice_that_asks_it() -> None:
    sized = {**SIM, "parameters_b": 8.0, "base": "b", "label": "A"}
    sized |= {"family": "Qwen3-VL", "variant": "thinking", "cutoff": date(2025, 6, 30)}
    other = VALUES | {"models": VALUES["models"] | {"a": sized}}
    found = parse_study(other | {"infer": {"printed": PRINTED}}, "test")
    cell = Cell("a", "cot")
    assert slice_study(found, "infer", cell) == slice_study(study(), "infer", cell)
