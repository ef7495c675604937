"""Parquet files are looked at before they are unpacked."""

from __future__ import annotations

import io
import resource
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError
from omibench.files import parquet as frames
from omibench.files.parquet import (
    iter_frame,
    join_frames,
    read_footer,
    read_frame,
    read_table_rows,
)


def bomb(path: Path) -> None:
    """A few kB of Parquet that unpack to 60 MB, which are never in memory at once."""
    rows = pa.table({"a": ["y" * 1_000_000] * 5})
    with pq.ParquetWriter(path, rows.schema, compression="zstd", use_dictionary=False) as file:
        for _ in range(12):
            file.write_table(rows)


def dictionary(path: Path, store_schema: bool = True) -> None:
    """3 kB of Parquet: one value of 50,000 characters that 2,000 rows repeat."""
    codes = pa.array([0] * 2_000, pa.int32())
    rows = pa.table({"a": pa.DictionaryArray.from_arrays(codes, ["x" * 50_000])})
    pq.write_table(rows, path, store_schema=store_schema)


@pytest.mark.parametrize("make", [bomb, dictionary, partial(dictionary, store_schema=False)])
def test_a_bomb_is_refused_before_it_takes_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    assert frames._FLOOR <= 512 * 2**20
    monkeypatch.setattr(frames, "_FLOOR", 10_000_000)
    file = tmp_path / "a.parquet"
    make(file)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileFormatError, match=r"a\.parquet: unpacks to .*, but at most 10\.0 MB"):
        read_frame(file)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


@pytest.mark.parametrize("columns", ["flat", "nested"])
def test_one_picture_that_all_rows_repeat_is_a_bomb_by_rows_too(
    tmp_path: Path, columns: str
) -> None:
    codes = pa.array([0] * 2_000, pa.int32())
    pictures = pa.DictionaryArray.from_arrays(codes, [b"x" * 50_000])
    nested = pa.StructArray.from_arrays([pictures], ["bytes"])
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": pictures if columns == "flat" else nested}), path)
    assert path.stat().st_size < 100_000
    assert len(list(iter_frame(path, 64 * 50_000))) == 2_000
    with pytest.raises(FileFormatError, match=r"a\.parquet: unpacks to 3\.2 MB, but at most 3\.1"):
        list(iter_frame(path, 3_100_000))


def test_files_are_joined_in_order_if_their_columns_are_the_same(tmp_path: Path) -> None:
    one, two, other = (tmp_path / f"{name}.parquet" for name in ("one", "two", "other"))
    rows = [{"a": n, "image": {"bytes": bytes([n]), "path": None}} for n in range(200)]
    schema = {"a": pl.Int64, "image": pl.Struct({"bytes": pl.Binary, "path": pl.String})}
    pl.DataFrame(rows[:70], schema).write_parquet(one)
    pl.DataFrame(rows[70:], schema).write_parquet(two)
    join_frames([one, two], tmp_path / "all.parquet")
    assert list(iter_frame(tmp_path / "all.parquet")) == rows
    pl.DataFrame({"b": [1]}).write_parquet(other)
    with pytest.raises(FileFormatError, match=r"other\.parquet: has other columns than .*one"):
        join_frames([one, other], tmp_path / "all.parquet")
    two.write_bytes(two.read_bytes()[:40] + b"?" * 200 + two.read_bytes()[240:])
    with pytest.raises(FileFormatError, match=r"two\.parquet: is not a Parquet file"):
        join_frames([one, two], tmp_path / "all.parquet")


@pytest.mark.parametrize("value", [None, 7])
def test_a_value_repeated_is_a_bomb_as_well(value: int | None, tmp_path: Path) -> None:
    """Runs of equal or missing values state no size, and take gigabytes once they are texts."""
    path, rows = tmp_path / "runs.parquet", 1_000_000
    values = pa.nulls(rows, pa.int8()) if value is None else pa.array([value] * rows, pa.int8())
    pq.write_table(pa.table({f"c{n}": values for n in range(40)}), path)
    assert path.stat().st_size < 1e6
    for read in (read_frame, iter_frame):
        with pytest.raises(FileFormatError, match=r"unpacks to 640\.0 MB, but at most"):
            list(read(path))
    assert read_frame(path, columns=["c0"]).height == rows


