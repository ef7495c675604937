"""Settings in several steps: everything that they will ask, of whom, and what is only guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.plan.test_build import API, PRICE
from tests.stages.infer.conftest import Make, frozen_questions, study_maker
from tests.stages.infer.test_tools import frozen

from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.settings.steps import Step, Task, next_step
from omibench.stages.infer import infer_cell
from omibench.study.plan.build import plan_study
from omibench.study.plan.plan import Plan
from omibench.study.plan.text import render


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return frozen_questions(tmp_path)


@pytest.fixture
def study(tmp_path: Path, questions: Path) -> Study:
    """Two models under two settings with captions by a third, two samples each; and one without."""
    make: Make = study_maker(tmp_path)
    oracle = tmp_path / "oracle.jsonl"
    lines = [json.loads(line) for line in oracle.read_text().splitlines()]
    told = [{**line, "captions": ["a cart", "a road"]} for line in lines]
    oracle.write_text("".join(json.dumps(line) + "\n" for line in told))
    sim: dict[str, Any] = {"provider": "simulated", "oracle": str(oracle)}
    words = {"images": {"show": "captions", "model": "eyes"}}
    twice = {"decoding": {"samples": 2, "temperature": 0.6}}
    return make(
        models={"a": sim, "b": {**sim, "seed": 2}, "eyes": {**sim, "seed": 3}},
        settings={"words": {**words, **twice}, "short": {**words, "prompt": "direct"}, "cot": {}},
        infer={"models": ["a", "b"], "settings": ["words", "short", "cot"]},
    )


def of(plan: Plan, model: str) -> list[tuple[str, int, int, int, int]]:
    rows = [row for row in plan.rows if row.model == model]
    return [(r.setting, r.requests, r.stored, r.to_buy, r.estimated) for r in rows]


def test_first_steps_are_put_together_once_for_all_models_and_samples(
    study: Study, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, str]] = []

    def counting(task: Task) -> Step:
        made.append((task.question.id, str(task.setting.prompt)))
        return next_step(task)

    monkeypatch.setattr("omibench.study.plan.plan.next_step", counting)
    plan = plan_study(study, questions)
    assert sum(row.requests for row in plan.list_rows("respondent")) == 24
    assert len(made) == 3 * 3


def test_what_helpers_are_asked_is_counted_once_over_all_cells(
    study: Study, questions: Path, tmp_path: Path
) -> None:
    plan = plan_study(study, questions)
    (row,) = plan.list_rows("captioner")
    assert (row.model, row.cell_model, row.setting) == ("eyes", "", "")
    assert (row.requests, row.to_buy, row.shown, row.estimated) == (6, 6, 6, 0)
    assert of(plan, "a") == [("words", 6, 0, 6, 6), ("short", 3, 0, 3, 3), ("cot", 3, 0, 3, 0)]
    text = render(plan)
    assert "captioner: eyes" in text
    assert "18 requests follow missing answers" in text
    assert not (tmp_path / "store").exists()


def test_with_the_captions_in_the_store_the_rest_is_exact(
    study: Study, questions: Path, tmp_path: Path
) -> None:
    infer_cell(questions, tmp_path / "out.parquet", study, Cell("a", "words"))
    plan = plan_study(study, questions)
    assert of(plan, "eyes") == [("", 6, 6, 0, 0)]
    assert of(plan, "a")[0] == ("words", 6, 6, 0, 0)
    assert of(plan, "b")[:2] == [("words", 6, 0, 6, 0), ("short", 3, 0, 3, 0)]
    assert "follow missing answers" not in render(plan)


def test_a_paid_captioner_is_priced(study: Study, questions: Path) -> None:
    values = study.model_dump(mode="json", exclude_defaults=True)
    values["models"]["eyes"] = API
    (row,) = plan_study(Study.model_validate(values), questions).list_rows("captioner")
    assert row.money == "priced"
    assert row.estimate.output_most == 6 * 1024
    assert 0 < (row.estimate.usd or 0) < row.estimate.usd_most


def test_pictures_that_are_not_made_yet_are_planned_and_not_made(
    study: Study, questions: Path, tmp_path: Path
) -> None:
    values = study.model_dump(mode="json", exclude_defaults=True)
    values["settings"]["cot"]["images"] = {"show": "degraded", "by": ["blur"]}
    plan = plan_study(Study.model_validate(values), questions)
    assert of(plan, "a")[2] == ("cot", 3, 0, 3, 0)
    assert plan.rows[2].shown == 6
    assert not (tmp_path / "pictures").exists()


# What a plan says of loops of tools: turns, pictures, and runs of code.


def plan(tmp_path: Path, **tools: Any) -> Plan:
    values = {
        "study": {"name": "test", "store": str(tmp_path / "store")},
        "data": str(tmp_path),
        "models": {
            "m": API,
            "sandbox": {"provider": "python"},
            "eyes": {"provider": "openai", "id": "eyes", "price": PRICE},
        },
        "settings": {
            "plain": {},
            "tools": {"tools": tools},
            "seen": {"perceiver": "eyes"},
        },
        "infer": {"models": ["m"], "settings": ["plain", "tools", "seen"]},
    }
    return plan_study(parse_study(values, "test"), frozen(tmp_path, "a", "b"))


@pytest.mark.parametrize("style", ["native", "text"])
def test_turns_and_pictures_of_tools_are_planned(tmp_path: Path, style: str) -> None:
    found = plan(tmp_path, style=style, max_turns=9, images=10, by={"python": "sandbox"})
    plain, tools, seen = found.list_rows("respondent")
    assert (plain.requests, plain.shown) == (2, 4)
    # Two of eight turns call, each for one more picture: 2, 3 and 4 are shown.
    assert (tools.requests, tools.shown) == (6, 18)
    assert tools.estimate.usd > 2.5 * plain.estimate.usd
    assert tools.estimate.output_most == 2 * 9 * 4096
    assert tools.estimate.usd_most > 9 * plain.estimate.usd_most
    (row,) = found.list_rows("tool")
    assert (row.model, row.to_buy, row.money) == ("sandbox", 4, "none")
    assert (seen.requests, seen.shown) == (2, 4)
    (eyes,) = found.list_rows("captioner")
    assert (eyes.model, eyes.requests, eyes.shown, eyes.money) == ("eyes", 4, 4, "priced")


def test_tools_without_look_are_planned_too(tmp_path: Path) -> None:
    found = plan(tmp_path, offered=["crop", "zoom"], max_turns=2)
    tools = found.list_rows("respondent")[1]
    assert (tools.requests, tools.shown) == (4, 10)
    assert not found.list_rows("tool")
