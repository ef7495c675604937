"""`omibench results export --eval` and `--all`: logs of Inspect."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.eval_logs.conftest import results
from typer.testing import CliRunner

from extras import require_extra
from omibench.cli.results import results_app
from omibench.errors import ArgumentError, MissingExtraError
from omibench.stages.score.rows import read_rows

__all__ = ["results"]


def test_without_inspect_its_extra_is_named(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    arguments = ["export", str(results), "--all", "--out", str(tmp_path / "logs")]
    done = CliRunner().invoke(results_app, arguments)
    assert isinstance(done.exception, MissingExtraError)
    assert str(done.exception).endswith("pip install 'omibench[inspect]'")


def test_a_cell_is_written_from_the_store_beside_the_results(results: Path, tmp_path: Path) -> None:
    require_extra("inspect", "inspect_ai")
    out = tmp_path / "logs" / "m.eval"
    arguments = ["export", str(results), "--eval", "m/cot", "--out", str(out)]
    done = CliRunner().invoke(results_app, arguments)
    assert done.exit_code == 0, done.output
    said = done.stderr.replace("\n", " ")
    assert "4 responses; SIMULATED; 3 with the problem" in said
    assert len(read_rows([out])) == 4


def test_all_cells_are_written_into_a_folder(results: Path, tmp_path: Path) -> None:
    require_extra("inspect", "inspect_ai")
    out = tmp_path / "logs"
    done = CliRunner().invoke(results_app, ["export", str(results), "--all", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert [path.relative_to(out).as_posix() for path in out.rglob("*.eval")] == ["m/cot.eval"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--eval", "m", "--out", "m.eval"], "write MODEL/SETTING"),
        (["--eval", "../cot", "--out", "m.eval"], "write MODEL/SETTING"),
        (["--eval", "m/cot"], r"ends in \.eval"),
        (["--eval", "m/cot", "--all"], "one of them"),
        (["--all", "--paper", "emma"], "without --paper"),
        (["--all", "--out", "RESULTS/infer"], "is inside the results"),
    ],
)
def test_what_cannot_be_a_log_is_one_line(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    stated = [argument.replace("RESULTS", str(results)) for argument in arguments]
    done = CliRunner().invoke(results_app, ["export", str(results), *stated])
    assert isinstance(done.exception, ArgumentError)
    with pytest.raises(ArgumentError, match=line):
        raise done.exception
    assert not list(tmp_path.glob("*.eval"))
