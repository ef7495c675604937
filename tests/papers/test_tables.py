"""Printed tables as they ship, as users have them, and as they cannot be read."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError, MissingInputError
from omibench.graph.stage import list_layout_files
from omibench.papers.layouts import TableLayout, guess_layout
from omibench.papers.tables import (
    PrintedCell,
    PrintedNumber,
    PrintedRow,
    make_table,
    parse_number,
    read_known_layouts,
    read_table,
)
from omibench.params.stages.analyze import LAYOUTS

TABLE = Path("t.csv")
WITHOUT_NUMBERS = {"omibench_benchmarks.csv"}
Key = tuple[str, str, str, str, str]


def index(cells: list[PrintedCell]) -> dict[Key, float]:
    return {
        (c.model, c.full_setting, c.slice, c.value, c.metric_name): c.number.value for c in cells
    }


def test_every_table_that_ships_is_read(root: Path) -> None:
    files = sorted((root / "published").glob("*.csv"))
    known = read_known_layouts(root / "published")
    assert {path.name for path in files} == {*known.beside}
    for table in (read_table(path, known) for path in files):
        keys = [
            (c.dataset, c.model, c.full_setting, c.slice, c.value, c.metric_name)
            for c in table.cells
        ]
        assert len(keys) == len(set(keys)), f"{table.file}: two values have one name"
        assert bool(keys) != (table.file in WITHOUT_NUMBERS), table.file


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        ("omibench_sft", ("Qwen3-VL-8B-Instruct + CMMCoT", "", "", "", "accuracy"), 28.86),
        (
            "omibench_external_tools",
            ("GPT-5", "+ CogFlow", "subject", "biology", "gptscore"),
            62.25,
        ),
        (
            "omibench_stability",
            ("Gemini-3-Pro-Preview", "three runs, GPT-5-mini", "", "", "accuracy"),
            34.75,
        ),
        ("omibench_judge_human_spearman", ("", "GPT-5-mini", "", "", "spearman"), 0.874),
        ("omibench_dataset", ("", "", "", "", "mean_images"), 3.07),
        ("usnco_v_proprietary", ("GPT-5", "", "exam", "national", "pass@5"), 97.4),
        ("usnco_v_open", ("Intern-S1 (241B)", "", "exam", "average", "accuracy"), 58.2),
        ("usnco_v_dataset", ("", "", "exam", "local", "last_year"), 2025),
        ("mathreal_six_settings", ("GPT-4o", "I+QG+DG", "", "", "credit"), 38.7),
        ("mathreal_six_settings", ("Gemini-2.5-pro-thinking", "", "", "", "accocr"), 94.0),
        (
            "mathreal_fill_in",
            ("o3", "I", "type × category", "FillInTheBlank × Plane Geometry", "strict"),
            43.4,
        ),
        (
            "emma_math_categories",
            ("o1", "cot", "subject", "mathematics", "accuracy"),
            41.0,
        ),
        (
            "emma_coding_tasks",
            ("GPT-4o", "direct", "subject × task", "coding × Code Choose Vis", "accuracy"),
            43.09,
        ),
        ("emma_scaling", ("GPT-4o", "Pass@N, N=16", "", "", "pass@16"), 74.0),
        (
            "emma_math_scaling",
            ("Gemini 2.0 Flash", "BoN Qwen2.5-Math-RM-72B, N=4", "subject", "mathematics",
             "accuracy"),
            28.0,
        ),
    ],
)  # fmt: skip
def test_values_stand_where_the_papers_print_them(
    root: Path, file: str, key: Key, value: float
) -> None:
    assert index(read_table(root / f"published/{file}.csv").cells)[key] == value


def test_a_table_away_from_its_layouts_is_read_by_those_that_ship(
    root: Path, tmp_path: Path
) -> None:
    shutil.copy(root / "published/usnco_v_open.csv", tmp_path)
    table = read_table(tmp_path / "usnco_v_open.csv")
    assert {cell.n for cell in table.cells} == {204, 269, 0}
    assert table.cells[0].interval


@pytest.mark.parametrize(
    "file",
    ["omibench_main", "emma_main", "usnco_v_open", "usnco_v_proprietary", "mathreal_main"],
)
def test_layouts_are_told_from_columns_as_they_are_described(root: Path, file: str) -> None:
    path = root / f"published/{file}.csv"
    described = read_table(path)
    columns = list(described.rows[0].texts)
    guessed = guess_layout(path, columns)
    assert {*guessed.list_columns()} == {*described.layout.list_columns()}
    places = {
        (group.column(part, metric), group.place(part))
        for group in described.layout.columns
        for part in group.parts
        for metric in group.metrics
    }
    assert places == {
        (group.column(part, metric), group.place(part))
        for group in guessed.columns
        for part in group.parts
        for metric in group.metrics
    }
    assert guessed.asked_as.keys() <= {""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,total_acc\nM,1\n", "the column 'model' is missing"),
        ("model,total_acc\nM,1x\n", "'1x' is not a number"),
        ("model,score\nM,1\n", "no known layout .'score'.; describe them in a tables.yaml"),
        ("model\nM\n", "no known layout"),
        ("model,{x}_a\nM,1\n", "no known layout"),
    ],
)
def test_a_table_of_unknown_layout_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "odd.csv").write_text(text, "utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        read_table(tmp_path / "odd.csv")
    assert len(caught.value.lines) == 1


def test_parts_that_are_years_are_told_from_their_names(tmp_path: Path) -> None:
    (tmp_path / "years.csv").write_text("model,1999_acc,total_acc\nM,5,6\n", "utf-8")
    cells = read_table(tmp_path / "years.csv").cells
    assert [(cell.slice, cell.value) for cell in cells] == [("year", "1999"), ("", "")]


def test_a_missing_table_gets_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"none\.csv"):
        read_table(tmp_path / "none.csv")


def test_the_layouts_beside_tables_are_known_as_files(root: Path, tmp_path: Path) -> None:
    paths = [str(root / "published/a.csv"), str(root / "published/b.csv"), str(tmp_path / "c.csv")]
    assert list_layout_files(paths) == [str(root / "published" / LAYOUTS)]


def test_datasets_are_as_large_as_print_says(tmp_path: Path) -> None:
    sizes = read_known_layouts(tmp_path).sizes
    assert sizes["emma"] == 2788
    assert sizes["emma-mini"] == 400
    assert sizes["mathreal"] == 480


def make_layout(**keys: Any) -> TableLayout:
    return TableLayout.model_validate({"source": "s", "row": ["name"], "columns": []} | keys)


def read(names: list[str], layout: TableLayout) -> list[PrintedRow]:
    return make_table(TABLE, [{"name": name} for name in names], layout).rows


def test_two_rows_of_one_name_are_told_apart_by_the_row_above() -> None:
    rows = read(["A", "+ X", "B", "+ X"], make_layout())
    assert [row.model for row in rows] == ["A", "A + X", "B", "B + X"]
    assert {row.setting for row in rows} == {""}


def test_what_is_added_may_be_a_setting() -> None:
    rows = read(["A", "+ X"], make_layout(added="setting"))
    assert [(row.name, row.model, row.setting) for row in rows] == [
        ("A", "A", ""), ("A + X", "A", "+ X"),
    ]  # fmt: skip


def test_models_and_settings_have_one_name_over_all_tables() -> None:
    layout = make_layout(
        row=["name", "how"], setting="{how}", same={"A": "B"}, settings={"one": "cot"}
    )
    (row,) = make_table(TABLE, [{"name": "A", "how": "one"}], layout).rows
    assert (row.name, row.model, row.setting) == ("B, cot", "B", "cot")


def test_a_table_without_models_keeps_the_names_of_its_rows() -> None:
    (row,) = read(["problems"], make_layout(model="", metric="{name}"))
    assert (row.name, row.model, row.metric) == ("problems", "", "problems")


def test_a_number_that_is_none_is_named_with_what_a_terminal_may_show() -> None:
    layout = make_layout(
        columns=[{"dataset": "d", "names": "{part}", "metrics": {"x": "count"}, "parts": {"a": 1}}]
    )
    with pytest.raises(FileFormatError, match=r"t\.csv: A.*, a: 'x.*' is not a number") as caught:
        make_table(TABLE, [{"name": "A\x1b[2J", "a": "x\x1b"}], layout)
    assert "\x1b" not in str(caught.value)


def read_one(columns: dict[str, Any], texts: dict[str, str]) -> list[PrintedCell]:
    group = {"dataset": "d", "metrics": {"acc": "ratio"}} | columns
    layout = make_layout(columns=[group])
    return make_table(TABLE, [{"name": "A"} | texts], layout).cells


def test_printed_intervals_and_deviations_are_kept() -> None:
    columns = {
        "names": "{part}", "parts": {"a": 10}, "interval": ["{part}_low", "{part}_high"],
        "deviation": "{part}_sd",
    }  # fmt: skip
    texts = {"a": "50.0", "a_low": "40.1", "a_high": "59.9", "a_sd": "1.25"}
    (cell,) = read_one(columns, texts)
    assert cell.interval == (PrintedNumber(40.1, 1), PrintedNumber(59.9, 1))
    assert cell.deviation == PrintedNumber(1.25, 2)


def test_an_average_is_a_value_of_its_own_and_no_total() -> None:
    columns = {"names": "{part}", "parts": {"a": 10, "b": 30}, "slice": "exam", "average": "mean"}
    cells = read_one(columns, {"a": "50", "b": "10", "mean": "30"})
    assert [(cell.part, cell.kind, cell.n) for cell in cells] == [
        ("a", "ratio", 10), ("b", "ratio", 30), ("average", "mean", 0),
    ]  # fmt: skip
    assert [cell.slice for cell in cells] == ["exam"] * 3


def test_metrics_have_the_names_of_our_tables() -> None:
    columns = {"names": "{part}", "parts": {"a": 10}, "metrics": {"loose": "ratio"}}
    assert [cell.metric_name for cell in read_one(columns, {"a": "5"})] == ["credit"]
    columns["metrics"], columns["k"] = {"pass": "count"}, 4
    assert [cell.metric_name for cell in read_one(columns, {"a": "5"})] == ["pass@4"]


@given(value=st.floats(-1e6, 1e6), digits=st.integers(0, 6), pad=st.text(" \t", max_size=2))
def test_a_number_is_read_as_printed(value: float, digits: int, pad: str) -> None:
    number = parse_number(f"{pad}{value:+.{digits}f}{pad}")
    assert number == (pytest.approx(value, abs=0.51 * 10.0**-digits), digits)
    assert number.admits(value)


@given(text=st.text(max_size=30))
def test_any_text_is_a_number_or_none_or_refused(text: str) -> None:
    try:
        number = parse_number(text)
    except ValueError:
        assert text.strip()
    else:
        assert (number is None) == (not text.strip())


@pytest.mark.parametrize("text", ["nan", "inf", "1e15", "-1e300", "12 %", "1,322"])
def test_what_no_paper_prints_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text) + "|could not convert"):
        parse_number(text)


def test_more_decimals_than_a_float_has_are_cut() -> None:
    assert parse_number("0." + "1" * 5000) == (pytest.approx(1 / 9), 12)
