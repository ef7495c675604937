"""Patterns of names, such as `{part}_{metric}`: plain names in braces and nothing else."""

from __future__ import annotations

from collections.abc import Collection
from string import Formatter


def check_pattern(pattern: str, names: Collection[str]) -> None:
    """Raise ValueError where a pattern holds more than these names in braces.

    A table of others brings its patterns, so that widths (`{part:>9999999999}`) and attributes
    (`{part.x}`), which `str.format` knows, are refused.
    """
    allowed = ", ".join(f"{{{name}}}" for name in names)
    for _, name, width, conversion in Formatter().parse(pattern):
        if name is not None and (name not in names or width or conversion):
            raise ValueError(f"{pattern!r} is no pattern of {allowed}")
