"""A study with every role, simulated: what a plan counts before is what the store holds after."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.stages.infer.conftest import frozen_questions

from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Answer
from omibench.schemas.request import Request
from omibench.schemas.tables import write_jsonl
from omibench.stages.aggregate import aggregate_cell
from omibench.stages.infer import infer_cell
from omibench.stages.judge import CellFiles, judge_cell
from omibench.stages.score import ScoreFiles, score_cell
from omibench.store.store import Partition
from omibench.study.plan.build import plan_study
from omibench.study.plan.plan import Plan
from omibench.study.plan.text import render

GOLD = {"p0": ["C"], "p1": ["12"], "p2": ["1.5"]}
FOUR = {"samples": 4, "temperature": 0.6}
SLIPS = {"no_box": 0.4, "refusal": 0.15, "repetition": 0.1}


def bought(study: Study) -> Counter[str]:
    """How many responses the store holds, by the role in which they were asked for."""
    files = Path(study.study.store).glob("*/*.jsonl")
    lines = (line for file in files for line in file.read_text("utf-8").splitlines())
    return Counter(json.loads(line)["tags"]["role"] for line in lines)


def counted(plan: Plan, column: str = "to_buy") -> Counter[str]:
    """What a plan counts, by role; nothing where it counts none."""
    found: Counter[str] = Counter()
    for row in plan.rows:
        found[row.instrument or row.role] += getattr(row, column)
    return +found


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Three frozen problems, their answers, and solutions of two of them."""
    path = frozen_questions(tmp_path)
    answers = [
        Answer(id=id, answer=gold, answer_type="mcq" if id == "p0" else "open",
               solution=None if id == "p0" else "So it is.")
        for id, gold in GOLD.items()
    ]  # fmt: skip
    write_jsonl(path.with_name("answers.jsonl"), answers)
    return path


@pytest.fixture
def study(tmp_path: Path, questions: Path) -> Study:
    oracle = [
        {"id": id, "answer": gold, "captions": ["a cart", "a road"],
         "choices": list("ABCD") if id == "p0" else None,
         "answer_type": "mcq" if id == "p0" else "open"}
        for id, gold in GOLD.items()
    ]  # fmt: skip
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))
    sim: dict[str, Any] = {"provider": "simulated", "oracle": str(tmp_path / "oracle.jsonl")}
    store = tmp_path.with_name(f"{tmp_path.name}-store")
    values = {
        "study": {"name": "whole", "store": str(store), "results": str(tmp_path)},
        "models": {
            "a": sim | {"slips": SLIPS}, "b": sim | {"seed": 2, "ability": -1.0, "slips": SLIPS},
            "eyes": sim | {"seed": 3}, "judge": sim | {"seed": 4}, "rater": sim | {"seed": 5},
            "reward": sim | {"seed": 6}, "grader": sim | {"seed": 7},
        },
        "settings": {
            "cot": {},
            "words": {"images": {"show": "captions", "model": "eyes"}},
            "read": {"perception": "I+QM+DM"},
            "best": {"decoding": FOUR, "aggregate": {"how": "best-of-n", "judge": "reward",
                                                     "k": [2]}},
            "cup": {"prompt": "direct", "decoding": FOUR,
                    "aggregate": {"how": "tournament", "judge": "self", "k": [3]}},
        },
        "infer": {"models": ["a", "b"], "settings": ["cot", "words", "read", "best", "cup"]},
        "score": {"scorers": ["robust", "mathreal"],
                  "judge": {"models": ["judge", "rater"], "variant": "bare-answers"},
                  "grader": "grader"},
        "judge": {"quality": "rater", "alignment": "rater", "errors": "judge", "problems": 2,
                  "transcripts": "rater"},
    }  # fmt: skip
    return parse_study(values, "test")


def files_of(tmp_path: Path, model: str, setting: str) -> CellFiles:
    frozen, name = tmp_path / "freeze", f"{model}/{setting}.parquet"
    return CellFiles(
        tmp_path / "infer" / name, tmp_path / "score" / name,
        frozen / "answers.jsonl", frozen / "questions.jsonl",
    )  # fmt: skip


@pytest.mark.slow
def test_every_role_is_counted_as_a_run_asks_it(
    study: Study, questions: Path, tmp_path: Path
) -> None:
    before = counted(plan_study(study, questions))
    for cell in study.cells:
        infer_cell(questions, files_of(tmp_path, *cell).responses, study, cell)
    held = bought(study)
    asking = ("respondent", "captioner", "perceiver")
    assert set(held) == set(asking)
    assert {role: before[role] for role in asking} == held

    answered = plan_study(study, questions)
    assert set(counted(answered)).isdisjoint(asking)
    for cell in study.cells:
        files = files_of(tmp_path, *cell)
        score_cell(
            ScoreFiles(files.responses, files.answers, files.questions), files.verdicts, study
        )
    judged, expected = bought(study), counted(answered)
    assert expected["judge"] == judged["judge"] > 0
    assert expected["extractor"] == judged["extractor"] > 0
    assert expected["grader"] >= judged["grader"] > 0

    scored = plan_study(study, questions)
    assert set(counted(scored)) == {"rater", "aligner", "classifier", "marker", "referee"}
    for cell in study.cells:
        judge_cell(files_of(tmp_path, *cell), tmp_path / "judge.parquet", study)
    for cell in study.aggregated_cells:
        aggregate_cell(tmp_path, tmp_path / "aggregate.parquet", study, cell)
    done, expected = bought(study), counted(scored)
    for role in ("rater", "aligner", "classifier", "marker"):
        assert expected[role] == done[role] > 0, role
    # Later rounds are between winners that a plan can only guess: some may meet in two brackets.
    guessed = counted(scored, "estimated")["referee"]
    assert guessed > 0
    assert abs(expected["referee"] - done["referee"]) <= guessed

    after = plan_study(study, questions)
    assert not counted(after)
    assert not counted(after, "estimated")
    assert all(counted(after, "stored")[role] >= held for role, held in done.items())
    assert "follow missing answers" not in render(after)


def test_a_plan_before_anything_counts_judgements_at_most(study: Study, questions: Path) -> None:
    plan = plan_study(study, questions)
    found = counted(plan)
    threads = sum(study.settings[cell.setting].decoding.samples * 3 for cell in study.cells)
    assert found["judge"] == 2 * threads  # two judges vote
    assert found["grader"] == found["extractor"] == threads
    assert found["marker"] == 2 * 3 * 4  # samples of k=2 are among those of 4
    # A match fewer than samples, for each k; two brackets may begin with the same match.
    assert 2 * 3 * 3 <= found["referee"] <= 2 * 3 * (3 + 2)
    assert found["classifier"] == threads * 2 // 3
    text = " ".join(render(plan).split())
    assert "marker: reward" in text
    assert "referee: a" in text
    assert "judges the most possible requests" in text


def test_what_is_asked_about_responses_to_come_takes_no_key(
    study: Study, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys of long made-up words took as long as all else of a large plan."""
    keyed: Counter[str] = Counter()
    make_key = Partition.key

    def count_key(partition: Partition, request: Request) -> str:
        keyed[request.tags.role] += 1
        return make_key(partition, request)

    monkeypatch.setattr(Partition, "key", count_key)
    plan = plan_study(study, questions)
    assert counted(plan)["judge"] > 0
    assert keyed["judge"] == keyed["extractor"] == 0
    assert keyed["respondent"] > 0
