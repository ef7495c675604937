"""Reads a judge's reply: one strict token or one strict JSON object, only from its end.

Quotes of a response come before the verdict, so only the end is read. None means no verdict and is
never taken for a wrong answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

_LINE_CHARS = 4_000
_JSON_CHARS = 8_000
_FENCE = re.compile(r"\n?```\s*$")
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_DECORATION = "*_` \t"


def last_line(reply: str) -> str | None:
    """Return the last line that is not blank, without emphasis around it, or None."""
    lines = [line for line in reply.split("\n") if line.strip()]
    if not lines or len(lines[-1]) > _LINE_CHARS:
        return None
    return lines[-1].strip().strip(_DECORATION)


def last_value(reply: str, label: str) -> str | None:
    """Return the text after `label:` on the last line, or None without that label."""
    line = last_line(reply)
    head = re.match(rf"{re.escape(label)}\s*:[{_DECORATION}]*", line or "", re.IGNORECASE)
    return line[head.end() :].strip() if line and head else None


def last_object(reply: str, keys: Collection[str], also: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON object at the end of a reply that begins a line of it, or {}.

    It has exactly `keys`, each once, and optionally some of `also`. A code fence can surround it.
    """
    text = _FENCE.sub("", reply.rstrip())[-_JSON_CHARS:]
    starts = [match.end() - 1 for match in _OBJECT.finditer(text)]
    for start in starts[-20:]:  # outermost first: an object inside it is part of it
        try:
            parsed = json.loads(text[start:], object_pairs_hook=_once)
        except (ValueError, RecursionError):
            continue
        return parsed if set(keys) <= set(parsed) <= {*keys, *also} else {}
    return {}


def whole_number(value: object, low: int, high: int) -> int | None:
    """Return an integer within bounds; a boolean, a text or 4.5 does not count."""
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return value if is_int and low <= value <= high else None  # type: ignore[operator,return-value]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("duplicate key")
    return fields
