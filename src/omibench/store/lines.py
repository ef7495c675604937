"""One line of a segment: a response with its request, its key and its checksum.

A line is `{"v":1,"key":"<64 hex>","crc":"<8 hex>",<body>}`: the head has a fixed width and the
CRC-32 of key and body, so that an index is built, and damage found, without parsing any JSON. The
body is `"schema":<n>,"tags":{},"response":{},"request":{}`; a line without `schema` was written
under key schema 1. Unknown members are preserved whenever a line is copied.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any, NamedTuple

from pydantic import ValidationError

from omibench.schemas.request import Request, Response
from omibench.store.key import KEY_SCHEMA, dump_request
from omibench.text.masking import may_hold_surrogates, replace_surrogates

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
    """The content of a line after its head: key schema and three JSON objects as text."""

    schema: int
    tags: bytes
    response: bytes
    request: bytes
    extra: bytes = b""
    """Unknown members: a JSON object, usually empty."""


def build_body(request: Request, response: Response) -> Body:
    """Build the body of the line for `response` to `request` under the newest schema."""
    return Body(
        schema=KEY_SCHEMA,
        tags=_json(request.tags.model_dump(mode="json", exclude_defaults=True)),
        response=_json(response.model_dump(mode="json", exclude_defaults=True)),
        request=_json(dump_request(request)),
    )


def encode_line(key: str, body: Body) -> bytes:
    """Encode one line of a segment, including its newline."""
    name, tail = key.encode("ascii"), _tail(body)
    crc = checksum(name, tail)
    return b"".join((_START, name, _CRC, b"%08x" % crc, _BODY, tail, b"\n"))


def body_checksum(key: str, body: Body) -> int:
    """Return the CRC-32 that `encode_line` writes."""
    return checksum(key.encode("ascii"), _tail(body))


def line_fault(line: bytes) -> str | None:
    """Return why a line (with its newline) is not valid, or None."""
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
    """Return the key of a valid line, 64 hex digits."""
    return line[_KEY_AT:_KEY_END].decode("ascii")


def read_schema(line: bytes) -> int:
    """Return the key schema of a valid line."""
    if not line.startswith(_SCHEMA, HEAD):
        return 1
    start = HEAD + len(_SCHEMA)
    return int(line[start : line.index(b",", start)])


def parse_line(line: bytes) -> Body:
    """Return the body of a valid line. Raises ValueError if its format differs from the store's.

    Nothing is decoded: inside a JSON string every quote is escaped, so `,"response":{` can only
    occur between members. Lines with another order of members are parsed as JSON.
    """
    start = line.find(_TAGS, HEAD, HEAD + 24) + len(_TAGS)
    middle, last = line.find(_RESPONSE, start), line.rfind(_REQUEST)
    end = _END.fullmatch(line, max(0, line.rfind(_DECODING)))
    if HEAD < start < middle < last and end is not None:
        tags, response = line[start:middle], line[middle + len(_RESPONSE) : last]
        return Body(read_schema(line), tags, response, line[last + len(_REQUEST) : -2])
    return _parse_any(line)


def parse_response(text: bytes) -> Response:
    """Parse a response from its JSON. Raises ValueError if it is invalid.

    Unknown fields of later versions are dropped, and lone surrogates, which earlier versions wrote,
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
    """Return the JSON value of a part of a line, with lone surrogates replaced."""
    values = _loads(text)
    return replace_surrogates(values) if may_hold_surrogates(text) else values


def checksum(key: bytes, tail: bytes) -> int:
    """Return the CRC-32 of a line's key and everything after its head."""
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
        raise ValueError("it is nested too deeply") from None


def _parse_any(line: bytes) -> Body:
    values = _loads(line)
    if not isinstance(values, dict):
        raise ValueError("it is not a JSON object")
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
