"""One line of a segment: a response with what was asked, its key and its checksum.

A line is `{"v":1,"key":"<64 hex>","crc":"<8 hex>",<body>}`: the head has a fixed width and the
CRC-32 of key and body, so that an index is built, and damage found, without parsing any JSON. The
body is `"schema":<n>,"tags":{},"response":{},"request":{}`; a line without `schema` was written
under key schema 1. Members that this version does not know are kept wherever a line is copied.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any, NamedTuple

from pydantic import ValidationError

from omibench.schemas.request import Request, Response
from omibench.store.key import KEY_SCHEMA, dump_request
from omibench.text.surrogates import may_hold_surrogates, replace_surrogates

LINE_VERSION = 1
_START, _CRC, _BODY = b'{"v":%d,"key":"' % LINE_VERSION, b'","crc":"', b'",'
_KEY_AT = len(_START)
_KEY_END = _KEY_AT + 64
HEAD = _KEY_END + len(_CRC) + 8 + len(_BODY)
_SCHEMA, _TAGS, _RESPONSE, _REQUEST = b'"schema":', b'"tags":', b',"response":', b',"request":'
_DECODING = b',"decoding":{'
_END = re.compile(rb',"decoding":\{[^{}]*\},"index":\d+\}\}\n')
_ENCODER = json.JSONEncoder(separators=(",", ":"))


class Body(NamedTuple):
    """What a line holds beside its head: the schema of its key and three JSON objects as text."""

    schema: int
    tags: bytes
    response: bytes
    request: bytes
    extra: bytes = b""
    """Members that this version does not know: a JSON object, empty when there are none."""


def build_body(request: Request, response: Response) -> Body:
    """The body of the line that keeps `response` to `request` under the newest schema."""
    return Body(
        schema=KEY_SCHEMA,
        tags=_json(request.tags.model_dump(mode="json", exclude_defaults=True)),
        response=_json(response.model_dump(mode="json", exclude_defaults=True)),
        request=_json(dump_request(request)),
    )


def encode_line(key: str, body: Body) -> bytes:
    """One line of a segment, its newline included."""
    name, tail = key.encode("ascii"), _tail(body)
    crc = checksum(name, tail)
    return b"".join((_START, name, _CRC, b"%08x" % crc, _BODY, tail, b"\n"))


def body_checksum(key: str, body: Body) -> int:
    """The CRC-32 that `encode_line` writes."""
    return checksum(key.encode("ascii"), _tail(body))


def line_fault(line: bytes) -> str | None:
    """Why a line (with its newline) cannot be used, or None when it is sound."""
    if not line.endswith(b"\n"):
        return "torn: its writer was stopped in the middle of it"
    if not line.startswith(_START):
        has_version = line.startswith(b'{"v":')
        return (
            "written by another version of the store" if has_version else "corrupt: not a response"
        )
    crc = checksum(line[_KEY_AT:_KEY_END], line[HEAD:-1])
    middle = b"".join((_CRC, b"%08x" % crc, _BODY))
    return None if line[_KEY_END:HEAD] == middle else "corrupt: its checksum does not match"


def read_key(line: bytes) -> str:
    """The key of a sound line, 64 hex digits."""
    return line[_KEY_AT:_KEY_END].decode("ascii")


def read_schema(line: bytes) -> int:
    """The key schema under which a sound line was written."""
    if not line.startswith(_SCHEMA, HEAD):
        return 1
    start = HEAD + len(_SCHEMA)
    return int(line[start : line.index(b",", start)])


def parse_line(line: bytes) -> Body:
    """The body of a sound line. Raises ValueError when it is not what the store writes.

    Nothing is decoded: within a JSON string every quote is escaped, so `,"response":{` can only
    stand between members. Lines in any other order of members are parsed as JSON.
    """
    start = line.find(_TAGS, HEAD, HEAD + 24) + len(_TAGS)
    middle, last = line.find(_RESPONSE, start), line.rfind(_REQUEST)
    end = _END.fullmatch(line, max(0, line.rfind(_DECODING)))
    if HEAD < start < middle < last and end is not None:
        tags, response = line[start:middle], line[middle + len(_RESPONSE) : last]
        return Body(read_schema(line), tags, response, line[last + len(_REQUEST) : -2])
    return _parse_any(line)


def parse_response(text: bytes) -> Response:
    """A response from its JSON. Raises ValueError when it is none.

    Fields of later versions are left out here, and lone surrogates, which earlier versions wrote,
    are replaced; the line keeps both.
    """
    try:
        return Response.model_validate_json(text)
    except ValidationError:
        values = parse_values(text)
        try:
            return Response.model_validate(values)
        except ValidationError as error:
            return Response.model_validate(_without_unknown(values, error))


def parse_values(text: bytes) -> Any:
    """The JSON value of a part of a line, each lone surrogate in it replaced."""
    values = _loads(text)
    return replace_surrogates(values) if may_hold_surrogates(text) else values


def checksum(key: bytes, tail: bytes) -> int:
    """CRC-32 of a line's key and of everything behind its head."""
    return zlib.crc32(tail, zlib.crc32(key))


def _tail(body: Body) -> bytes:
    extra = b"," + body.extra[1:-1] if body.extra else b""
    return b"".join(
        (_SCHEMA, b"%d," % body.schema, _TAGS, body.tags, _RESPONSE, body.response,
         _REQUEST, body.request, extra, b"}")
    )  # fmt: skip


def _loads(text: bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _parse_any(line: bytes) -> Body:
    values = _loads(line)
    if not isinstance(values, dict):
        raise ValueError("it is no JSON object")
    members = ("v", "key", "crc", "schema", "tags", "response", "request")
    extra = {name: value for name, value in values.items() if name not in members}
    try:
        tags, response, request = (_json(values[name]) for name in ("tags", "response", "request"))
    except KeyError as error:
        raise ValueError(f"it has no member {error}") from None
    unknown = _json(extra) if extra else b""
    return Body(values.get("schema", 1), tags, response, request, unknown)


def _without_unknown(values: Any, error: ValidationError) -> Any:
    for fault in error.errors():
        if fault["type"] != "extra_forbidden":
            raise error
        *path, name = fault["loc"]
        holder = values
        for step in path:
            holder = holder[step]
        del holder[name]
    return values


def _json(value: Any) -> bytes:
    return _ENCODER.encode(value).encode("ascii")
