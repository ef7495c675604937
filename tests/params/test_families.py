"""The cells that a study compares with each other."""

from __future__ import annotations

import pytest

from omibench.params.cells import choose_family
from omibench.params.setting import Cell

GRID = [Cell(model, setting) for model in "abc" for setting in ("cot", "direct")]


@pytest.mark.parametrize(("reference", "setting"), [([], "cot"), (["direct"], "direct")])
def test_models_are_compared_under_one_setting(reference: list[str], setting: str) -> None:
    family = choose_family(GRID, reference)
    assert family.setting == setting
    assert family.cells == tuple(Cell(model, setting) for model in "abc")
    assert family.pairs == 3


def test_a_setting_of_one_model_is_no_reference() -> None:
    cells = [Cell("a", "tools"), *GRID]
    assert choose_family(cells).setting == "cot"
    assert choose_family(cells, ["tools"]).setting == "cot"


def test_one_model_is_compared_with_itself_under_other_settings() -> None:
    cells = [Cell("a", setting) for setting in ("cot", "direct", "ps")]
    family = choose_family(cells, ["direct"])
    assert family.setting is None
    assert family.cells == tuple(cells)


def test_models_of_different_settings_are_compared_under_their_own() -> None:
    cells = [Cell("a", "cot"), Cell("a", "cot-warm"), Cell("b", "cot-warm"), Cell("c", "direct")]
    family = choose_family(cells, ["cot", "cot-warm", "ps"])
    assert family.cells == (Cell("a", "cot"), Cell("b", "cot-warm"))
    assert family.settings == ("cot", "cot-warm")


def test_a_single_cell_is_compared_with_nothing() -> None:
    assert choose_family([Cell("a", "cot")]).pairs == 0
    assert choose_family([]).pairs == 0
