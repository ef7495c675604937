"""Replies of text and pictures in sequence: places, limits, the store, and the next turn."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.asks import talk

from omibench.errors import ModelError
from omibench.models.api.replies import MARK, move_pictures, split_reply
from omibench.models.client.ask import Asker
from omibench.models.cost import History, estimate, learn
from omibench.models.drawn import MOST_PICTURES, bound_pictures, make_drawn
from omibench.models.provider import NO_BUDGET, Budget
from omibench.models.simulated.answers import Oracle, OracleRow
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.models.providers import OpenAIModel, SimulatedModel
from omibench.plugins.registry import loading
from omibench.schemas.problem import Question
from omibench.schemas.request import (
    Conversation,
    DrawnPart,
    ImagePart,
    Message,
    Request,
    Response,
    TextPart,
    Usage,
    split_at_pictures,
    write_reply,
    write_turn,
)
from omibench.settings.registry import STRATEGIES, continue_dialogue, strategy
from omibench.store.store import Store


def paint(shade: int, size: tuple[int, int] = (8, 6)) -> DrawnPart:
    out = io.BytesIO()
    Image.new("L", size, shade).save(out, "PNG")
    return make_drawn(out.getvalue())


RED, BLUE = paint(10), paint(20)


def request(*messages: Message, index: int = 0) -> Request:
    turns = messages or (write_turn("user", "Think with pictures."),)
    return talk(*turns, index=index, problem="p", setting="", max_tokens=1000)


def test_pictures_keep_their_places_when_the_reasoning_is_split_off() -> None:
    reply = split_reply(["<think>Hm", RED, "</think>First ", BLUE, "then ", RED, "B."])
    assert (reply.text, reply.reasoning) == ("First then B.", "Hm")
    assert reply.drawn == (RED, BLUE, RED)
    assert reply.drawn_at == (0, 6, 11)
    assert [*split_at_pictures(reply.text, reply.drawn, reply.drawn_at)] == [
        RED, "First ", BLUE, "then ", RED, "B.",
    ]  # fmt: skip


PIECES = st.lists(st.text(max_size=6) | st.sampled_from([RED, BLUE]), max_size=20)


@given(PIECES, st.sampled_from(["", "Thought."]))
def test_text_and_pictures_come_out_as_they_went_in(
    pieces: list[str | DrawnPart], thoughts: str
) -> None:
    """A mark of the model's own is no picture, and none is lost or moved."""
    words = "".join(p.replace(MARK, "") for p in pieces if isinstance(p, str))
    if "think>" in words:
        return
    reply = split_reply(pieces, thoughts)
    kept = [p for p in pieces if isinstance(p, DrawnPart)][:MOST_PICTURES]
    assert (reply.text, list(reply.drawn)) == (words, kept)
    runs = [*split_at_pictures(reply.text, reply.drawn, reply.drawn_at)]
    assert "".join(r for r in runs if isinstance(r, str)) == words
    assert [r for r in runs if isinstance(r, DrawnPart)] == kept


def test_only_so_many_pictures_are_kept(caplog: pytest.LogCaptureFixture) -> None:
    reply = split_reply(["a", *[RED] * 20])
    assert len(reply.drawn) == len(reply.drawn_at) == MOST_PICTURES
    response = bound_pictures(Response(text="a", drawn=(RED,) * 20), "m")
    assert (len(response.drawn), response.drawn_at) == (MOST_PICTURES, ())
    assert "only 16 are kept per reply" in caplog.text


