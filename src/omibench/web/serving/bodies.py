"""What browsers send, read under limits: nothing that a person posts is larger or deeper."""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.requests import Request

FORM_BYTES: Final = 16 * 2**10
DEPTH: Final = 8
"""How deeply JSON may nest."""


class RequestError(Exception):
    """A request that cannot be read: its status, reason and message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message


async def read_body(request: Request, limit: int) -> bytes:
    """The body of a request.

    Raises:
        RequestError: It is longer than the limit, whatever its header says.
    """
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise RequestError(413, "size", f"more than {limit // 1024} KiB are not taken")
        parts.append(part)
    return b"".join(parts)


async def read_form(request: Request) -> dict[str, str]:
    """The texts of a form of ours; of a name that occurs twice the last.

    Raises:
        RequestError: It is too long or no such form.
    """
    from urllib.parse import parse_qsl

    body = await read_body(request, FORM_BYTES)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20))
    except (ValueError, UnicodeDecodeError):
        raise RequestError(400, "format", "the form cannot be read") from None


def parse_object(body: bytes) -> dict[str, Any]:
    """A JSON object of bounded depth, all of whose texts can be written as UTF-8.

    Raises:
        RequestError: It is none.
    """
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise RequestError(400, "format", "the request is no JSON object") from None
    if not isinstance(value, dict) or _measure_depth(value) > DEPTH:
        raise RequestError(400, "format", "the request is no JSON object of a decision")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _measure_depth(value: Any, depth: int = 0) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if depth > DEPTH:
        return depth
    return max((_measure_depth(entry, depth + 1) for entry in inner), default=depth)
