"""`omibench results slice` and `compare` of files that `omibench score` wrote."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from command_line import call_main

ROWS = [
    {"id": f"q{n}", "gold": "A", "choices": {"A": "1", "B": "2"}, "category": "xy"[n % 2],
     "prediction": "The answer is \\boxed{A}." if n < 6 else "The answer is \\boxed{B}."}
    for n in range(10)
]  # fmt: skip


def score(folder: Path, name: str, rows: list[dict[str, object]]) -> Path:
    source, target = folder / f"{name}.jsonl", folder / f"{name}-scored.parquet"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = call_main("score", source, "--scorer", "robust,emma", "--out", target)
    assert done.returncode == 0, done.stderr
    return target


def test_a_scored_file_is_sliced_by_its_own_columns(tmp_path: Path) -> None:
    scored = score(tmp_path, "a", ROWS)
    table = tmp_path / "s.csv"
    done = call_main(
        "results", "slice", scored, "--by", "category", "--metric", "accuracy",
        "--scorer", "robust", "--out", table,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    frame = pl.read_csv(table)
    assert dict(frame.select("value", "estimate").rows()) == {"x": 0.6, "y": 0.6}, frame
    assert frame["n"].to_list() == [5, 5]


def test_two_scored_files_are_compared_answer_by_answer(tmp_path: Path) -> None:
    changed = [row | {"prediction": "\\boxed{A}"} if row["id"] == "q9" else row for row in ROWS]
    changed = [row | {"gold": "B"} if row["id"] == "q0" else row for row in changed]
    a, b = score(tmp_path, "a", ROWS), score(tmp_path, "b", changed)
    table = tmp_path / "items.csv"
    done = call_main("results", "compare", a, b, "--out", tmp_path / "c.json", "--items", table)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "c.json").read_text())
    assert (found["a"]["folder"], found["b"]["folder"]) == (str(a), str(b))
    assert {row["id"]: row["cause"] for row in found["verdicts"]} == {
        "q9": "response", "q0": "gold",
    }  # fmt: skip
    assert found["total"]["n_common"] == 10
    assert sorted(pl.read_csv(table)["id"]) == ["q0", "q9"]
    assert found["total"]["difference"] == pytest.approx(0.0)
    assert "omibench-scored-" not in done.stdout


def test_what_is_no_scored_file_is_one_line_with_what_to_do(tmp_path: Path) -> None:
    unscored = tmp_path / "u.jsonl"
    unscored.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    for words in (["slice", unscored], ["compare", unscored, unscored]):
        done = call_main("results", *words, "--out", tmp_path / "x")
        assert done.returncode == 2
        assert "row 1: lacks rules, so it is not a file of verdicts" in done.stderr
        assert f"`omibench score {unscored} --scorer robust" in done.stderr
        assert not (tmp_path / "x").exists()
    scored = pl.read_parquet(score(tmp_path, "a", ROWS))
    twice = tmp_path / "twice.parquet"
    pl.concat([scored, scored]).with_columns(index=pl.lit(0)).write_parquet(twice)
    done = call_main("results", "slice", twice)
    assert done.returncode == 2
    assert "row 21: a second verdict of 'robust' on sample 0 of 'q0'" in done.stderr
    high = tmp_path / "high.parquet"
    scored.with_columns(verdict=pl.lit(2.0)).write_parquet(high)
    done = call_main("results", "slice", high)
    assert done.returncode == 2
    assert "row 1, column 'verdict': is 2.0; it must be from 0 to 1" in done.stderr
