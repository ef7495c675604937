"""Tasks go step by step, all together; what is shared is asked once; what fails ends a task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from omibench.params.setting import Setting
from omibench.schemas.problem import Question
from omibench.schemas.request import Conversation, Decoding, Message, Request, Response, TextPart
from omibench.settings import steps as rounds
from omibench.settings.steps import Ask, Step, Task, run_tasks


def said(text: str) -> Conversation:
    return Conversation(messages=(Message(role="user", parts=(TextPart(text=text),)),))


def caption_then_answer(task: Task, earlier: Sequence[Sequence[Response]] = ()) -> Step:
    name = task.question.id
    if not earlier:
        captions = (said(f"describe {name} {n}") for n in range(2))
        return tuple(Ask(c, Decoding(), "captioner", "eyes", shared=True) for c in captions)
    if len(earlier) == 1:
        words = " and ".join(r.text for r in earlier[0])
        return (Ask(said(f"{name}: {words}"), task.setting.decoding),)
    return ()


class Models:
    """Answers every request with its own words, but for those that are to fail."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.calls: list[tuple[str, list[str]]] = []

    def __call__(self, model: str, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        texts = [request.conversation.text for request in requests]
        self.calls.append((model, texts))
        return [
            (
                f"{model}/{text}/{request.index}",
                Response(text="", outcome="refused")
                if text in self.failing
                else Response(text=f"<{text}>"),
            )
            for text, request in zip(texts, requests, strict=True)
        ]


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Two samples of two questions, under a setting that has captions written first."""
    monkeypatch.setattr(rounds, "next_step", caption_then_answer)
    tasks = [Task(Question(id=n, question=n), Setting(), Path()) for n in ("p", "q")]
    return [task._replace(sample=sample) for task in tasks for sample in range(2)]


def test_each_round_asks_all_tasks_at_once(tasks: list[Task]) -> None:
    models = Models()
    answered = run_tasks(tasks, "own", "captions", "study", models)
    assert [model for model, _ in models.calls] == ["eyes", "own"]
    assert [each.last.response.text for each in answered] == [
        f"<{n}: <describe {n} 0> and <describe {n} 1>>" for n in ("p", "p", "q", "q")
    ]
    assert [each.last.request.index for each in answered] == [0, 1, 0, 1]
    captions = [a for each in answered for a in each.steps[0]]
    assert {a.request.index for a in captions} == {0}, "samples share their captions"
    assert {(a.request.tags.role, a.request.tags.setting) for a in captions} == {("captioner", "")}
    assert {a.last.request.tags.setting for a in answered} == {"captions"}


def test_a_thread_whose_captioner_refuses_ends_there_and_others_go_on(
    tasks: list[Task],
) -> None:
    models = Models("describe p 1")
    answered = run_tasks(tasks, "own", "captions", "study", models)
    assert [(a.last.model, a.last.response.outcome) for a in answered] == [
        ("eyes", "refused"),
        ("eyes", "refused"),
        ("own", "answered"),
        ("own", "answered"),
    ]
    assert models.calls[1] == ("own", [a.last.request.conversation.text for a in answered[2:]])
