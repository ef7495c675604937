"""Request bodies, read under limits on size and depth."""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.requests import Request

FORM_BYTES: Final = 16 * 2**10
DEPTH: Final = 8
"""Maximum nesting of JSON."""


class RequestError(Exception):
    """Error of a request that cannot be read: its status, reason and message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message


async def read_body(request: Request, limit: int) -> bytes:
    """Read the body of a request.

    Raises:
        RequestError: If it exceeds the limit, regardless of its header.
    """
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise RequestError(413, "size", f"more than {limit // 1024} KiB are not accepted")
        parts.append(part)
    return b"".join(parts)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of one of our forms; for a repeated name, the last value.

    Raises:
        RequestError: If it is too long or not such a form.
    """
    from urllib.parse import parse_qsl

    body = await read_body(request, FORM_BYTES)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20))
    except (ValueError, UnicodeDecodeError):
        raise RequestError(400, "format", "the form cannot be read") from None


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object of limited depth, with texts that UTF-8 can represent.

    Raises:
        RequestError: If it is not one.
    """
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise RequestError(400, "format", "the request is not a JSON object") from None
    if not isinstance(value, dict) or _measure_depth(value) > DEPTH:
        raise RequestError(400, "format", "the request is not a JSON object of a decision")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _measure_depth(value: Any, depth: int = 0) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if depth > DEPTH:
        return depth
    return max((_measure_depth(entry, depth + 1) for entry in inner), default=depth)
