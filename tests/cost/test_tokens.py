"""Tokens of text by script, the size of images, and a bound that holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from omibench.models.cost import (
    ImageFormula,
    bound_input,
    estimate_input,
    estimate_text_tokens,
    image_size,
)
from omibench.schemas.request import Conversation, ImagePart, Message, TextPart, ToolCall, ToolSpec

FLAT = ImageFormula(lambda width, height: 100)


def conversation(text: str, *paths: Path) -> Conversation:
    images = [ImagePart(sha256=str(path), path=str(path)) for path in paths]
    return Conversation(messages=(Message(role="user", parts=(TextPart(text=text), *images)),))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("four words are here!", 6),
        ("x" * 400, 100),
        ("12345678", 5),
        ("已知函数的图像如图所示", 10),
        ("Найдите площадь", 7),
    ],
)
def test_text_is_counted_by_script(text: str, tokens: int) -> None:
    assert estimate_text_tokens(text) == tokens


@given(st.text())
def test_what_is_expected_stays_below_the_bound(text: str) -> None:
    asked = conversation(text)
    assert 0 <= estimate_input(asked, FLAT).all < bound_input(asked, FLAT)


def test_images_are_measured_from_their_head(tmp_path: Path) -> None:
    whole, broken = tmp_path / "a.png", tmp_path / "b.png"
    Image.new("L", (321, 123)).save(whole)
    broken.write_bytes(b"no picture")
    assert image_size(str(whole)) == (321, 123)
    assert image_size(str(broken)) is None
    assert image_size(str(tmp_path / "none.png")) is None
    area = ImageFormula(lambda width, height: width * height)
    found = estimate_input(conversation("", whole, broken), area)
    assert (found.images, found.unmeasured) == (321 * 123 + 4096 * 4096, 1)


def test_tools_and_calls_are_counted_too() -> None:
    plain = conversation("Which?")
    tool = ToolSpec(name="crop", description="Cut a box out.", parameters={"type": "object"})
    call = ToolCall(id="c1", name="crop", arguments='{"box": [0, 0, 1, 1]}')
    turn = Message(role="assistant", parts=(), calls=(call,), carried="[1]")
    offering = plain.model_copy(update={"tools": (tool,)})
    called = plain.model_copy(update={"messages": (*plain.messages, turn)})
    for count in (lambda c: estimate_input(c, FLAT).text, lambda c: bound_input(c, FLAT)):
        assert count(offering) >= count(plain) + 100
        assert count(called) >= count(plain) + 10
