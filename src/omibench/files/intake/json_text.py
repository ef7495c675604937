"""JSON that others wrote: what Python's reader takes and nothing else does is refused."""

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
"""The most lists and objects within each other."""
LINE_BYTES: Final = 64 * 2**20
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: bytes | str, place: str, twins: bool = False, lenient: bool = False) -> Any:
    """The value of a JSON text; `place` names it in errors.

    Raises FileFormatError for what is no JSON, nested more than 100 deep, a number that is none
    (NaN, Infinity), half a character (a lone surrogate), and, unless `twins` are allowed, for a
    key that an object has twice. `lenient`, for logs that other tools write with Python's own
    writer, takes NaN as a number, the last of twins, and U+FFFD for half a character.
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
    # Depth is at most the number of brackets: rows of a file are hardly ever looked at.
    if text.count("[") + text.count("{") > DEPTH and _depth_exceeds(value, DEPTH):
        raise _too_deep(place)
    if _SURROGATE.search(text):
        if lenient:
            return replace_surrogates(value)
        _refuse_halves(value, place)
    return value


def read_json(path: str | Path, limit: int = FILE_BYTES) -> Any:
    """The value of a JSON file. Raises as `read_bytes` and `parse_json` do."""
    return parse_json(read_bytes(path, limit), str(path))


def read_json_lines(path: str | Path, limit: int | None = None) -> Iterator[tuple[int, Any]]:
    """The number, from 1, and the value of each line of a JSON Lines file; empty lines have none.

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
        raise ValueError(f"the key {twin[:80]!r} is there twice")
    return values


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number in JSON")


_STRICT = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_once)


def _depth_exceeds(value: Any, limit: int) -> bool:
    """Whether lists and objects lie in each other more than `limit` deep."""
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
    return FileFormatError(f"{place}: is nested more than {DEPTH} deep: give the right file")


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
                f"{place}: holds half a character (a lone surrogate such as \\ud83d): write the "
                "file again as UTF-8"
            )