def test_a_picture_of_a_provider_is_checked_whatever_it_claims(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wrong = DrawnPart(sha256="0" * 64, data=RED.data)
    page = DrawnPart(sha256="1" * 64, data=b"<script>")
    given = Response(text="abc", drawn=(page, wrong), drawn_at=(1, 2))
    response = bound_pictures(given, "m")
    assert (response.drawn, response.drawn_at) == ((RED,), (2,))
    assert "it is not a PNG, JPEG, GIF or WebP" in caplog.text


@pytest.mark.parametrize("places", [(1,), (2, 1), (0, 4), (-1, 0)])
def test_places_that_do_not_fit_are_an_error_of_the_provider(places: tuple[int, ...]) -> None:
    response = Response(text="abc", drawn=(RED, BLUE), drawn_at=places)
    with pytest.raises(ModelError, match="model 'm': its provider returned 2 pictures at"):
        bound_pictures(response, "m")
    with pytest.raises(ModelError, match="a picture without bytes"):
        bound_pictures(Response(text="", drawn=(ImagePart(sha256="0"),)), "m")


class Drawer:
    """A provider as a plug-in writes one: it draws, and remembers what it was shown."""

    identity: Mapping[str, Any] = {"provider": "drawer", "id": "drawer"}
    simulated, max_images = False, None

    def __init__(self) -> None:
        self.shown: list[Conversation] = []

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        for asked in requests:
            self.shown.append(asked.conversation)
            yield asked, Response(text="See it.", drawn=(RED, BLUE), drawn_at=(4, 7))


def test_pictures_are_stored_by_hash_and_sent_back_in_the_next_turn(tmp_path: Path) -> None:
    drawer = Drawer()
    with Store(tmp_path) as store:
        first = request()
        (said,) = Asker(drawer, store)([first])
        again = request(*first.conversation.messages, write_reply(said), write_turn("user", "So?"))
        Asker(drawer, store)([again])
        (stored,) = Asker(drawer, store)([first])
    assert len(drawer.shown) == 2
    turn = drawer.shown[1].messages[1]
    assert [p.text if isinstance(p, TextPart) else p.sha256 for p in turn.parts] == [
        "See ", RED.sha256, "it.", BLUE.sha256,
    ]  # fmt: skip
    for image, drawn in zip(drawer.shown[1].images, (RED, BLUE), strict=True):
        assert Path(image.path).read_bytes() == drawn.data
        assert hashlib.sha256(drawn.data).hexdigest() == image.sha256
    assert (stored.drawn, stored.drawn_at) == (said.drawn, (4, 7))


def test_a_strategy_continues_with_the_pictures() -> None:
    with loading("own.py"):
        strategy("draw-on", turns=2)(lambda dialogue: "Go on.")
    said = Response(text="ab", drawn=(ImagePart(sha256="c"),), drawn_at=(1,))
    try:
        question = Question(id="p", question="Think.")
        turn = continue_dialogue("draw-on", question, request().conversation, [said])
    finally:
        STRATEGIES.forget("own.py")
    assert turn is not None
    kinds = [[part.kind for part in message.parts] for message in turn.messages]
    assert kinds == [["text"], ["text", "image", "text"], ["text"]]
    assert [p.kind for p in write_reply(said, "other").parts] == ["text", "image"]


def test_an_api_shows_a_models_own_pictures_in_the_users_next_turn() -> None:
    image = ImagePart(sha256="c")
    said = Message(role="assistant", parts=(TextPart(text="a"), image))
    bare = Message(role="assistant", parts=(image,))
    user = write_turn("user", "Go on.")
    moved = [*move_pictures((user, said, user, bare, user), ("tool", "assistant"))]
    assert [[p.kind for p in message.parts] for message in moved] == [
        ["text"], ["text"], ["image", "text"], ["text"], ["image", "text"],
    ]  # fmt: skip
    assert [*move_pictures((user, said), ("tool",))] == [user, said]


def test_pictures_are_priced_before_and_after_the_first_replies() -> None:
    price = {"input": 0, "output": 10, "image_output": 40, "as_of": "2026-01-01"}
    block = {"provider": "openai", "id": "m", "price": price}
    plain = OpenAIModel.model_validate(block)
    drawing = OpenAIModel.model_validate(block | {"draws": {"pictures": 2, "tokens": 300}})
    assert plain.store_identity == drawing.store_identity
    calls = [[request()]]
    assert estimate(plain, calls).usd == pytest.approx(250 * 10 / 1e6)
    expected = estimate(drawing, calls)
    assert (expected.output, expected.usd) == (600, pytest.approx(600 * 40 / 1e6))
    assert expected.usd_most == pytest.approx(1000 * 40 / 1e6)
    usage = Usage(input_tokens=1, output_tokens=400, image_output_tokens=300)
    history = learn([[(request(), Response(text="a", usage=usage))]], lambda size: 0)  # type: ignore[arg-type]
    assert isinstance(history, History)
    measured = estimate(drawing, calls, history)
    assert measured.usd == pytest.approx((300 * 40 + 100 * 10) / 1e6)


def simulated(**more: Any) -> SimulatedProvider:
    row = {"id": "p", "subject": "physics", "answer": ["2"], "n_images": 1}
    oracle = Oracle([OracleRow.model_validate(row)])
    model = {"provider": "simulated", "oracle": "synthetic:omibench", **more}
    return SimulatedProvider("s", SimulatedModel.model_validate(model), oracle=oracle)


def test_a_simulated_model_draws_and_says_the_same_as_without() -> None:
    draws = {"pictures": 3, "tokens": 100}
    asked = [request(index=index) for index in range(8)]
    plain = [r for _, r in simulated().answer(asked)]
    drawing = [r for _, r in simulated(draws=draws).answer(asked)]
    assert [r.text for r in drawing] == [r.text for r in plain]
    assert {len(r.drawn) for r in drawing} <= {1, 2, 3}
    assert len({len(r.drawn) for r in drawing}) > 1
    for response in drawing:
        assert response.simulated
        assert bound_pictures(response, "s") == response
        assert response.usage.image_output_tokens == 100 * len(response.drawn)
    assert [r for _, r in simulated(draws=draws).answer(asked)] == drawing
    assert "draws" not in simulated().identity["parameters"]
