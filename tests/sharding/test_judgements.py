"""Shards fill the store with judgements; a draw of failures waits for the whole cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import ResponseRow, write_jsonl, write_parquet
from omibench.study.sharding import fill_judgements

CELL, IDS = Cell("m", "cot"), ["a", "b", "c", "d"]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A cell of wrong answers on file, and which problems a judge is asked about."""
    results, problems = tmp_path / "results", list[str]()
    (results / "freeze").mkdir(parents=True)
    write_jsonl(results / "freeze/questions.jsonl", [Question(id=n, question="?") for n in IDS])
    golds = [Answer(id=n, answer=["4"], answer_type="open") for n in IDS]
    write_jsonl(results / "freeze/answers.jsonl", golds)
    rows = [ResponseRow(id=n, index=0, key=n, outcome="answered", text="\\boxed{5}") for n in IDS]
    write_parquet(results / "infer/m/cot.parquet", rows, ResponseRow)
    (tmp_path / "oracle.jsonl").write_text(
        "".join(json.dumps({"id": n, "answer": ["4"]}) + "\n" for n in IDS)
    )

    def classify(_: object, request: Request) -> Response:
        problems.append(request.tags.problem)
        return Response(text="ERROR TYPE: logical", simulated=True)

    monkeypatch.setattr(SimulatedProvider, "respond", classify)
    return problems


def make_study(folder: Path, **errors: Any) -> Study:
    model = {"provider": "simulated", "oracle": str(folder / "oracle.jsonl")}
    return parse_study(
        {
            "study": {"store": str(folder / "store")},
            "models": {"m": model, "j": model},
            "settings": {"cot": {}},
            "infer": {"models": ["m"], "settings": ["cot"]},
            "judge": {"errors": {"models": ["j"], **errors}},
        },
        "test",
    )


@pytest.mark.parametrize(
    ("errors", "shards", "counts"),
    [
        ({}, [slice(0, 2), slice(2, 4)], [2, 4]),
        ({"draw": {"per_model": 2}}, [slice(0, 2), slice(2, 4)], [0, 0]),
        ({"draw": {"per_model": 2}}, [slice(0, 4)], [2]),
    ],
)
def test_a_shard_asks_for_no_draw_of_its_own(
    tmp_path: Path,
    asked: list[str],
    errors: dict[str, Any],
    shards: list[slice],
    counts: list[int],
) -> None:
    study = make_study(tmp_path, **errors)
    for shard, count in zip(shards, counts, strict=True):
        assert fill_judgements(tmp_path / "results", study, CELL, shard) == len(IDS[shard])
        assert len(asked) == count
