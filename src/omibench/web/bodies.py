"""JSON bodies of requests; without a web package, so that exports need none."""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

DEPTH: Final = 8
"""Maximum nesting of JSON."""


class RequestError(Exception):
    """Error of a request that cannot be read: its status, reason and message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message


class JsonBody(BaseModel):
    """The JSON object of a request: values of exact types; other names are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


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
        raise RequestError(
            400, "format", f"the request is not a JSON object of at most {DEPTH} levels"
        )
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _measure_depth(value: Any, depth: int = 0) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if depth > DEPTH:
        return depth
    return max((_measure_depth(entry, depth + 1) for entry in inner), default=depth)