def test_rows_that_cost_no_byte_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"id": ["a"] * 1_000_000, "prediction": ["A"] * 1_000_000}).write_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(FileFormatError, match=r"rows\.parquet: has 1,000,000 rows in .* kB"):
        next(read_table_rows(path))
    pl.DataFrame({"id": ["a"] * 100_000}).write_parquet(path)
    assert len(list(read_table_rows(path))) == 100_000


def test_one_long_text_that_all_rows_repeat_is_refused_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    codes = pa.array([0] * 2_000, pa.int32())
    pq.write_table(pa.table({"a": pa.DictionaryArray.from_arrays(codes, ["x" * 50_000])}), path)
    with pytest.raises(FileFormatError, match=r"unpacks to 100\.0 MB, but at most 67\.1 MB"):
        next(read_table_rows(path))


@pytest.mark.parametrize("read", [read_table_rows, iter_frame])
def test_a_time_that_python_does_not_know_names_its_column(
    tmp_path: Path, read: Callable[[Path], Iterator[object]]
) -> None:
    path = tmp_path / "times.parquet"
    far = pl.Series([0, 1_099_511_627_776_000]).cast(pl.Datetime("ms"))  # the year 36812
    pl.DataFrame({"id": ["a", "b"], "sent": far}).write_parquet(path)
    with pytest.raises(FileFormatError, match=r"times\.parquet: column 'sent': .* out of range"):
        list(read(path))


def test_a_table_is_read_whole_by_columns_and_by_rows(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None], "c": [["p", "q"], []]})
    frame.write_parquet(file)
    assert read_frame(file).equals(frame)
    assert read_frame(file, columns=["b"]).columns == ["b"]
    assert list(iter_frame(file)) == frame.to_dicts()
    with pytest.raises(FileFormatError, match=r"lacks the column 'z'; it has a, b, c"):
        read_frame(file, columns=["z"])


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 200 + b"PAR1", b"no"])
def test_what_is_no_parquet_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.parquet"
    file.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.parquet: is not a Parquet file"):
        read_frame(file)
    with pytest.raises(FileFormatError, match=r"a\.parquet: is not a Parquet file"):
        list(iter_frame(file))


def test_a_damaged_page_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pl.DataFrame({"a": [f"row {i}" for i in range(1000)]}).write_parquet(file)
    data = bytearray(file.read_bytes())
    data[4:400] = b"\xff" * 396
    file.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"a\.parquet: is not a Parquet file"):
        read_frame(file)


@pytest.mark.parametrize("rows", [0, 1, 5_000])
def test_a_file_states_what_the_library_reads_from_it(tmp_path: Path, rows: int) -> None:
    file = tmp_path / "a.parquet"
    texts = [f"row {i} é" for i in range(rows)]
    values = {"a": texts, "b": [[t, t] for t in texts], "c": [{"x": 1.5, "y": b"z"}] * rows}
    schema = {
        "a": pl.String,
        "b": pl.List(pl.String),
        "c": pl.Struct({"x": pl.Float64, "y": pl.Binary}),
    }
    pl.DataFrame(values, schema=schema).write_parquet(file, row_group_size=1_000)
    metadata = pq.read_metadata(file)
    with file.open("rb") as content:
        footer = read_footer(content)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    chunks = [group.column(i) for group in groups for i in range(group.num_columns)]
    assert footer.rows == rows
    assert footer.columns == [
        (c.path_in_schema.partition(".")[0], c.total_uncompressed_size) for c in chunks
    ]


@given(st.binary(max_size=300))
def test_no_footer_is_a_traceback(content: bytes) -> None:
    data = b"PAR1" + content + len(content).to_bytes(4, "little") + b"PAR1"
    with suppress(ValueError):
        read_footer(io.BytesIO(data))
