"""A terminal's alternate screen: what it showed before, and its scrollback, stay as they are."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from omibench.text.terminal import raw_stream, say_lines

_ENTER = "\x1b[?1049h\x1b[?25l"
_LEAVE = "\x1b[?25h\x1b[?1049l"
_CLEAR = "\x1b[H\x1b[J"

Show = Callable[[str], None]


def has_screen() -> bool:
    """Return whether standard output is a terminal that obeys escape sequences."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def alternate_screen() -> Iterator[Show]:
    """Use the alternate screen of the terminal during a block, without a cursor.

    However the block ends, the terminal is as before; then the last text is printed there once.

    Yields:
        A function that shows a text in place of the one before.
    """
    last: list[str] = []

    def show(text: str) -> None:
        last[:] = [text]
        _write(_CLEAR)
        say_lines(_crop(text))

    try:
        _write(_ENTER)
        yield show
    finally:
        with suppress(OSError):  # the terminal was closed
            _write(_LEAVE)
            for text in last:
                say_lines(text)


def _crop(text: str) -> str:
    """Return the first lines of a text that fit, and how many do not."""
    columns, rows = shutil.get_terminal_size()
    lines = text.splitlines()
    heights = [1 + max(0, len(line) - 1) // max(1, columns) for line in lines]
    if sum(heights) < rows:
        return text
    shown, used = 0, 2  # the line about the rest, and the one of the cursor
    while shown < len(lines) and used + heights[shown] <= rows:
        used += heights[shown]
        shown += 1
    return "\n".join([*lines[:shown], f"... {len(lines) - shown} more lines: `omibench status`"])


def _write(codes: str) -> None:
    stream = raw_stream(sys.stdout)
    stream.write(codes)
    stream.flush()
