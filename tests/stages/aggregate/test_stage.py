"""One cell from responses to what its samples are worth, with simulated reward models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from omibench.errors import ModelError, ParamsError, PluginError
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.plugins.registry import loading
from omibench.schemas.problem import Answer, Choice, Question
from omibench.schemas.tables import (
    AggregateRow,
    ResponseRow,
    read_jsonl,
    read_parquet,
    write_jsonl,
    write_parquet,
)
from omibench.stages.aggregate import aggregate_cell
from omibench.stages.aggregate.registry import AGGREGATIONS, Candidates, aggregation
from omibench.stages.aggregate.votes import VERSION
from omibench.stages.score import ScoreFiles, score_cell

CHOICES = [Choice(label=c, text=f"option {c.lower()}") for c in "ABCD"]
SAMPLES: dict[str, list[str]] = {
    "half": [r"\boxed{3}", r"\boxed{\frac{1}{2}}", r"\boxed{0.5}", ""],
    "letter": [r"\boxed{B}", r"\boxed{C}", r"\boxed{A}", r"\boxed{B}"],
    "never": ["", "I am sorry, I cannot answer this.", "", ""],
    "once": [r"\boxed{7}", r"\boxed{8}", r"\boxed{8}", r"\boxed{8}"],
}
GOLD = {"half": ["0.5"], "letter": ["B"], "never": ["1"], "once": ["7"]}
CELL = Cell("m", "vote")


def study(folder: Path, aggregate: Any, *, discernment: float = 50.0) -> Study:
    simulated = {
        "provider": "simulated", "oracle": str(folder / "oracle.jsonl"), "discernment": discernment,
    }  # fmt: skip
    values = {
        "study": {"seed": 3, "store": str(folder / "store")},
        "models": {"m": simulated, "reward": simulated},
        "settings": {"vote": {"decoding": {"samples": 4}, "aggregate": aggregate}},
        "score": {"scorers": ["robust", "omibench"]},
    }
    return parse_study(values, "test")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder with one scored cell of four problems, four samples each."""
    answers, questions, oracle, responses = [], [], [], []
    for name, texts in SAMPLES.items():
        choices = CHOICES if name == "letter" else None
        kind = "mcq" if choices else "open"
        answers.append(Answer(id=name, answer=GOLD[name], answer_type=kind, choices=choices))
        questions.append(Question(id=name, question=f"What is {name}?", choices=choices))
        oracle.append({"id": name, "answer": GOLD[name], "answer_type": kind, "difficulty": 0,
                       "choices": list("ABCD") if choices else None, "n_images": 2,
                       "subject": "other"})  # fmt: skip
        responses += [
            ResponseRow(id=name, index=i, key=f"{name}{i}", outcome="answered", text=text,
                        simulated=True)
            for i, text in enumerate(texts)
        ]  # fmt: skip
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))
    write_jsonl(tmp_path / "freeze/answers.jsonl", answers)
    write_jsonl(tmp_path / "freeze/questions.jsonl", questions)
    file = tmp_path / "infer/m/vote.parquet"
    write_parquet(file, responses, ResponseRow)
    own = study(tmp_path, "mean")
    score_cell(
        ScoreFiles(file, tmp_path / "freeze/answers.jsonl"), tmp_path / "score/m/vote.parquet", own
    )
    return tmp_path


def rows(results: Path, own: Study) -> pl.DataFrame:
    out = results / "aggregate/m/vote.parquet"
    assert aggregate_cell(results, out, own, CELL) == read_parquet(out, AggregateRow).height
    return read_parquet(out, AggregateRow)


def picked(frame: pl.DataFrame, metric: str, k: int = 4, rules: str = "robust") -> dict[str, int]:
    own = frame.filter(metric=metric, k=k, rules=rules)
    return dict(own.select("id", "index").iter_rows())


def values(frame: pl.DataFrame, metric: str, k: int, rules: str = "robust") -> dict[str, float]:
    own = frame.filter(metric=metric, k=k, rules=rules)
    return dict(own.select("id", "value").iter_rows())


