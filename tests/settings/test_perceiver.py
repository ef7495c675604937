"""Perceivers: what they are asked, what the answering model is shown, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.settings.problems import PROBLEMS, write_pictures

from omibench.params.cells import shows_everything
from omibench.params.setting import Setting
from omibench.results.attributes import describe_settings
from omibench.schemas.request import Response, TextPart
from omibench.settings.steps import Step, Task, next_step

TWO = PROBLEMS[0]
SAID = [Response(text="Line:\n(0, 0) -- (1, 2) [IMAGE1]<END> so"), Response(text="A curve.")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pictures(tmp_path / "freeze")
    return tmp_path / "freeze"


def ask(folder: Path, perceiver: Any, *earlier: list[Response], **setting: Any) -> Step:
    block = Setting.model_validate({"perceiver": perceiver, **setting})
    return next_step(Task(TWO, block, folder), earlier)


def text(step: Step) -> str:
    parts = (part for m in step[-1].conversation.messages for part in m.parts)
    return "".join(part.text if isinstance(part, TextPart) else "<picture>" for part in parts)


def test_each_picture_is_described_once_and_without_the_problem(folder: Path) -> None:
    first = ask(folder, "eyes")
    assert [(a.role, a.model, a.shared) for a in first] == [("captioner", "eyes", True)] * 2
    assert text(first).endswith("solve nothing.<picture>")
    assert text(ask(folder, {"model": "eyes", "bare": True})) == "<picture>"


def test_wording_of_a_file_is_sent(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("[[system]]\nYou see.\n[[user]]\nCopy it.")
    (found, _) = ask(folder, "eyes", prompts={"perceive": str(tmp_path / "own.txt")})
    assert found.conversation.text == "You see.\nCopy it.\n[image]"


def test_descriptions_are_added_or_stand_in(folder: Path) -> None:
    block = {"model": "eyes", "until": "<END>", "format": "lines"}
    added = text(ask(folder, block, SAID))
    assert added.count("<picture>") == 2
    assert "as another model perceived them: lines]\n\nPicture 1: Line:\n(0, 0) -- (1, 2)" in added
    assert "image 1\n\nPicture 2: A curve." in added
    assert "so" not in added.partition("Picture 1")[2].partition("Picture 2")[0]
    instead = text(ask(folder, block | {"put": "instead"}, SAID))
    assert "<picture>" not in instead
    assert "[IMAGE0, described in words: Line:; (0, 0) -- (1, 2) image 1]" in instead
    assert ask(folder, block, SAID, [Response(text="B")]) == ()


def test_a_perceiver_goes_with_tools(folder: Path) -> None:
    added = ask(folder, "eyes", SAID, tools={})
    assert added[0].conversation.tools
    assert "Picture 2: A curve." in text(added)


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ({"images": "none"}, "perceiver needs the pictures, but images: none"),
        ({"perception": "I+QM"}, "perceiver and perception both describe pictures"),
        ({"perceiver": {"model": "e", "put": "instead"}, "tools": {}}, "remove `put: instead`"),
        ({"perceiver": {"model": "e", "put": "after"}}, "put"),
    ],
)
def test_what_does_not_go_together_is_refused(block: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Setting.model_validate({"perceiver": "eyes", **block})


def test_tables_know_of_it() -> None:
    setting = Setting.model_validate({"perceiver": {"model": "eyes", "put": "instead"}})
    assert describe_settings({"s": setting})["perception"].to_list() == ["instead eyes"]
    assert not shows_everything(setting)
    assert setting.helpers == ["eyes"]
