"""Text of programs without what only a terminal reads."""

from __future__ import annotations

import re

_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")


def drop_controls(text: str) -> str:
    """Return the text without control characters, lone surrogates and codes of a terminal."""
    return _CONTROLS.sub("", text)
