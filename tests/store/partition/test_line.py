"""Lines: found out when a byte has changed, understood when more is in them than we know."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.filling import answer, request

from omibench.schemas.request import Response
from omibench.store.segments import (
    Body,
    build_body,
    encode_line,
    line_fault,
    parse_line,
    parse_response,
    read_key,
    read_schema,
)

KEY = "ab" * 32
HOSTILE = st.text(max_size=30) | st.sampled_from(
    ['","request":{"', '},"response":{', '"request":{},"index":0}}\n', '\\","request":{"x":1}']
)


def sealed(body: str) -> bytes:
    """A line with any body, as another program might write it."""
    tail = body.encode()[1:]
    crc = zlib.crc32(tail, zlib.crc32(KEY.encode()))
    return b'{"v":1,"key":"%s","crc":"%08x",%s\n' % (KEY.encode(), crc, tail)


@given(HOSTILE, st.integers(0, 400), st.integers(0, 255))
def test_no_changed_byte_goes_unnoticed(text: str, at: int, byte: int) -> None:
    line = encode_line(KEY, Body(1, b"{}", json.dumps({"text": text}).encode(), b"{}"))
    assert line_fault(line) is None
    at %= len(line)
    changed = line[:at] + bytes([byte]) + line[at + 1 :]
    assert (line_fault(changed) is None) == (changed == line)


@given(HOSTILE, HOSTILE)
def test_no_text_is_taken_for_a_member(text: str, reasoning: str) -> None:
    response = Response(text=text, reasoning=reasoning)
    line = encode_line(KEY, build_body(request(1), response))
    body = parse_line(line)
    assert parse_response(body.response) == response
    assert encode_line(KEY, body) == line
    assert (read_key(line), read_schema(line)) == (KEY, 1)
    assert json.loads(line)["request"] == json.loads(body.request)


@pytest.mark.parametrize(
    "body",
    [
        '{"tags":{},"response":{"text":"a"},"request":{"index":0}}',
        '{"request":{"index":0},"response":{"text":"a"},"tags":{},"schema":1}',
        '{ "tags": {}, "response": {"text": "a"}, "request": {"index": 0} }',
    ],
)
def test_members_in_any_order_are_read(body: str) -> None:
    line = sealed(body)
    assert line_fault(line) is None
    found = parse_line(line)
    assert (found.schema, json.loads(found.response)) == (1, {"text": "a"})
    assert json.loads(found.request) == {"index": 0}


def test_members_of_later_versions_stay_in_the_line() -> None:
    later = sealed(
        '{"schema":1,"tags":{},"response":{"text":"a"},'
        '"request":{"messages":[],"decoding":{},"index":0},"signed":{"by":"x"}}'
    )
    body = parse_line(later)
    assert json.loads(body.extra) == {"signed": {"by": "x"}}
    assert json.loads(body.request) == {"messages": [], "decoding": {}, "index": 0}
    assert json.loads(encode_line(KEY, body))["signed"] == {"by": "x"}


def test_fields_of_later_versions_are_left_out_of_the_response() -> None:
    text = b'{"text":"a","mood":"calm","usage":{"input_tokens":1,"thoughts":2}}'
    found = parse_response(text)
    assert (found.text, found.usage.input_tokens) == ("a", 1)
    with pytest.raises(ValueError, match="outcome"):
        parse_response(b'{"text":"a","outcome":"unheard of"}')


def test_a_line_that_lacks_a_member_says_which() -> None:
    with pytest.raises(ValueError, match="'response'"):
        parse_line(sealed('{"tags":{},"request":{}}'))


def test_the_response_survives() -> None:
    line = encode_line(KEY, build_body(request(3), answer(3)))
    assert parse_response(parse_line(line).response) == answer(3)
