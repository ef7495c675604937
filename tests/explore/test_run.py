"""Items, responses and verdicts of a run, and what of them a query selects."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.explore.index import CellReader, Index, locate_index
from omibench.explore.item import CellItems, check_cells, list_outcomes
from omibench.explore.query import ItemQuery
from omibench.explore.run import JUDGE_RULES, Run, open_run, read_items
from omibench.explore.search import build_index, find_texts
from omibench.explore.selection import Study
from omibench.params.setting import Cell
from omibench.results.study_files import StudyFiles
from omibench.schemas.tables import ResponseRow, read_parquet, write_frame


def test_it_reads_every_cell_without_texts(results: Path) -> None:
    run = open_run(results)
    assert len(run.cells) == 9
    assert run.cells[0] == Cell("sim-middle", "cot")
    assert "text" not in run.responses.columns
    assert run.rules[-1] == JUDGE_RULES
    assert not any("/" in rules for rules in run.rules)
    assert run.is_simulated


def test_a_folder_without_results_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"freeze/questions\.jsonl not found"):
        open_run(tmp_path)


def test_what_is_being_written_is_shown_as_far_as_it_is(folder: Path) -> None:
    (folder / "score/sim-weak/cot.parquet").unlink()
    (folder / "infer/sim-weak/direct.parquet").write_bytes(b"PAR1 not yet")
    run = open_run(folder)
    assert Cell("sim-weak", "cot") in run.cells
    assert Cell("sim-weak", "direct") not in run.cells
    assert run.verdicts.filter(model="sim-weak", setting="cot").is_empty()
    assert len(run.unreadable) == 1
    assert "direct.parquet" in run.unreadable[0]
    shutil.rmtree(folder / "infer")
    shutil.rmtree(folder / "score")
    assert open_run(folder).cells == ()


def test_without_a_readable_cell_it_says_why(folder: Path) -> None:
    for path in folder.glob("infer/*/*.parquet"):
        path.write_bytes(b"nothing")
    with pytest.raises(FileFormatError, match="parquet"):
        open_run(folder)


def test_labels_name_models_and_settings(results: Path) -> None:
    run = open_run(results, {"sim-weak": "Weak"})
    assert (run.label("sim-weak"), run.label("cot")) == ("Weak", "cot")
    assert isinstance(run.responses, pl.DataFrame)


def test_cells_stand_in_the_order_of_the_study(results: Path) -> None:
    run = open_run(results, order=["sim-weak", "sim-strong", "direct"])
    models = [cell.model for cell in run.cells]
    assert list(dict.fromkeys(models)) == ["sim-weak", "sim-strong", "sim-middle"]
    settings = [cell.setting for cell in run.cells]
    assert settings[:3] == ["direct", "cot", "first-image"]
    assert models == sorted(models, key=["sim-weak", "sim-strong", "sim-middle"].index)


# One item, and the responses of chosen cells side by side.


@pytest.fixture
def run(explored: Study) -> Run:
    assert explored.run is not None
    return explored.run


def describe(run: Run, name: str, cell: Cell) -> Any:
    return CellItems(run, cell, [name]).describe(name, lambda _: None, lambda *_: None)


def test_every_cell_has_a_line(explored: Study, run: Run) -> None:
    name = explored.items.ids[0]
    lines = list_outcomes(explored, name, run.rules[0])
    assert [(line["model"], line["setting"]) for line in lines] == list(run.cells)
    rows = run.verdicts.filter(id=name, rules=run.rules[0], model="sim-weak", setting="cot")
    line = next(x for x in lines if (x["model"], x["setting"]) == ("sim-weak", "cot"))
    assert line["verdict"] == rows["verdict"].mean()
    assert line["simulated"]
    tokens = run.responses.filter(id=name, model="sim-weak", setting="cot")["output_tokens"]
    assert line["tokens"] == tokens.mean()


def test_responses_have_texts_and_every_verdict(explored: Study, run: Run) -> None:
    for cell in (Cell("sim-strong", "cot"), Cell("sim-weak", "direct")):
        column = describe(run, explored.items.ids[0], cell)
        assert (column["model"], column["setting"]) == cell
        (sample,) = column["samples"]
        assert isinstance(sample["text"], str)
        assert {v["rules"] for v in sample["verdicts"]} >= set(run.rules)
        assert all(v["word"] in ("right", "wrong") or not v["scored"] for v in sample["verdicts"])


def test_at_most_four_cells_stand_side_by_side(run: Run) -> None:
    check_cells(run, run.cells[:4])
    with pytest.raises(ParamsError, match="at most 4 side by side"):
        check_cells(run, run.cells[:5])
    with pytest.raises(ParamsError, match="nobody/cot is not in the run"):
        check_cells(run, [Cell("nobody", "cot")])


def test_a_cell_without_files_has_no_responses(explored: Study, run: Run) -> None:
    lonely = Run(StudyFiles(Path("nowhere")), "x", run.cells, run.responses, run.verdicts)
    assert describe(lonely, explored.items.ids[0], run.cells[0])["samples"] == []


# The index of a large run gives what its files give, and is never out of date.


WORDS = ("klotz", "answer", "(", "zzz nowhere", "é")


def test_an_indexed_run_is_read_and_searched_like_its_files(folder: Path, tmp_path: Path) -> None:
    index, reader = Index(tmp_path / "index"), CellReader()
    plain = open_run(folder, reader=reader)
    build_index(plain, reader, index)
    assert len(list(index.folder.iterdir())) == 9
    assert index.measure() > 0
    indexed = open_run(folder, reader=CellReader(index))
    assert indexed.cells == plain.cells
    assert indexed.responses.equals(plain.responses)
    assert indexed.verdicts.equals(plain.verdicts)
    for text in WORDS:
        assert find_texts(indexed, text, index) == find_texts(plain, text)
    query = ItemQuery(search="Klotz", fields=("response",))
    items = read_items(folder / "freeze")
    assert (
        Study(items, indexed, None, index).select(query).ids
        == Study(items, plain).select(query).ids
    )


def test_a_cell_that_changes_leaves_the_index(folder: Path, tmp_path: Path) -> None:
    index, reader = Index(tmp_path / "index"), CellReader()
    run = open_run(folder, reader=reader)
    build_index(run, reader, index)
    path = folder / "infer" / "sim-weak" / "cot.parquet"
    rows = read_parquet(path, ResponseRow)
    name = rows["id"][0]
    write_frame(path, rows.with_columns(text=pl.lit("a word of its own")), ResponseRow)
    reader = CellReader(index)
    renewed = open_run(folder, reader=reader)
    assert name in find_texts(renewed, "a word of its own", index)
    before = set(index.folder.iterdir())
    build_index(renewed, reader, index)
    after = set(index.folder.iterdir())
    assert len(after) == len(before)
    assert len(after - before) == 2
    assert name in find_texts(renewed, "a word of its own", index)


def test_a_part_that_is_broken_is_as_none(folder: Path, tmp_path: Path) -> None:
    index, reader = Index(tmp_path / "index"), CellReader()
    run = open_run(folder, reader=reader)
    build_index(run, reader, index)
    for path in index.folder.glob("infer-*"):
        path.write_bytes(b"ARROW1 not")
    assert open_run(folder, reader=CellReader(index)).responses.equals(run.responses)


def test_a_cell_that_is_as_before_is_read_once(folder: Path) -> None:
    reader = CellReader()
    first = open_run(folder, reader=reader)
    shutil.rmtree(folder / "score" / "sim-weak")
    second = open_run(folder, reader=reader)
    assert second.verdicts.filter(model="sim-weak").is_empty()
    assert second.responses.equals(first.responses)
    parts = dict(reader.list_parts())
    assert sum(name.startswith("infer-") for name in parts) == 3


def test_the_index_of_results_lies_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first, second = locate_index(tmp_path / "a"), locate_index(tmp_path / "b")
    assert first != second
    assert not first.is_relative_to(tmp_path / "a")
