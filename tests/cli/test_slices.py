"""`omibench results slice`: a CSV of slices, and one line for each that cannot be made."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, made
from typer.testing import CliRunner

from omibench.cli.results import results_app
from omibench.errors import ArgumentError

__all__ = ["made"]


def test_a_csv_holds_every_slice(
    made: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text("study: {resluts: not read for named results}\n")
    out = tmp_path / "slices.csv"
    arguments = ["--by", "subject,answer_type", "--by", "n_images", "--metric", "accuracy"]
    done = CliRunner().invoke(
        results_app, ["slice", str(made.freeze.parent), *arguments, "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    table = pl.read_csv(out)
    assert table["slice"].unique(maintain_order=True).to_list() == [
        "subject × answer_type", "n_images",
    ]  # fmt: skip
    assert f"{out}: {table.height:,} rows" in done.stderr.replace("\n", "")


def test_a_slice_by_what_is_not_there_is_a_line_and_the_rest_is_done(
    made: Folders, tmp_path: Path
) -> None:
    out = tmp_path / "slices.csv"
    arguments = ["slice", str(made.freeze.parent), "--by", "exam", "--by", "subject"]
    done = CliRunner().invoke(results_app, [*arguments, "--out", str(out)])
    assert done.exit_code == 3
    assert "slice 'exam': no item, model or setting has the attribute 'exam'" in done.stderr
    assert pl.read_csv(out)["slice"].unique().to_list() == ["subject"]


def test_without_any_slice_it_is_an_error(made: Folders, tmp_path: Path) -> None:
    arguments = ["slice", str(made.freeze.parent), "--by", "exam", "--out", str(tmp_path / "x.csv")]
    done = CliRunner().invoke(results_app, arguments)
    assert isinstance(done.exception, ArgumentError)
    assert not (tmp_path / "x.csv").exists()
