"""The audit of a folder: what it finds, and what it cannot read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import FileFormatError, MissingInputError
from omibench.papers.checks import audit_tables, summarise_audit, write_audit

LAYOUT = """\
one.csv:
  source: a paper, table 1
  row: [model]
  columns:
    - {dataset: d, names: "{part}", metrics: {acc: count}, parts: {a: 10, b: 30}, total: all}
two.csv:
  source: a paper, table 2
  row: [method]
  same: {Before: Model-A}
  columns:
    - {dataset: d, names: "{part}", metrics: {acc: count}, parts: {a: 10}}
"""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    (tmp_path / "tables.yaml").write_text(LAYOUT, "utf-8")
    (tmp_path / "one.csv").write_text("model,a,b,all\nModel-A,50.0,10.0,20.0\n", "utf-8")
    (tmp_path / "two.csv").write_text("method,a\nBefore,60.0\n+ Tool,70.0\n", "utf-8")
    return tmp_path


def test_a_value_that_two_tables_print_differently_is_found(tables: Path) -> None:
    audit = audit_tables(tables)
    assert not audit.errors
    (finding,) = audit.contradictions
    assert (finding.file, finding.kind, finding.printed, finding.recomputed) == (
        "two.csv", "repeat", 60.0, 50.0,
    )  # fmt: skip
    assert {f.model for f in audit.findings} == {"Model-A", "Model-A + Tool"}
    assert summarise_audit(audit)[0] == f"2 tables, {len(audit.findings)} checks"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("two.csv", "method,b\nx,1\n", "two.csv: the column 'a', which tables.yaml lists"),
        ("two.csv", "method,a\nx,many\n", "two.csv: x, a: 'many' is not a number"),
        ("three.csv", "m,a\n", "three.csv: tables.yaml does not describe its columns"),
    ],
)
def test_a_table_that_cannot_be_read_leaves_the_others(
    tables: Path, file: str, text: str, message: str
) -> None:
    (tables / file).write_text(text, "utf-8")
    audit = audit_tables(tables)
    assert [message in str(error) for error in audit.errors] == [True]
    assert any(finding.file == "one.csv" for finding in audit.findings)
    done = CliRunner().invoke(
        app, ["results", "audit", str(tables), "--out", str(tables / "o" / "a.csv")]
    )
    assert done.exit_code == 3
    assert (tables / "o" / "a.csv").is_file()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "contains no layouts"),
        ("one.csv: {source: x, row: [m], columns: [], sum: 1}", "one.csv: sum: unknown key"),
        ("one.csv: {source: x, row: [m], columns: [{dataset: d}]}", "one.csv: columns.0.names"),
        ("a: [", "tables.yaml, line 1"),
        (
            LAYOUT.replace('"{part}"', '"{other}"', 1),
            "'{other}' is not a pattern of {part}, {metric}",
        ),
        (
            "one.csv: {source: x, row: [m], columns: [], "
            "correlation: {table: one.csv, part: a, value: b}}",
            "`row` must list the two columns",
        ),
    ],
)
def test_wrong_layouts_are_one_line(tables: Path, text: str, message: str) -> None:
    (tables / "tables.yaml").write_text(text, "utf-8")
    with pytest.raises(FileFormatError) as caught:
        audit_tables(tables)
    assert message in str(caught.value)
    assert len(caught.value.lines) == 1


@pytest.mark.parametrize("value", ["nan", "inf", "1e999", "120", "-5", "n/a"])
def test_what_is_no_share_is_one_line_and_other_tables_are_checked(
    tables: Path, value: str
) -> None:
    (tables / "one.csv").write_text(f"model,a,b,all\nModel-A,{value},10.0,20.0\n", "utf-8")
    audit = audit_tables(tables)
    (error,) = audit.errors
    assert "one.csv: Model-A, a: " in str(error)
    assert {finding.file for finding in audit.findings} == {"two.csv"}


def test_no_folder_and_no_layouts_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="the folder does not exist"):
        audit_tables(tmp_path / "none")
    with pytest.raises(MissingInputError, match=r"tables\.yaml"):
        audit_tables(tmp_path)


def test_every_check_is_a_row(tables: Path, tmp_path: Path) -> None:
    audit = audit_tables(tables)
    write_audit(audit.findings, tmp_path / "audit.csv")
    frame = pl.read_csv(tmp_path / "audit.csv")
    assert frame.columns == [
        "file", "model", "cell", "kind", "printed", "recomputed", "n", "note",
    ]  # fmt: skip
    assert frame.height == len(audit.findings)


def test_what_it_wrote_before_is_no_table(tables: Path) -> None:
    command = ["results", "audit", str(tables), "--out", str(tables / "audit.csv")]
    for _ in range(2):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        assert "does not describe its columns" not in done.output
    refused = CliRunner().invoke(app, [*command[:-1], str(tables / "one.csv")])
    assert "would overwrite" in str(refused.exception or refused.output)


def test_a_folder_may_hold_some_of_the_tables_alone(tables: Path) -> None:
    (tables / "two.csv").unlink()
    audit = audit_tables(tables)
    assert not audit.errors
    assert "not in the folder: two.csv" in summarise_audit(audit)
