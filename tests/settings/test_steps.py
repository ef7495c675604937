"""What a setting asks first, and when it has its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from omibench.errors import ParamsError, PluginError
from omibench.params.setting import Setting
from omibench.params.study import parse_study
from omibench.plugins.registry import loading
from omibench.schemas.problem import Question
from omibench.schemas.request import Conversation, Request, Response, converse, write_turn
from omibench.settings.registry import STRATEGIES, Dialogue, strategy
from omibench.settings.steps import Task, next_step, run_tasks

QUESTION = Question(id="q", question="Which is larger?")


WORDS = {"show": "captions", "model": "eyes"}


def test_without_pictures_no_captioner_is_asked() -> None:
    (ask,) = next_step(Task(QUESTION, Setting.model_validate({"images": WORDS}), Path()))
    assert ask.role == "respondent"
    assert Setting.model_validate({"images": WORDS}).in_steps
    assert not Setting.model_validate({"images": "composite"}).in_steps


@pytest.fixture
def strategies() -> Iterator[None]:
    """Strategies of a plug-in: one that asks until it reads "sure", one that begins anew."""
    with loading("own.py"):

        @strategy("until-sure", turns=4)
        def ask_again(dialogue: Dialogue) -> str | None:
            assert dialogue.question == QUESTION
            return None if dialogue.responses[-1].text == "sure" else "Are you sure?"

        @strategy("anew", turns=2)
        def begin_anew(dialogue: Dialogue) -> Conversation:
            said = dialogue.responses[0].text
            return converse("Be brief.", [], [write_turn("user", f"Shorten: {said}")])

        @strategy("broken", turns=2)
        def fail(dialogue: Dialogue) -> str:
            return dialogue.opening.no_such_thing  # type: ignore[attr-defined,no-any-return]

        @strategy("odd", turns=2)
        def return_number(dialogue: Dialogue) -> int:
            return 7

    yield
    STRATEGIES.forget("own.py")


def run(name: str, *says: str, samples: int = 1) -> list[list[str]]:
    """The text of each request of each sample, if the model says these things in turn."""
    setting = Setting.model_validate({"strategy": name, "decoding": {"samples": samples}})
    rounds = iter(says)

    def ask(model: str, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        text = next(rounds)
        return [(str(n), Response(text=text)) for n, _ in enumerate(requests)]

    tasks = [Task(QUESTION, setting, Path(), sample=sample) for sample in range(samples)]
    ended = run_tasks(tasks, "m", "s", "study", ask)
    return [[step[0].request.conversation.text for step in task.steps] for task in ended]


def test_a_strategy_goes_on_until_it_is_done(strategies: None) -> None:
    (texts,) = run("until-sure", "maybe", "well", "sure")
    opening = texts[0]
    assert texts == [
        opening,
        f"{opening}\nmaybe\nAre you sure?",
        f"{opening}\nmaybe\nAre you sure?\nwell\nAre you sure?",
    ]


def test_a_strategy_ends_at_its_maximum_and_may_write_a_conversation(strategies: None) -> None:
    assert [len(texts) for texts in run("until-sure", *["no"] * 9, samples=2)] == [4, 4]
    (texts,) = run("anew", "a long answer", "short")
    assert texts[1:] == ["Be brief.\nShorten: a long answer"]


def test_mistakes_of_a_strategy_are_one_line_each(strategies: None) -> None:
    with pytest.raises(PluginError, match=r"strategy 'broken' \(of q\): .*no_such_thing") as error:
        run("broken", "x")
    assert "\n" not in str(error.value)
    with pytest.raises(PluginError, match="strategy 'odd': it returned int; return the next turn"):
        run("odd", "x")
    with pytest.raises(PluginError, match="turns is 1; give a number from 2 to 32"):
        strategy("short", turns=1)
    settings = {"mine": {"strategy": "until-shure"}}
    with pytest.raises(ParamsError, match=r"settings\.mine\.strategy: .*did you mean 'until-sure'"):
        parse_study({"settings": settings}, "test")
    both = {"mine": {"strategy": "until-sure", "tools": {}}}
    with pytest.raises(ParamsError, match="tools and strategy both determine the turns"):
        parse_study({"settings": both}, "test")
