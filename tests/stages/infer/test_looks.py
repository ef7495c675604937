"""The order of the problems, and looks that repeat what the simulation does."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from omibench.errors import FileFormatError, ParamsError
from omibench.params.setting import Cell
from omibench.params.stages.infer import Adaptive
from omibench.results.statistics.sequential import Rule, run_race
from omibench.schemas.adaptive import Look, Pair, ProblemOrder, count_asked, list_compared
from omibench.schemas.problem import Question
from omibench.schemas.tables import write_json, write_jsonl
from omibench.stages.infer.looks import hold_look, order_problems
from omibench.stages.infer.stage import limit_to_order

QUARTERS = Adaptive(looks=[0.25, 0.5, 0.75, 1])


def make_questions(stems: int = 60) -> list[Question]:
    """Two of three stems are of physics; every fifth has three problems."""
    return [
        Question(
            id=f"p{stem}-{part}", question="?", subject="physics" if stem % 3 else "biology",
            group=f"s{stem}" if stem % 5 == 0 else "",
        )
        for stem in range(stems)
        for part in range(3 if stem % 5 == 0 else 1)
    ]  # fmt: skip


def test_the_order_keeps_stems_whole_and_each_part_has_the_mix_of_all() -> None:
    questions = make_questions()
    order = order_problems(questions, QUARTERS, seed=3)
    assert sorted(order.ids) == sorted(q.id for q in questions)
    assert order.looks[-1] == len(questions)
    subject = {question.group or question.id: question.subject for question in questions}
    parts = [[order.groups[order.ids.index(id)] for id in order.list_part(n)] for n in (1, 2, 3, 4)]
    assert all(not {*a} & {*b} for n, a in enumerate(parts) for b in parts[:n])
    for part in parts:
        subjects = Counter(subject[stem] for stem in {*part})
        assert subjects["physics"] / subjects.total() == pytest.approx(2 / 3, abs=0.1)


def test_the_order_depends_on_the_seed_and_not_on_the_order_of_the_file() -> None:
    questions = make_questions()
    order = order_problems(questions, QUARTERS, seed=3)
    shuffled = random.Random(1).sample(questions, len(questions))
    again = order_problems(shuffled, QUARTERS, seed=3)
    assert again.groups == order.groups
    assert order_problems(questions, QUARTERS, seed=4).sha256 != order.sha256


def test_looks_without_a_new_problem_are_refused() -> None:
    with pytest.raises(ParamsError, match=r"4 looks at 3 problems of 3 stems.*use fewer looks"):
        order_problems(make_questions(60)[3:6], QUARTERS, seed=0)


def race(adaptive: Adaptive, cells: list[Pair], accuracies: list[float]) -> tuple[Any, list[Look]]:
    """All looks, one by one, each with only what cells that are open have answered."""
    order = order_problems(make_questions(300), adaptive, seed=0)
    rng = np.random.default_rng(2)
    table = (rng.random((len(order.ids), len(cells))) < accuracies).astype(float)
    looks: list[Look] = []
    for size in order.looks:
        values = {
            cell: dict(zip(order.ids[:size], table[:size, cells.index(cell)].tolist(), strict=True))
            for cell in list_compared(looks, cells, adaptive.keep)
        }
        looks.append(hold_look(order, looks, cells, values, adaptive))
    rule = Rule(order.looks, adaptive.alpha, adaptive.spending)
    keep = [n for n, (model, _) in enumerate(cells) if model in adaptive.keep]
    return run_race(table, order.groups, rule, keep), looks


def test_the_looks_of_the_graph_are_those_of_the_simulation() -> None:
    cells: list[Pair] = [("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("d", "x")]
    adaptive = QUARTERS.model_copy(update={"keep": ["d"]})
    simulated, looks = race(adaptive, cells, [0.8, 0.75, 0.6, 0.4, 0.2])
    total = looks[0].of
    assert [count_asked(looks, cell) or total for cell in cells] == simulated.asked
    assert 1 < len(simulated.left) < len(cells)
    assert 4 in simulated.left, "a model to keep was stopped"
    assert looks == race(adaptive, cells, [0.8, 0.75, 0.6, 0.4, 0.2])[1]
    assert all(stop.behind == look.leader for look in looks for stop in look.stopped)


def test_nothing_is_asked_once_no_cell_can_stop() -> None:
    _, looks = race(QUARTERS, [("a", "x"), ("b", "x")], [0.95, 0.2])
    assert [look.leader is None for look in looks] == [False, True, True, True]
    kept = QUARTERS.model_copy(update={"keep": ["a", "b"]})
    assert list_compared([], [("a", "x"), ("b", "x")], kept.keep) == []


def test_a_cell_is_asked_its_part_and_a_foreign_record_is_refused(
    study: Any, tmp_path: Path
) -> None:
    order = order_problems(make_questions(), QUARTERS, seed=0)
    write_json(tmp_path / "order.json", order)
    look = Look(
        look=2, problems=order.looks[1], of=len(order.ids), order=order.sha256, scorer="robust",
        level=0.01, open=[("sim", "cot"), ("gpt", "cot")], leader=("gpt", "cot"),
        stopped=[{"cell": ("sim", "cot"), "behind": ("gpt", "cot"), "difference": 0.2, "p": 0.001}],  # type: ignore[list-item]
    )  # fmt: skip
    write_jsonl(tmp_path / "looks.jsonl", [look])

    def ids(model: str, number: int | None = None) -> list[str]:
        limit = limit_to_order(
            study(), Cell(model, "cot"), tmp_path / "order.json", number
        ).study.limit
        assert limit is not None
        return limit.ids or []

    assert ids("sim") == order.ids[: order.looks[1]]
    assert ids("gpt") == order.ids
    assert ids("sim", 1) + ids("sim", 2) == ids("sim")
    with pytest.raises(ParamsError, match="has 4 looks"):
        ids("sim", 5)
    write_json(tmp_path / "order.json", ProblemOrder(**{**order.model_dump(), "sha256": "0"}))
    with pytest.raises(FileFormatError, match="of another order"):
        ids("sim")
