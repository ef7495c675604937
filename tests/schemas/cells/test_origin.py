"""A cell's file says whose it is and what it held; another's, or a changed one, is not read."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from omibench.errors import FileFormatError, UntrustedError
from omibench.schemas import cells as origin
from omibench.schemas.cells import KEY, CellOrigin, read_cell, read_origin
from omibench.schemas.tables import (
    ResponseRow,
    VerdictRow,
    list_sparse_columns,
    polars_schema,
    read_parquet,
    write_parquet,
)


@pytest.fixture(autouse=True)
def unwarned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin, "_old", set())


def responses(results: Path, model: str = "m", text: str = "A") -> Path:
    path = results / "infer" / model / "cot.parquet"
    row = ResponseRow(id="p", index=0, key=f"key of {model}", outcome="answered", text=text)
    write_parquet(path, [row], ResponseRow)
    return path


def verdicts(results: Path, model: str = "m", verdict: float = 0.0) -> Path:
    path = results / "score" / model / "cot.parquet"
    row = VerdictRow(
        id="p", index=0, key="k", rules="robust", version=1, method="letter", verdict=verdict,
        outcome="scored",
    )  # fmt: skip
    write_parquet(path, [row], VerdictRow)
    return path


def rewrite(path: Path, frame: pl.DataFrame) -> None:
    """Write other rows, with what the file said of itself."""
    metadata = {KEY: pl.read_parquet_metadata(path)[KEY]}
    frame.write_parquet(path, metadata=metadata)


def test_a_cell_says_whose_it_is_and_its_rows_are_those_of_any_file(tmp_path: Path) -> None:
    path = responses(tmp_path)
    origin = read_origin(path)
    assert origin is not None
    assert origin[:3] == ("infer", "m", "cot")
    rows = pl.read_parquet(path)
    assert read_parquet(path, ResponseRow).select(rows.columns).equals(rows)
    sparse = list_sparse_columns(ResponseRow)
    schema = {n: kind for n, kind in polars_schema(ResponseRow).items() if n not in sparse}
    assert pl.read_parquet_schema(path) == schema
    row = ResponseRow(id="p", index=0, key="key of m", outcome="answered", text="A")
    write_parquet(tmp_path / "mine.parquet", [row], ResponseRow)
    assert read_origin(tmp_path / "mine.parquet") is None
    assert pl.read_parquet(tmp_path / "mine.parquet").equals(pl.read_parquet(path))


def test_what_a_job_says_of_its_cell_goes_before_the_path(tmp_path: Path) -> None:
    path = tmp_path / "infer" / "other" / "cot.parquet"
    write_parquet(path, [], ResponseRow, CellOrigin("infer", "m", "cot", job="abc"))
    origin = read_origin(path)
    assert origin is not None
    assert origin.job == "abc"
    with pytest.raises(UntrustedError, match="the stage infer for m under cot"):
        read_parquet(path, ResponseRow)


@pytest.mark.parametrize("columns", [None, ["text"]])
def test_two_exchanged_cells_are_refused(tmp_path: Path, columns: list[str] | None) -> None:
    one, other = responses(tmp_path, "one"), responses(tmp_path, "other")
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    for path, owner in ((one, "other"), (other, "one")):
        with pytest.raises(UntrustedError) as error:
            read_cell(path, columns)
        said = str(error.value)
        assert said.startswith(f"{path}: is the file of the stage infer for {owner} under cot")
        assert f"`snakemake --cores all --forcerun {path}`" in said
        assert "\n" not in said


def test_edited_verdicts_are_refused_also_where_size_and_time_are_as_before(
    tmp_path: Path,
) -> None:
    responses(tmp_path)
    path = verdicts(tmp_path)
    before = path.stat()
    frame = pl.read_parquet(path).with_columns(verdict=pl.lit(1.0))
    rewrite(path, frame)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    with pytest.raises(UntrustedError, match="was edited after it was made"):
        read_parquet(path, VerdictRow)


@pytest.mark.parametrize("keep", [True, False])
def test_verdicts_of_responses_that_were_edited_are_refused(tmp_path: Path, keep: bool) -> None:
    cell = responses(tmp_path)
    path = verdicts(tmp_path)
    read_parquet(path, VerdictRow)
    frame = pl.read_parquet(cell).with_columns(text=pl.lit("B"))
    rewrite(cell, frame) if keep else frame.write_parquet(cell)
    with pytest.raises(UntrustedError, match="made from other responses than those of"):
        read_parquet(path, VerdictRow)


def test_an_edit_that_drops_what_the_file_says_is_refused_beside_files_that_say_it(
    tmp_path: Path,
) -> None:
    responses(tmp_path)
    path = verdicts(tmp_path)
    pl.read_parquet(path).with_columns(verdict=pl.lit(1.0)).write_parquet(path)
    with pytest.raises(UntrustedError, match="has no stored origin, but the responses"):
        read_parquet(path, VerdictRow)
    table = pq.read_table(path)
    pq.write_table(table, path)
    with pytest.raises(UntrustedError, match="has no stored origin, but the responses"):
        read_cell(path, ["verdict"])


def test_files_of_older_versions_are_read_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for path in (responses(tmp_path), verdicts(tmp_path), responses(tmp_path, "other")):
        pl.read_parquet(path).write_parquet(path)
    with caplog.at_level(logging.WARNING):
        read_parquet(tmp_path / "infer/m/cot.parquet", ResponseRow)
        read_parquet(tmp_path / "score/m/cot.parquet", VerdictRow)
        read_parquet(tmp_path / "infer/other/cot.parquet", ResponseRow)
    assert len(caplog.messages) == 1
    assert "older version" in caplog.messages[0]


def test_verdicts_of_old_responses_are_held_against_them(tmp_path: Path) -> None:
    cell = responses(tmp_path)
    pl.read_parquet(cell).write_parquet(cell)
    path = verdicts(tmp_path)
    read_parquet(path, VerdictRow)
    pl.read_parquet(cell).with_columns(text=pl.lit("B")).write_parquet(cell)
    with pytest.raises(UntrustedError, match="made from other responses"):
        read_parquet(path, VerdictRow)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"stage": 1}', "[" * 5000])
def test_what_cannot_be_read_of_an_origin_is_one_line(tmp_path: Path, text: str) -> None:
    path = responses(tmp_path)
    pl.read_parquet(path).write_parquet(path, metadata={KEY: text})
    with pytest.raises(FileFormatError, match="its stored origin cannot be read"):
        read_parquet(path, ResponseRow)
