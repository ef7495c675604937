"""Strict reading of untrusted JSON: extensions that only Python's parser accepts are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from omibench.errors import FileFormatError
from omibench.files.intake.regular import FILE_BYTES, decode, open_regular, read_bytes
from omibench.text.surrogates import replace_surrogates

DEPTH: Final = 100
"""Maximum nesting of lists and objects."""
LINE_BYTES: Final = 64 * 2**20
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: bytes | str, place: str, twins: bool = False, lenient: bool = False) -> Any:
    """Parse a JSON text; `place` identifies it in errors.

    Raises FileFormatError for invalid JSON, nesting above 100, NaN and Infinity, a lone
    surrogate and, unless `twins` are allowed, a repeated key of an object. `lenient`, for logs
    of other tools written by Python's own writer, accepts NaN as a number, uses the last of
    repeated keys, and replaces lone surrogates by U+FFFD.
    """
    if isinstance(text, bytes):
        text = decode(text, place)
    try:
        value = json.loads(
            text,
            parse_constant=None if lenient else _no_number,
            object_pairs_hook=None if twins or lenient else _once,
        )
    except RecursionError:
        raise _too_deep(place) from None
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        at = f"{line}column {error.colno}"
        raise FileFormatError(f"{place}: is not JSON: {error.msg} ({at})") from None
    except ValueError as error:
        raise FileFormatError(f"{place}: is not JSON: {error}") from None
    # Depth is at most the number of brackets: most rows skip the check.
    if text.count("[") + text.count("{") > DEPTH and _depth_exceeds(value, DEPTH):
        raise _too_deep(place)
    if _SURROGATE.search(text):
        if lenient:
            return replace_surrogates(value)
        _refuse_halves(value, place)
    return value


def read_json(path: str | Path, limit: int = FILE_BYTES) -> Any:
    """Read the value of a JSON file. Raises as `read_bytes` and `parse_json` do."""
    return parse_json(read_bytes(path, limit), str(path))


def read_json_lines(path: str | Path, limit: int | None = None) -> Iterator[tuple[int, Any]]:
    """Yield line number (from 1) and value of each line of a JSON Lines file, skipping empty lines.

    One line at a time is in memory. Raises as `open_regular` and `parse_json` do, with the line.
    """
    with open_regular(path, limit) as file:
        number = 0
        while line := file.readline(LINE_BYTES + 1):
            number += 1
            place = f"{path}, line {number}"
            if len(line) > LINE_BYTES:
                raise FileFormatError(f"{place}: is longer than {LINE_BYTES // 2**20} MiB")
            if line.strip():
                yield number, parse_json(line, place)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twin[:80]!r} occurs twice")
    return values


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number in JSON")


_STRICT = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_once)


def _depth_exceeds(value: Any, limit: int) -> bool:
    """Return whether lists and objects are nested more than `limit` deep."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def _too_deep(place: str) -> FileFormatError:
    return FileFormatError(f"{place}: is nested more than {DEPTH} deep; give the right file")


def _refuse_halves(value: Any, place: str) -> None:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item, *item.values()]
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str) and any("\ud800" <= c <= "\udfff" for c in item):
            raise FileFormatError(
                f"{place}: contains half a character (a lone surrogate such as \\ud83d); write "
                "the file again as UTF-8"
            )
