r"""Lone surrogates (`\ud83d`, half an emoji), which JSON allows but UTF-8 does not."""

from __future__ import annotations

import re
from typing import Any

_LONE = re.compile("[\ud800-\udfff]")
_IN_JSON = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")


def replace_surrogates(value: Any) -> Any:
    """Replace each lone surrogate in a JSON value, including keys, by U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else _LONE.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [replace_surrogates(entry) for entry in value]
    if isinstance(value, dict):
        return {replace_surrogates(k): replace_surrogates(v) for k, v in value.items()}
    return value


def may_hold_surrogates(data: bytes) -> bool:
    """Return whether JSON text can contain one; valid pairs also count."""
    return _IN_JSON.search(data) is not None
