"""No gold, no solution and no sibling's text is ever said to a model, under any setting.

Over the whole real test split: each answer and each solution is replaced by a sentinel of its own,
and each question carries another one in its text. Pictures are not looked at: what they show is
the benchmark's. Conditions that make new pictures need their bytes, which the release has not; what
they say besides fixed words is what `all` says.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from omibench.benchmarks.omibench import load
from omibench.example import Example
from omibench.freeze.examples import example_rows
from omibench.params.presentation import FreezeExamples
from omibench.params.setting import Setting
from omibench.problem import Answer, Question
from omibench.request import Response
from omibench.settings.needs import asked_questions
from omibench.settings.steps import Task, next_step
from settings.problems import SETTINGS

SENTINEL = re.compile(r"~(GOLD|SOLUTION|TEXT):([^~]+)~")
OPEN_PICTURES = ("images-composite", "images-degraded", "images-occluded")
WORDS = [name for name in SETTINGS if not name.startswith(OPEN_PICTURES)]


class Split(NamedTuple):
    """The split with its sentinels: questions, examples, and who shares a stem or picture."""

    questions: list[Question]
    examples: list[Example]
    siblings: dict[str, set[str]]


@pytest.fixture(scope="session")
def split(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Split:
    questions, answers, _ = load(shared_data / "omibench", tmp_path_factory.mktemp("scratch"))
    marked = [_marked(question, n) for n, question in enumerate(questions)]
    golds = [_gold(answer) for answer in answers]
    aside = FreezeExamples(set_aside=20, first=9)
    return Split(marked, example_rows(marked, golds, aside), _siblings(questions))


def _marked(question: Question, number: int) -> Question:
    text = f"{question.question} ~TEXT:{question.id}~"
    subset = "local" if number % 2 else "national"
    return question.model_copy(update={"question": text, "subset": subset})


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


def said(task: Task) -> Iterator[str]:
    """The words of every conversation of a task."""
    earlier: list[list[Response]] = []
    while step := next_step(task, earlier):
        yield from (ask.conversation.text for ask in step)
        earlier.append([Response(text="So it is.") for _ in step])


def leaks(question: Question, setting: Setting, split: Split) -> set[tuple[str, str]]:
    """Sentinels that must not be there: any but its own text and those of strangers' examples."""
    task = Task(question, setting, Path(), split.examples)
    found = {match for text in said(task) for match in SENTINEL.findall(text)}
    shown = {example.id for example in split.examples} if setting.examples else set()
    shown -= split.siblings[question.id]
    return {
        (kind, problem)
        for kind, problem in found
        if (kind, problem) != ("TEXT", question.id) and problem not in shown
    }


@pytest.mark.parametrize("name", WORDS)
def test_nothing_leaks_over_the_whole_split(name: str, split: Split) -> None:
    asked = asked_questions(split.questions, SETTINGS[name], split.examples)
    assert len(asked) >= 1302
    assert [(q.id, found) for q in asked if (found := leaks(q, SETTINGS[name], split))] == []


def test_the_sentinels_would_be_seen(split: Split) -> None:
    question = split.questions[0]
    stranger = next(e for e in split.examples if e.id not in split.siblings[question.id])
    task = Task(question, SETTINGS["examples-none"], Path(), split.examples)
    kinds = {kind for text in said(task) for kind, _ in SENTINEL.findall(text)}
    assert kinds == {"TEXT", "GOLD", "SOLUTION"}
    assert stranger.solution == f"~SOLUTION:{stranger.id}~"
