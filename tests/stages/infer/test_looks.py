"""The order of the problems, and looks that repeat what the simulation does."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from omibench.errors import FileFormatError, ParamsError, PassingError
from omibench.models.provider import NO_BUDGET, Budget
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.setting import Cell
from omibench.params.stages.infer import Adaptive
from omibench.results.statistics.sequential import LookPlan, hold_looks
from omibench.schemas.adaptive import (
    Look,
    Pair,
    ProblemOrder,
    count_asked,
    list_compared,
    locate_verdicts,
)
from omibench.schemas.problem import Question
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import (
    ResponseRow,
    VerdictRow,
    read_parquet,
    write_json,
    write_jsonl,
    write_parquet,
)
from omibench.stages.infer.looks import hold_look, order_problems, read_values
from omibench.stages.infer.stage import infer_part, limit_to_order

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


def hold_simulated_looks(
    adaptive: Adaptive, cells: list[Pair], accuracies: list[float]
) -> tuple[Any, list[Look]]:
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
    rule = LookPlan(order.looks, adaptive.alpha, adaptive.spending)
    keep = [n for n, (model, _) in enumerate(cells) if model in adaptive.keep]
    return hold_looks(table, order.groups, rule, keep), looks


def test_the_looks_of_the_graph_are_those_of_the_simulation() -> None:
    cells: list[Pair] = [("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("d", "x")]
    adaptive = QUARTERS.model_copy(update={"keep": ["d"]})
    simulated, looks = hold_simulated_looks(adaptive, cells, [0.8, 0.75, 0.6, 0.4, 0.2])
    total = looks[0].of
    assert [count_asked(looks, cell) or total for cell in cells] == simulated.asked
    assert 1 < len(simulated.left) < len(cells)
    assert 4 in simulated.left, "a model to keep was stopped"
    assert looks == hold_simulated_looks(adaptive, cells, [0.8, 0.75, 0.6, 0.4, 0.2])[1]
    assert all(stop.behind == look.leader for look in looks for stop in look.stopped)


def test_nothing_is_asked_once_no_cell_can_stop() -> None:
    _, looks = hold_simulated_looks(QUARTERS, [("a", "x"), ("b", "x")], [0.95, 0.2])
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


@pytest.mark.parametrize("outcome", ["provider_error", "budget_stop"])
def test_a_look_waits_for_what_a_later_run_can_answer_and_asks_only_that(
    questions: Path, study: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: Any
) -> None:
    answer, asked = SimulatedProvider.answer, []

    def fail_for_one(
        self: SimulatedProvider, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        asked.extend(request.tags.problem for request in requests)
        for request, response in answer(self, requests, budget):
            fails = is_down and request.tags.problem == "p1"
            error = {"error": "503 overloaded", "passing": True} if fails else {}
            yield request, Response(text="", outcome=outcome, **error) if fails else response

    monkeypatch.setattr(SimulatedProvider, "answer", fail_for_one)
    out, cell, is_down = tmp_path / "part.parquet", Cell("sim", "cot"), True
    with pytest.raises(PassingError, match=r"overloaded|the budget ended .* so the look waits"):
        infer_part(questions, out, study(), cell)
    assert not out.exists(), "a look was held on a part of the answers"
    assert set(asked) == {"p0", "p1", "p2"}
    asked.clear()
    is_down = False
    assert infer_part(questions, out, study(), cell) == 3
    assert asked == ["p1"], "what is stored was asked again"
    assert set(read_parquet(out, ResponseRow)["outcome"]) == {"answered"}


def test_the_value_of_a_problem_is_the_mean_of_its_samples_by_the_scorer_that_compares(
    tmp_path: Path,
) -> None:
    cell: Pair = ("m", "many")

    def row(id: str, index: int, rules: str, verdict: float) -> VerdictRow:
        return VerdictRow(
            id=id, index=index, key="k", rules=rules, version=1, verdict=verdict, method="text",
            outcome="scored",
        )  # fmt: skip

    first = [row("a", n, "mine", verdict) for n, verdict in enumerate((1.0, 0.0, 0.0, 1.0))]
    second = [row("b", n, "mine", verdict) for n, verdict in enumerate((1.0, 1.0))]
    other = [row("a", 0, "robust", 0.0)]
    write_parquet(locate_verdicts(tmp_path, 1, cell), [*first, *other], VerdictRow)
    write_parquet(locate_verdicts(tmp_path, 2, cell), second, VerdictRow)
    assert read_values(tmp_path, 1, cell, "mine") == {"a": 0.5}
    assert read_values(tmp_path, 2, cell, "mine") == {"a": 0.5, "b": 1.0}
