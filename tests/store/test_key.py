"""Keys: the same for ever, and different exactly when something that a model sees differs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.asks import ask, say, talk

from omibench.schemas.request import (
    ImagePart,
    Request,
)
from omibench.store.key import (
    canonical,
    dump_decoding,
    dump_messages,
    dump_request,
    parse_request,
    request_key,
)

IDENTITY = {"provider": "openai", "id": "some-model", "revision": "2026-01-01"}
A, B = "a" * 64, "b" * 64


def test_the_keys_of_known_requests_never_change() -> None:
    asked = [
        ask("What is shown?", problem="p"),
        ask("Was ist zu sehen? ü 你好 \U0001f600"),
        ask("first", ImagePart(sha256=A), "second"),
        ask("x", temperature=0.6, max_tokens=16, top_p=0.95),
        ask("x", index=3),
        ask("x", system="Be brief."),
        talk(
            say("user", "one", ImagePart(sha256=A)),
            say("assistant", "two"),
            say("user", ImagePart(sha256=B), "three"),
        ),
        ask(*(ImagePart(sha256=sha256) for sha256 in (A, A, B))),
        ask('"quoted" \\ \n\t\x00\x7f \u2028 <b>'),
        ask(""),
        ask("x", temperature=1, max_tokens=1, top_p=1, samples=5, index=4),
    ]
    keys = [request_key(IDENTITY, r) for r in asked]
    tagged = request_key({"provider": "simulated", "reads_tags": True}, asked[0])
    nested = {"b": [1, 0.5, None], "a": "é"}
    thinking = {"provider": "anthropic", "id": "m", "thinking": 2048, "effort": "high"}
    switched = request_key({**thinking, "extra": nested}, asked[5])
    assert [*keys, tagged, switched] == PINNED


PINNED = [
    "adf73876cf7206fa7bf686ca88be89f30507f930767e34c96104dd42a7e9d997",
    "b600f15256432ef0eb9bb496d55e978eb8c67c1a1c36f10703f11fe7a866d03a",
    "bcc5e2b7c10cde8eacfef2842d3ffa9724d6eb8ed7230dd235eeebf97969d51c",
    "31aed3dbccaf0df4ff57183dc95fc4e4cf7a3467f7215e9281f737d99becaf87",
    "0fad01debc9469173ec644add4b3b2c0d69820914f9c688c2fdbaa72cdfa6e64",
    "adb79b7c6c213c1a1e0965c1f39023b5133f61b26cf7b0be2074f96b6d656435",
    "fbccc3d67fed65b2a28d348519b21c83e3604cfed8301a1ed228e92f4c88c797",
    "d3546a27394a7f30aae7fac06a91069cb195a2faa5ba5b493fcb0160b8842c4d",
    "cbd696ebcb862f35505e1627352833dd44376f9a6cbc44aee302fae4117062cc",
    "6e753791f5ff340105e97fb2202e35da43e0c05586fcf0ffc1880b2a29ecbd7d",
    "46dbf332ac69e59259921f276d91de1304b45b816ea0e4c2abf162c850fa5c4d",
    "ea705fe8c22837decbe2f4c1793bf6170a32b9d86f6b1aabafdc885a94ccfb57",
    "cd99f8886fa3f13bb76b4f9f9cd425a489a377c260afba8d53023c3bbb313f2d",
]


def test_what_a_model_cannot_see_is_outside_the_key() -> None:
    one = ask("x", ImagePart(sha256=A, path="here.png"))
    moved = ImagePart(sha256=A, path="there.png")
    other = ask("x", moved, samples=8, role="judge", problem="q", setting="u")
    other = other.model_copy(update={"tags": other.tags.model_copy(update={"study": "t"})})
    assert request_key(IDENTITY, one) == request_key(IDENTITY, other)


@pytest.mark.parametrize("change", [{"problem": "q"}, {"setting": "direct"}, {"role": "judge"}])
def test_a_model_that_reads_tags_is_keyed_by_them(change: dict[str, Any]) -> None:
    one = ask("x")
    other = one.model_copy(update={"tags": one.tags.model_copy(update=change)})
    identity = {**IDENTITY, "reads_tags": True}
    assert request_key(identity, one) != request_key(identity, other)


PARTS = st.lists(
    st.one_of(
        st.text(max_size=5), st.sampled_from([A, B]).map(lambda sha256: ImagePart(sha256=sha256))
    ),
    min_size=1,
    max_size=4,
)
REQUESTS = st.builds(
    lambda parts, **more: ask(*parts, **more),
    PARTS,
    temperature=st.sampled_from([0.0, 0.6, 1.0]),
    max_tokens=st.sampled_from([16, 32]),
    index=st.integers(0, 2),
)


@given(REQUESTS, REQUESTS)
def test_two_keys_are_equal_exactly_when_the_requests_are(one: Request, other: Request) -> None:
    assert (request_key(IDENTITY, one) == request_key(IDENTITY, other)) == (one == other)


@given(REQUESTS)
def test_the_key_survives_writing_and_reading_the_request(one: Request) -> None:
    again = Request.model_validate_json(one.model_dump_json())
    assert request_key(IDENTITY, again) == request_key(IDENTITY, one)


def test_another_identity_is_another_key() -> None:
    one = ask("x")
    assert request_key(IDENTITY, one) != request_key({**IDENTITY, "revision": "later"}, one)


def test_canonical_json_has_one_spelling() -> None:
    assert canonical({"b": 1, "a": ["é"]}) == b'{"a":["\\u00e9"],"b":1}'
    with pytest.raises(ValueError, match="JSON"):
        canonical(float("nan"))


@given(REQUESTS, st.booleans())
def test_a_key_is_the_hash_of_canonical_json(one: Request, reads_tags: bool) -> None:
    identity = {**IDENTITY, "reads_tags": reads_tags}
    body = {
        "schema": 1,
        "model": identity,
        "messages": dump_messages(one.conversation),
        "decoding": dump_decoding(one.decoding),
        "index": one.index,
    }
    if reads_tags:
        body["tags"] = [one.tags.role, one.tags.problem, one.tags.setting]
    assert request_key(identity, one) == hashlib.sha256(canonical(body)).hexdigest()


@given(REQUESTS)
def test_a_stored_request_is_the_request_again(one: Request) -> None:
    again = parse_request(json.loads(json.dumps(dump_request(one))), one.tags.model_dump())
    assert again == one
