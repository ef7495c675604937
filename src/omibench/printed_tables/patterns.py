"""Patterns of names, such as `{part}_{metric}`: only plain names in braces."""

from __future__ import annotations

from collections.abc import Collection
from string import Formatter


def check_pattern(pattern: str, names: Collection[str]) -> None:
    """Raise ValueError if a pattern contains more than these names in braces.

    Patterns can come from third-party tables, so widths (`{part:>9999999999}`) and attributes
    (`{part.x}`), which `str.format` supports, are rejected.
    """
    allowed = ", ".join(f"{{{name}}}" for name in names)
    for _, name, width, conversion in Formatter().parse(pattern):
        if name is not None and (name not in names or width or conversion):
            raise ValueError(f"{pattern!r} is not a pattern of {allowed}")
