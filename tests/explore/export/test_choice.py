"""What is exported: ids, files of ids, addresses of the explorer."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from omibench.errors import MissingInputError, ParamsError
from omibench.explore import export as choice
from omibench.explore.export import choose_items
from omibench.explore.selection import ItemQuery, Study
from omibench.params.setting import Cell

ALL = ItemQuery()


def test_ids_are_exported_in_their_order_with_all_cells(explored: Study) -> None:
    first, second, *_ = explored.items.ids
    chosen = choose_items(explored, [second, first, second], ALL)
    assert chosen.ids == (second, first)
    assert explored.run is not None
    assert chosen.cells == explored.run.cells
    assert chosen.rules == explored.run.main_rules


def test_a_file_names_an_item_a_line(explored: Study, tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text("\n".join(["", explored.items.ids[3], f"  {explored.items.ids[1]} ", ""]))
    assert choose_items(explored, [str(path)], ALL).ids == (
        explored.items.ids[3], explored.items.ids[1],
    )  # fmt: skip
    path.write_text(f"{explored.items.ids[3]}\nnobody\n")
    with pytest.raises(MissingInputError, match=r"ids\.txt: item 'nobody' not found"):
        choose_items(explored, [str(path)], ALL)


@pytest.mark.parametrize("start", ["http://localhost:8766/?", "/?", "?", ""])
def test_an_address_of_the_grid_is_its_filter(explored: Study, start: str) -> None:
    query = ItemQuery(facets={"subject": ("physics",)}, order="hardest", models=("sim-weak",))
    chosen = choose_items(explored, [start + query.to_address() + "&offset=2&limit=1"], ALL)
    assert list(chosen.ids) == explored.select(query).ids
    assert {cell.model for cell in chosen.cells} == {"sim-weak"}


def test_an_address_of_an_item_is_the_item_with_its_columns(explored: Study) -> None:
    name = explored.items.ids[0]
    address = f"/items/{quote(name, safe='')}?cells=sim-weak%2Fcot&is.subject=physics&rules=robust"
    chosen = choose_items(explored, [address], ALL)
    assert (chosen.ids, chosen.cells) == ((name,), (Cell("sim-weak", "cot"),))
    assert chosen.rules == "robust"


def test_models_and_settings_are_chosen_for_all_of_them(explored: Study) -> None:
    only = ItemQuery(models=("sim-strong",), settings=("cot", "direct"))
    chosen = choose_items(explored, [explored.items.ids[0], "?is.subject=physics"], only)
    assert chosen.cells == (Cell("sim-strong", "cot"), Cell("sim-strong", "direct"))


def test_items_without_a_run_have_no_cells(explored: Study) -> None:
    chosen = choose_items(Study(explored.items), [explored.items.ids[0]], ALL)
    assert (chosen.cells, chosen.rules) == ((), None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nobody", "item 'nobody' not found.*a file of ids, or an address"),
        ("x" * 5_000, "' not found"),
        ("/items/nobody", "item 'nobody' not found"),
        ("?search=qxzqxz", "no item matches"),
    ],
)
def test_a_text_without_items_is_one_line(explored: Study, text: str, message: str) -> None:
    with pytest.raises(MissingInputError, match=message):
        choose_items(explored, [text], ALL)


def test_an_address_of_another_study_is_refused(explored: Study) -> None:
    with pytest.raises(ParamsError, match="nobody/cot is not in the run"):
        choose_items(explored, [f"/items/{explored.items.ids[0]}?cells=nobody/cot"], ALL)
    with pytest.raises(ParamsError, match="unknown part of the address"):
        choose_items(explored, ["?colour=red"], ALL)


def test_what_is_too_much_is_refused(explored: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "MOST_RESPONSES", 100)
    with pytest.raises(ParamsError, match="252 responses; the limit is 100"):
        choose_items(explored, ["?"], ALL)
    monkeypatch.setattr(choice, "MOST_ITEMS", 20)
    with pytest.raises(ParamsError, match="28 items; the limit is 20"):
        choose_items(explored, ["?"], ALL)