def test_majority_pass_and_consistency(results: Path) -> None:
    found = rows(results, study(results, {"how": "majority", "k": [1, 2]}))
    assert picked(found, "majority") == {"half": 1, "letter": 0, "never": 0, "once": 1}
    assert values(found, "majority", 4) == {"half": 1, "letter": 1, "never": 0, "once": 0}
    assert picked(found, "majority", 1) == dict.fromkeys(SAMPLES, 0)
    assert values(found, "pass", 4) == {"half": 1, "letter": 1, "never": 0, "once": 1}
    assert values(found, "pass", 2) == pytest.approx(
        {"half": 1 - 1 / 6, "letter": 1 - 1 / 6, "never": 0, "once": 0.5}
    )
    assert values(found, "consistency", 4) == {
        "half": 0.5, "letter": 0.5, "never": 0, "once": 0.75,
    }  # fmt: skip
    assert found["simulated"].all()


def test_votes_are_over_normal_forms_and_by_a_scorer_on_request(results: Path) -> None:
    found = rows(results, study(results, "majority"))
    assert set(found["rules"]) == {"robust", "omibench"}
    assert values(found, "consistency", 4, "omibench")["half"] == 0.5
    by_form = found.filter(pl.col("metric").is_in(["majority", "consistency"]))
    assert set(by_form.select("version", "sameness").iter_rows()) == {(VERSION, "normal form")}
    others = found.filter(metric="pass")
    assert others["version"].null_count() == others["sameness"].null_count() == others.height

    by_print = rows(results, study(results, {"how": "majority", "sameness": "omibench"}))
    # To the printed rules 0.5 and the fraction are two answers.
    for rules in ("robust", "omibench"):
        assert values(by_print, "consistency", 4, rules)["half"] == 0.25
    assert set(by_print.filter(metric="majority")["sameness"]) == {"omibench"}


