"""Filled in shards, the store holds all that the rationale stage asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from omibench.models.provider import NO_BUDGET, Budget
from omibench.models.simulated.answers import OracleRow
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.study import parse_study
from omibench.schemas.problem import Problem
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.rationale.fill import count_problems, fill_rationales
from omibench.stages.rationale.stage import write_rationales

IDS = ["p1", "p2", "p3"]


def problem(name: str) -> Problem:
    return Problem(
        id=name, question="How much is it?", images=[], choices=None, subject="physics",
        language="en", group="", licence=None, source="s.pdf", source_sha256="0", number="1",
        pages=[1], answer=["4.5"], solution=None,
    )  # fmt: skip


def test_what_was_filled_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = tmp_path / "filter" / "problems.jsonl"
    write_jsonl(problems, map(problem, IDS))
    write_jsonl(
        tmp_path / "oracle.jsonl",
        (OracleRow(id=name, answer=["4.5"], subject="physics", topic="waves") for name in IDS),
    )
    model = {"provider": "simulated", "oracle": str(tmp_path / "oracle.jsonl"), "error_rate": 0.5}
    study = parse_study(
        {
            "study": {"store": str(tmp_path / "store")},
            "models": {"sim": model},
            "rationale": {"writer": "sim", "labeller": "sim", "topics": {"physics": ["waves"]}},
        },
        "test",
    )
    assert count_problems(problems) == 3
    assert [fill_rationales(problems, study, slice(i, i + 2)) for i in (0, 2)] == [2, 1]
    assert [path.name for path in problems.parent.iterdir()] == ["problems.jsonl"], "no traces"

    def closed(
        self: SimulatedProvider, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        raise AssertionError("the stage asked what was not filled")

    monkeypatch.setattr(SimulatedProvider, "answer", closed)
    assert write_rationales(problems, tmp_path / "out", study) == 3
    written = read_jsonl(tmp_path / "out" / "problems.jsonl", Problem)
    assert [row.topic for row in written] == ["waves"] * 3
    assert any(row.solution for row in written)
