"""Keys: the same for ever, and different exactly when something that a model sees differs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Part,
    Request,
    Tags,
    TextPart,
)
from omibench.store.key import canonical, request_key

TAGS = Tags(role="respondent", problem="p", study="s", setting="cot")
IDENTITY = {"provider": "openai", "id": "some-model", "revision": "2026-01-01"}
A, B = "a" * 64, "b" * 64


def request(*parts: Part, decoding: Decoding | None = None, index: int = 0) -> Request:
    conversation = Conversation(messages=(Message(role="user", parts=parts),))
    return Request(
        conversation=conversation, decoding=decoding or Decoding(), index=index, tags=TAGS
    )


def test_the_keys_of_known_requests_never_change() -> None:
    asked = [
        request(TextPart(text="What is shown?")),
        request(TextPart(text="Was ist zu sehen? ü 你好 \U0001f600")),
        request(TextPart(text="first"), ImagePart(sha256=A), TextPart(text="second")),
        request(TextPart(text="x"), decoding=Decoding(temperature=0.6, max_tokens=16, top_p=0.95)),
        request(TextPart(text="x"), index=3),
    ]
    keys = [request_key(IDENTITY, r) for r in asked]
    tagged = request_key({"provider": "simulated", "reads_tags": True}, asked[0])
    assert [*keys, tagged] == PINNED


PINNED = [
    "adf73876cf7206fa7bf686ca88be89f30507f930767e34c96104dd42a7e9d997",
    "b600f15256432ef0eb9bb496d55e978eb8c67c1a1c36f10703f11fe7a866d03a",
    "bcc5e2b7c10cde8eacfef2842d3ffa9724d6eb8ed7230dd235eeebf97969d51c",
    "31aed3dbccaf0df4ff57183dc95fc4e4cf7a3467f7215e9281f737d99becaf87",
    "0fad01debc9469173ec644add4b3b2c0d69820914f9c688c2fdbaa72cdfa6e64",
    "ea705fe8c22837decbe2f4c1793bf6170a32b9d86f6b1aabafdc885a94ccfb57",
]


def test_what_a_model_cannot_see_is_outside_the_key() -> None:
    one = request(TextPart(text="x"), ImagePart(sha256=A, path="here.png"))
    other = Request(
        conversation=request(
            TextPart(text="x"), ImagePart(sha256=A, path="there.png")
        ).conversation,
        decoding=Decoding(samples=8),
        tags=Tags(role="judge", problem="q", study="t", setting="u"),
    )
    assert request_key(IDENTITY, one) == request_key(IDENTITY, other)


@pytest.mark.parametrize("change", [{"problem": "q"}, {"setting": "direct"}, {"role": "judge"}])
def test_a_model_that_reads_tags_is_keyed_by_them(change: dict[str, Any]) -> None:
    one = request(TextPart(text="x"))
    other = one.model_copy(update={"tags": TAGS.model_copy(update=change)})
    identity = {**IDENTITY, "reads_tags": True}
    assert request_key(identity, one) != request_key(identity, other)


PARTS = st.lists(
    st.one_of(
        st.text(max_size=5).map(lambda text: TextPart(text=text)),
        st.sampled_from([A, B]).map(lambda sha256: ImagePart(sha256=sha256)),
    ),
    min_size=1,
    max_size=4,
)
REQUESTS = st.builds(
    lambda parts, temperature, max_tokens, index: request(
        *parts, decoding=Decoding(temperature=temperature, max_tokens=max_tokens), index=index
    ),
    PARTS,
    st.sampled_from([0.0, 0.6]),
    st.sampled_from([16, 32]),
    st.integers(0, 2),
)


@given(REQUESTS, REQUESTS)
def test_two_keys_are_equal_exactly_when_the_requests_are(one: Request, other: Request) -> None:
    assert (request_key(IDENTITY, one) == request_key(IDENTITY, other)) == (one == other)


@given(REQUESTS)
def test_the_key_survives_writing_and_reading_the_request(one: Request) -> None:
    again = Request.model_validate_json(one.model_dump_json())
    assert request_key(IDENTITY, again) == request_key(IDENTITY, one)


def test_another_identity_is_another_key() -> None:
    one = request(TextPart(text="x"))
    assert request_key(IDENTITY, one) != request_key({**IDENTITY, "revision": "later"}, one)


def test_canonical_json_has_one_spelling() -> None:
    assert canonical({"b": 1, "a": ["é"]}) == b'{"a":["\\u00e9"],"b":1}'
    with pytest.raises(ValueError, match="JSON"):
        canonical(float("nan"))
