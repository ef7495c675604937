"""`omibench release`: options, exit codes and the one line of a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import EXIT_SOME_FAILED, ParamsError
from small_freeze import write_freeze, write_sources


def test_a_release_is_built_checked_and_compared(tmp_path: Path) -> None:
    freeze = write_freeze(tmp_path / "results/freeze")
    sources = write_sources(tmp_path / "sources.yaml")
    outs = [str(tmp_path / name) for name in ("one", "two")]
    for out in outs:
        words = ["release", "build", str(freeze), "--sources", str(sources), "--out", out]
        assert CliRunner().invoke(app, words).exit_code == 0
    assert ": verified" in CliRunner().invoke(app, ["release", "verify", outs[0]]).output
    compared = CliRunner().invoke(app, ["release", "diff", *outs])
    assert "no item changed" in compared.output
    (tmp_path / "one/README.md").unlink()
    assert CliRunner().invoke(app, ["release", "verify", outs[0]]).exit_code == EXIT_SOME_FAILED


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--version", "1.0"], "--version 1.0: is not three numbers"),
        (["--split", "mini"], "--split mini: is not NAME=ITEMS"),
        (["--split", "test=3"], "`test` is the split of all other problems"),
        (["--printed", "mmmu"], "--printed mmmu: is not a paper; give omibench, emma"),
        (["--by", "grade"], "needs --split"),
    ],
)
def test_a_wrong_option_is_one_line(tmp_path: Path, words: list[str], line: str) -> None:
    result = CliRunner().invoke(app, ["release", "build", "--out", str(tmp_path / "o"), *words])
    assert isinstance(result.exception, ParamsError)
    assert line in str(result.exception)
