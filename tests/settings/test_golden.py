"""Golden files: what every setting says to a model, as text, for six problems.

`OMIBENCH_REWRITE_GOLDEN=1 pytest tests/settings/test_golden.py` writes them again; read the
difference before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.settings.problems import EXAMPLES, SETTINGS, problems_of, write_pictures

from omibench.schemas.problem import Question
from omibench.schemas.request import ImagePart, Message, Response
from omibench.settings.steps import Ask, Step, Task, next_step

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    freeze = tmp_path_factory.mktemp("results") / "freeze"
    write_pictures(freeze)
    return freeze


def steps(task: Task) -> Iterator[Step]:
    """Every step of a task, each answered by a placeholder."""
    earlier: list[list[Response]] = []
    while step := next_step(task, earlier):
        yield step
        told = (f"(what the {ask.role} says, {n})" for n, ask in enumerate(step, 1))
        earlier.append([Response(text=text) for text in told])


def as_text(name: str, folder: Path) -> str:
    """Every conversation of a setting."""
    parts = []
    for question in problems_of(name):
        for number, step in enumerate(steps(Task(question, SETTINGS[name], folder, EXAMPLES)), 1):
            parts += [_asked(question, number, ask) for ask in step]
    return "\n".join(parts)


def _asked(question: Question, number: int, ask: Ask) -> str:
    who = f"{ask.role}{f' {ask.model}' if ask.model else ''}{', once' if ask.shared else ''}"
    messages = [_message(message) for message in ask.conversation.messages]
    tools = ", ".join(tool.name for tool in ask.conversation.tools)
    offered = [f"--- tools: {tools}"] if tools else []
    return "\n".join([f"=== {question.id}, step {number}: {who}", *messages, *offered, ""])


def _message(message: Message) -> str:
    body = "".join(
        _picture(part) if isinstance(part, ImagePart) else part.text for part in message.parts
    )
    return f"--- {message.role}\n{body}"


def _picture(part: ImagePart) -> str:
    # What a made picture is called depends on the version of Pillow.
    path = Path(part.path)
    return f"<{path.name if path.parent.name == 'images' else 'a made picture'}>"


@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_said_is_what_was_reviewed(name: str, folder: Path) -> None:
    file, text = GOLDEN / f"{name}.txt", as_text(name, folder)
    if os.environ.get("OMIBENCH_REWRITE_GOLDEN"):
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


def test_every_golden_file_is_of_a_setting() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(SETTINGS)
