"""What people post is bounded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from omibench.web.server import RequestError, parse_object


@pytest.mark.parametrize(
    "body",
    [b"", b"[1]", b"{", b"\xff", b'{"fields": NaN}', b'{"a": "\\ud800"}', b"[" * 100_000],
)
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError):
        parse_object(body)


def test_json_that_nests_deeply_is_refused() -> None:
    value: Any = 1
    for _ in range(20):
        value = [value]
    with pytest.raises(RequestError):
        parse_object(json.dumps({"fields": value}).encode())
