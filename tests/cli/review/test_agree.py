"""`omibench review agree`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from typer.testing import CliRunner

from command_line import app
from omibench.errors import EXIT_SOME_FAILED
from review.builders import GOOD, decide, make_task, write_lines
from review.sampling.test_residual import judge_samples


def run(folder: Path, *words: str) -> str:
    result = CliRunner().invoke(app, ["review", "agree", "--review", str(folder), *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_figures_errors_and_calibration_are_printed(tmp_path: Path) -> None:
    tasks, decisions = judge_samples(2)
    bad = {"valid": "invalid"}
    good = make_task("g", id="item:g@calibration", purpose="calibration", gold=GOOD)
    faulty = make_task("f", id="item:f@calibration", purpose="calibration", gold=bad)
    passed = [
        decide(9000, "ann", "annotator", good, simulated=True),
        decide(9001, "ann", "annotator", faulty, GOOD | bad, simulated=True),
    ]
    write_lines(tmp_path / "tasks.jsonl", *tasks, good, faulty)
    write_lines(tmp_path / "decisions.jsonl", *decisions, *passed)
    params = json.dumps({"review": {"calibration": {"items": 2}}})
    text = run(tmp_path, "--params", params, "--out", str(tmp_path / "figures.csv"))
    assert "krippendorff alpha (ordinal)" in text
    assert "0.028 to 0.301" in text  # Wilson's interval of 2 in 20
    assert "6 (2 to 18)" in text
    assert "ann (SIMULATED)  item  calibration  passed" in text
    frame = pl.read_csv(tmp_path / "figures.csv")
    assert frame.filter(measure="residual error rate")["value"].to_list() == [0.1]
    assert frame.filter(field="valid", measure="agreement")["value"].to_list() == [1.0]


def test_without_two_readings_there_is_nothing_to_measure(tmp_path: Path) -> None:
    write_lines(tmp_path / "tasks.jsonl", make_task())
    assert "No task was read by two people independently" in run(tmp_path)


def test_a_bad_line_ends_with_three(tmp_path: Path) -> None:
    write_lines(tmp_path / "tasks.jsonl", make_task(), "{")
    result = CliRunner().invoke(app, ["review", "agree", "--review", str(tmp_path)])
    assert result.exit_code == EXIT_SOME_FAILED
    assert "tasks.jsonl, line 2" in result.stderr
