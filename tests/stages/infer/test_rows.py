"""Rows: what all steps took, and a helper's failure under its own name, never as an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.asks import talk

from omibench.params.setting import Setting
from omibench.schemas.problem import Question
from omibench.schemas.request import Response, Role, Usage
from omibench.settings.steps import AnsweredTask, Exchange, Task
from omibench.stages.infer.stage import make_row

TASK = Task(Question(id="q", question="?"), Setting(), Path(), sample=2)


def asked(model: str, role: Role, key: str, **said: Any) -> Exchange:
    request = talk(role=role, problem="q")
    return Exchange(model, request, key, Response(**{"text": key, **said}))


def test_the_answer_is_the_last_and_the_steps_are_what_was_asked_before() -> None:
    spent = Usage(input_tokens=10, output_tokens=3)
    first = asked("eyes", "captioner", "c1", usage=spent, simulated=True)
    turn, last = (asked("own", "respondent", key, usage=spent, cost_usd=0.5) for key in ("t", "a"))
    row = make_row(AnsweredTask(TASK, [(first,), (turn,), (last,)]))
    assert (row.id, row.index, row.key, row.steps) == ("q", 2, "a", ["c1", "t"])
    assert (row.text, row.outcome, row.error) == ("a", "answered", None)
    assert (row.input_tokens, row.output_tokens, row.cost_usd) == (20, 6, 1.0), "the model's own"
    assert row.latency_s is None, "one turn does not say"
    assert row.simulated, "a stand-in's captions make the answer one"


def test_a_helper_that_fails_is_named_and_its_words_are_no_answer() -> None:
    good = asked("eyes", "captioner", "c1")
    bad = asked("eyes", "captioner", "c2", text="The answer is B", outcome="truncated")
    row = make_row(AnsweredTask(TASK, [(good, bad)]))
    assert (row.key, row.steps, row.outcome) == ("c2", ["c1"], "truncated")
    assert (row.text, row.reasoning) == ("", None)
    assert row.error == "the captioner eyes: truncated"
    lost = asked("eyes", "captioner", "c3", text="", outcome="provider_error", error="HTTP 500")
    assert (
        make_row(AnsweredTask(TASK, [(lost,)])).error
        == "the captioner eyes: provider_error: HTTP 500"
    )