@pytest.mark.parametrize(
    ("how", "chosen"),
    [
        ("majority", {name: {0, 1, 2, 3} for name in SAMPLES} | {"once": {0, 1, 2}}),
        ("first", {name: {0, 2} for name in SAMPLES}),
    ],
)
def test_each_run_chooses_among_its_own_samples(
    results: Path, how: str, chosen: dict[str, set[int]]
) -> None:
    """Two runs of two samples (OMIBench, J): a tie of two answers is drawn, two equal ones win."""
    found = rows(results, study(results, {"how": how, "runs": 2}))
    counting = found.filter("counts", rules="robust")
    assert counting.equals(found.filter(metric=how, k=2, rules="robust"))
    by_problem = {str(name): part["index"].to_list() for (name,), part in counting.group_by("id")}
    assert {*by_problem} == {*SAMPLES}
    assert all([index // 2 for index in picks] == [0, 1] for picks in by_problem.values())
    assert all({*picks} <= chosen[name] for name, picks in by_problem.items())
    assert values(found, "consistency", 2, "robust")["once"] == 0.75, "of 0.5 and 1"
    assert 2 in by_problem["once"], "8 and 8 are one answer, whose first sample is chosen"
    assert set(found.filter(metric="pass")["k"]) == {2}


def test_no_gold_takes_part_in_the_vote(results: Path) -> None:
    own = study(results, {"how": "majority", "k": [2, 3]})
    found = rows(results, own)
    answers = read_jsonl(results / "freeze/answers.jsonl", Answer)
    other = {"half": ["3"], "letter": ["C"], "never": ["9"], "once": ["8"]}
    write_jsonl(
        results / "freeze/answers.jsonl",
        [answer.model_copy(update={"answer": other[answer.id]}) for answer in answers],
    )
    score = results / "score/m/vote.parquet"
    score_cell(
        ScoreFiles(results / "infer/m/vote.parquet", results / "freeze/answers.jsonl"), score, own
    )
    again = rows(results, own)
    for rules in ("robust", "omibench"):
        for k in (2, 3, 4):
            assert picked(again, "majority", k, rules) == picked(found, "majority", k, rules)
    assert values(again, "majority", 4) != values(found, "majority", 4)


@pytest.mark.parametrize(
    ("sameness", "message"),
    [("published", "cannot compare answers by itself"), ("robus", "did you mean 'robust'")],
)
def test_a_scorer_that_cannot_say_which_answers_are_one_is_refused(
    tmp_path: Path, sameness: str, message: str
) -> None:
    with pytest.raises(ParamsError, match=message):
        study(tmp_path, {"how": "majority", "sameness": sameness})


@pytest.mark.parametrize("judge", ["reward", "self"])
def test_a_perfect_reward_model_finds_every_right_sample(results: Path, judge: str) -> None:
    own = study(results, {"how": "best-of-n", "judge": judge, "k": [2]})
    found = rows(results, own)
    assert values(found, "best-of-n", 4) == {"half": 1, "letter": 1, "never": 0, "once": 1}
    assert values(found, "best-of-n", 2) == {"half": 1, "letter": 1, "never": 0, "once": 1}
    chosen = found.filter(metric="best-of-n")
    assert set(chosen["judge"]) == {"m" if judge == "self" else judge}
    assert chosen["prompt_sha256"].null_count() == 0


def test_a_tournament_is_won_by_the_right_sample_and_goes_on_where_it_stopped(
    results: Path,
) -> None:
    own = study(results, {"how": "tournament", "judge": "reward", "k": [2]})
    found = rows(results, own)
    assert values(found, "tournament", 4) == {"half": 1, "letter": 1, "never": 0, "once": 1}
    store = {f: f.read_bytes() for f in (results / "store").rglob("*.jsonl")}
    assert store
    assert rows(results, own).equals(found)
    assert {f: f.read_bytes() for f in (results / "store").rglob("*.jsonl")} == store


def test_a_rule_of_a_plug_in_chooses_without_gold_or_verdict(results: Path) -> None:
    seen: list[Candidates] = []
    with loading("own.py"):

        @aggregation("last-answer")
        def choose_last(candidates: Candidates) -> int:
            seen.append(candidates)
            places = [n for n, answer in enumerate(candidates.answers) if answer is not None]
            return max(places, default=0)

        @aggregation("outside")
        def choose_outside(candidates: Candidates) -> int:
            return len(candidates.texts)

    try:
        found = rows(results, study(results, {"how": "last-answer", "k": [2]}))
        assert values(found, "last-answer", 4) == {"half": 1, "letter": 1, "never": 0, "once": 0}
        assert values(found, "last-answer", 2) == {"half": 1, "letter": 0, "never": 0, "once": 0}
        assert found.filter(metric="last-answer", k=4)["counts"].all()
        assert all(len(one.texts) == len(one.answers) in (2, 4) for one in seen)
        with pytest.raises(PluginError, match=r"'outside': problem .*: it returned 4; return the"):
            rows(results, study(results, "outside"))
    finally:
        AGGREGATIONS.forget("own.py")
    with pytest.raises(PluginError, match="the name is taken"):
        aggregation("majority")


def test_a_reward_model_that_is_always_wrong_does_harm(results: Path) -> None:
    judge = {"how": "best-of-n", "judge": "reward"}
    found = values(rows(results, study(results, judge, discernment=-50.0)), "best-of-n", 4)
    assert found["letter"] == found["once"] == 0


def test_single_samples_and_unknown_models_are_refused(results: Path) -> None:
    own = study(results, "mean")
    single = own.settings["vote"].model_copy(
        update={"decoding": own.settings["vote"].decoding.model_copy(update={"samples": 1})}
    )
    alone = own.model_copy(update={"settings": {"vote": single}})
    with pytest.raises(ParamsError, match=r"settings\.vote: draws one sample"):
        rows(results, alone)
    nobody = study(results, {"how": "best-of-n", "judge": "nobody"})
    with pytest.raises(ModelError, match=r"settings\.vote\.aggregate\.judge: 'nobody'"):
        rows(results, nobody)
