"""The stage reads a file of problems and splits it into survivors and rejects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.filter import filter_problems
from omibench.problem import Problem
from omibench.rejects import Reject
from omibench.study import Study
from omibench.tables import read_jsonl, read_parquet, write_jsonl

Make = Callable[..., Problem]


def test_survivors_keep_their_order_and_find_their_pictures(make: Make, tmp_path: Path) -> None:
    problems = [
        make(id="p-10", answer=["12 m"]),
        make(id="p-2", answer=None, question="Figures 1 and 2 show a wheel. How fast is its rim?"),
        make(id="p-1", question="Figures 1 and 2 show a wheel. How fast is its rim?"),
        make(id="p-11"),
    ]
    write_jsonl(tmp_path / "problems.jsonl", problems)
    out = tmp_path / "deep" / "filter"
    summary = filter_problems(tmp_path / "problems.jsonl", out, Study())

    kept = read_jsonl(out / "problems.jsonl", Problem)
    assert [problem.id for problem in kept] == ["p-10", "p-1"]
    assert all((out / figure.file).is_file() for p in kept for figure in p.images)
    assert kept[0].images[0].file == "../../speed.png"

    rejects = read_parquet(out / "rejects.parquet", Reject)
    assert rejects["id"].to_list() == ["p-2", "p-11"]
    assert rejects["reason"].to_list() == ["answer_missing", "exact_duplicate"]
    assert set(rejects["stage"]) == {"filter"}
    assert "same text as p-10" in rejects["evidence"][1]
    assert str(summary) == "2 problems kept, 2 rejected: 1 answer_missing, 1 exact_duplicate"


def test_a_copy_of_a_rejected_problem_survives(make: Make, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "p.jsonl", [make(id="x-1", answer=None), make(id="x-2")])
    filter_problems(tmp_path / "p.jsonl", tmp_path / "out", Study())
    kept = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert [problem.id for problem in kept] == ["x-2"]


def test_nothing_in_nothing_out(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("")
    summary = filter_problems(tmp_path / "p.jsonl", tmp_path / "out", Study())
    assert str(summary) == "0 problems kept, 0 rejected"
    assert read_parquet(tmp_path / "out/rejects.parquet", Reject).is_empty()


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"none\.jsonl"):
        filter_problems(tmp_path / "none.jsonl", tmp_path / "out", Study())
    (tmp_path / "bad.jsonl").write_text('{"id": 3}\n')
    with pytest.raises(FileFormatError, match=r"bad\.jsonl, line 1"):
        filter_problems(tmp_path / "bad.jsonl", tmp_path / "out", Study())
