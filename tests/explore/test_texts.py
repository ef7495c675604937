"""The index of a large run gives what its files give, and is never out of date."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from omibench.explore.index import CellReader, Index, locate_index
from omibench.explore.run import open_run, read_items
from omibench.explore.search import build_index, find_texts
from omibench.explore.selection import ItemQuery, Study
from omibench.schemas.tables import ResponseRow, read_parquet, write_frame

WORDS = ("klotz", "answer", "(", "zzz nowhere", "é")


@pytest.fixture
def folder(results: Path, tmp_path: Path) -> Path:
    """A copy of the results."""
    for stage in ("freeze", "infer", "score"):
        shutil.copytree(results / stage, tmp_path / "results" / stage)
    return tmp_path / "results"


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
    import polars as pl

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
