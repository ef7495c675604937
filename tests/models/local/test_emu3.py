"""A tiny random Emu3 draws in its replies: whole pictures at their places, within the limits."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.asks import answers, extend
from tests.models.local_blocks import picture, provider, samples, shown
from tests.models.tiny_emu3 import build_emu3
from tests.models.tiny_vlm import build

from omibench.errors import ModelError
from omibench.models.client.ask import ask
from omibench.models.drawn import bound_pictures
from omibench.schemas.request import DrawnPart, Request, Response, write_reply, write_turn
from omibench.store.store import Store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("one_thread"),
]
LENGTH = 19
"""Tokens of a picture: `3*3` and two marks, nine visual tokens, three line ends, two closing."""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_emu3(tmp_path_factory.mktemp("checkpoint") / "emu3")


def many(folder: Path, count: int = 16, **more: Any) -> list[Request]:
    decoding = {"temperature": 1.0, "max_tokens": 150, **more}
    return samples("Draw it.", picture(folder, 1), indices=range(count), **decoding)


def test_pictures_stand_in_the_text_and_are_counted(checkpoint: Path, tmp_path: Path) -> None:
    drawing = provider(checkpoint, draws={"pictures": 2, "tokens": 12})
    responses = [r for _, r in drawing.answer(many(tmp_path))]
    assert {len(r.drawn) for r in responses} >= {0, 1}
    for response in responses:
        assert bound_pictures(response, "tiny") == response
        assert response.usage.image_output_tokens == LENGTH * len(response.drawn)
        assert "visual token" not in response.text
        assert "image start" not in response.text
        for part in response.drawn:
            assert isinstance(part, DrawnPart)
            assert Image.open(io.BytesIO(part.data)).size == (24, 24)
    places = [place for r in responses for place in r.drawn_at]
    assert any(places)
    again = [r for _, r in drawing.answer(many(tmp_path))]
    assert [(r.text, r.drawn, r.drawn_at) for r in again] == [
        (r.text, r.drawn, r.drawn_at) for r in responses
    ]


def test_no_picture_is_begun_that_has_no_room(checkpoint: Path, tmp_path: Path) -> None:
    drawing = provider(checkpoint, draws={"pictures": 2, "tokens": 12})
    short = [r for _, r in drawing.answer(many(tmp_path, max_tokens=LENGTH - 1))]
    assert not any(r.drawn for r in short)
    assert {r.usage.image_output_tokens for r in short} == {0}
    one = provider(checkpoint, draws={"pictures": 1, "tokens": 12})
    assert {len(r.drawn) for _, r in one.answer(many(tmp_path))} <= {0, 1}


def test_a_drawn_picture_is_shown_to_the_model_in_its_next_turn(
    checkpoint: Path, tmp_path: Path
) -> None:
    drawing = provider(checkpoint, draws={"pictures": 2, "tokens": 12})
    first = many(tmp_path)
    with Store(tmp_path / "store") as store:
        said = ask(first, drawing, store)
        number = next(n for n, response in enumerate(said) if response.drawn)
        turns = write_reply(said[number]), write_turn("user", "Go on.")
        again = first[number].model_copy(update={"decoding": shown("x").decoding})
        (after,) = ask([extend(again, *turns)], drawing, store)
    assert after.outcome in ("answered", "truncated")
    plain = (after.usage.input_tokens or 0) - (said[number].usage.input_tokens or 0)
    # A picture of 24 x 24 pixels is at least nine tokens with line ends and marks.
    assert plain > 12 * len(said[number].drawn)


def test_a_model_that_cannot_draw_is_named(tmp_path: Path) -> None:
    folder = build(tmp_path / "qwen")
    asked = provider(folder, draws={"tokens": 12})
    with pytest.raises(ModelError, match=r"model 'tiny': Qwen2_5_VL.* has no tokens of pictures"):
        list(asked.answer([shown("x")]))


def test_a_reply_without_pictures_is_an_ordinary_one(checkpoint: Path) -> None:
    drawing = provider(checkpoint, draws={"pictures": 1, "tokens": 12})
    (response,) = answers(drawing, shown("x", max_tokens=5))
    assert isinstance(response, Response)
    assert (response.drawn, response.drawn_at) == ((), ())
    assert response.text
