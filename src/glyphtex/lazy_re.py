"""The module `re`, with patterns that compile on first use.

A scorer has some 250 patterns and reads most answers with a few of them; compiling all of them at
import takes longer than scoring a thousand answers.
"""

from __future__ import annotations

import re
from re import (
    ASCII,
    DOTALL,
    IGNORECASE,
    MULTILINE,
    VERBOSE,
    I,
    Match,
    Pattern,
    error,
    escape,
    findall,
    finditer,
    fullmatch,
    match,
    search,
    split,
    sub,
)
from typing import Any, AnyStr, cast

__all__ = [
    "ASCII", "DOTALL", "IGNORECASE", "MULTILINE", "VERBOSE", "I", "Match", "Pattern", "compile",
    "error", "escape",
    "findall", "finditer", "fullmatch", "match", "search", "split", "sub",
]  # fmt: skip


class _LazyPattern:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)  # later uses find it without this function
        return value


def compile(pattern: AnyStr, flags: int = 0) -> Pattern[AnyStr]:
    """Return a pattern that compiles on first use; it has the methods of a compiled one.

    Args:
        pattern: Regular expression. An invalid one raises `re.error` on first use.
        flags: Flags of `re`.
    """
    return cast("Pattern[AnyStr]", _LazyPattern(pattern, flags))
