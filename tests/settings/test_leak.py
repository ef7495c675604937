"""No gold, no solution and nothing of a sibling reaches a model, under any setting.

Over the real test split, a fifth of it and, in the slow part, all: each answer and each solution is
replaced by a sentinel of its own, each question, choice and description carries another one, and
each picture is a placeholder of a colour of its own, which is looked for in the pixels of whatever
is sent.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.settings.placeholders import Placeholders
from tests.settings.problems import SETTINGS

from omibench.datasets.omibench import load
from omibench.params.benchmark import BenchmarkParams
from omibench.params.presentation import FreezeExamples
from omibench.params.setting import Setting
from omibench.schemas.problem import Answer, Example, Question
from omibench.schemas.request import Conversation, Response, ToolCall, write_call
from omibench.settings.present import asked_questions
from omibench.settings.steps import Step, Task, next_step
from omibench.stages.freeze.rows import make_example_rows

SENTINEL = re.compile(r"~(GOLD|SOLUTION|TEXT):([^~]+)~")
CROP = '{"image": "image_1", "box": [0.1, 0.1, 0.9, 0.9]}'
MADE = (
    "images-composite", "images-labelled-composite", "images-degraded", "images-occluded",
    "tools-free", "tools-text",
)  # fmt: skip
"""Settings whose pictures are made of a problem's."""


class Split(NamedTuple):
    """The split with its sentinels: questions, examples, and who shares a stem or picture."""

    questions: list[Question]
    examples: list[Example]
    siblings: dict[str, set[str]]
    placeholders: Placeholders


@pytest.fixture(scope="session")
def split(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Split:
    questions, answers, _ = load(
        shared_data / "omibench", tmp_path_factory.mktemp("scratch"), BenchmarkParams()
    )
    placeholders = Placeholders(tmp_path_factory.mktemp("leak") / "freeze")
    marked = [_marked(question, n, placeholders) for n, question in enumerate(questions)]
    golds = [_gold(answer) for answer in answers]
    aside = FreezeExamples(set_aside=20, first=9)
    examples = make_example_rows(marked, golds, aside)
    return Split(marked, examples, _siblings(questions), placeholders)


def _marked(question: Question, number: int, placeholders: Placeholders) -> Question:
    own = f"~TEXT:{question.id}~"
    choices = question.choices and [
        choice.model_copy(update={"text": f"{choice.text or ''} {own}"})
        for choice in question.choices
    ]
    changed = {
        "question": f"{question.question} {own}",
        "choices": choices,
        "subset": "local" if number % 2 else "national",
    }
    return placeholders.given(question.model_copy(update=changed), f"A square. {own}")


def _gold(answer: Answer) -> Answer:
    sentinels = {"answer": [f"~GOLD:{answer.id}~"], "solution": f"~SOLUTION:{answer.id}~"}
    return answer.model_copy(update=sentinels)


def _siblings(questions: Sequence[Question]) -> dict[str, set[str]]:
    stems: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        for stem in (f"group {question.group}", *(figure.file for figure in question.images)):
            stems[stem].add(question.id)
    found: dict[str, set[str]] = defaultdict(set)
    for ids in stems.values():
        for one in ids:
            found[one] |= ids
    return found


def put(task: Task) -> Iterator[Conversation]:
    """Every conversation of a task; a model that has tools crops the first picture."""
    earlier: list[list[Response]] = []
    while step := next_step(task, earlier):
        yield from (ask.conversation for ask in step)
        earlier.append(_answered(step, task.setting, first=not earlier))


def _answered(step: Step, setting: Setting, *, first: bool) -> list[Response]:
    tools = setting.tools
    if tools is None or not first:
        return [Response(text="So it is.") for _ in step]
    if tools.style == "text":
        return [Response(text=write_call("crop", CROP)) for _ in step]
    call = ToolCall(id="call_1", name="crop", arguments=CROP)
    return [Response(text="", calls=(call,)) for _ in step]


def told(task: Task, split: Split) -> set[tuple[str, str]]:
    """What a task tells a model: the kind of each sentinel, and the problem that it belongs to."""
    found: set[tuple[str, str]] = set()
    for conversation in put(task):
        found.update(SENTINEL.findall(conversation.text))
        seen = split.placeholders.seen(conversation.images)
        found.update(("PICTURE", name.partition("#")[0]) for name in seen)
    return found


def may_be_told(question: Question, setting: Setting, split: Split) -> set[tuple[str, str]]:
    """The problem's own text and pictures, and what is shown of strangers' solved problems."""
    own = {("TEXT", question.id), ("PICTURE", question.id)}
    if not setting.examples:
        return own
    kinds = [
        "TEXT",
        "GOLD",
        "SOLUTION",
        *(["PICTURE"] if setting.examples.images != "none" else []),
    ]
    shown = {e.id for e in split.examples if e.take == setting.examples.take}
    return own | {(kind, e) for kind in kinds for e in shown - split.siblings[question.id]}


@pytest.mark.parametrize("step", [20, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SETTINGS)
def test_nothing_leaks_over_the_split(name: str, step: int, split: Split) -> None:
    setting = SETTINGS[name]
    asked = asked_questions(split.questions, setting, split.examples)
    assert len(asked) >= 1302
    leaks = {}
    for question in asked[::step]:
        task = Task(question, setting, split.placeholders.folder, split.examples)
        if more := told(task, split) - may_be_told(question, setting, split):
            leaks[question.id] = more
    assert leaks == {}
