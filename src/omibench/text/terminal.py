"""Table rows as lines of a terminal."""

from __future__ import annotations

import logging
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TextIO, cast


def align_columns(rows: Sequence[Sequence[object]]) -> list[str]:
    """Format each row as a line: texts left-aligned, whole numbers right-aligned.

    Args:
        rows: Header, then the rows; all of the same length.
    """
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    numeric = [all(isinstance(row[i], int) for row in rows[1:]) for i in range(len(widths))]
    return [
        "  ".join(
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in texts
    ]


def align_numbers(rows: Sequence[Sequence[str]], names: int = 1, gap: str = "  ") -> list[str]:
    """Format each row as a line: the first `names` columns left-aligned, the others right-aligned.

    Args:
        rows: Rows of the same length. A row of one text is a line of its own across the columns.
        names: Number of columns of text.
        gap: Text between two columns.
    """
    widths = [max(map(len, column)) for column in zip(*(r for r in rows if r[1:]), strict=True)]
    return [
        gap.join(
            text.ljust(width) if place < names else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    ]


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1: '1 job', '1,322 jobs'."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


WIDEST: Final = 120
NARROWEST: Final = 40


def measure_width(default: int = 80) -> int:
    """Return the columns of the terminal within limits; `default` where the output is a file."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((default, 24)).columns))


# Terminal output of untrusted text (file names, ids, replies) without its control characters.
#
# A terminal obeys control characters: an escape sequence in the name of a paper moves the cursor,
# sets the title or hides a line, a newline fakes a line of output, and a character that reverses
# the direction of writing makes `exe.fdp` appear as `pdf.exe`. `printable` makes them visible.

# Zero-width joiners are part of the spelling of Persian, Indian languages and emoji.
_JOINERS = "\u200c\u200d"
# Signs before Arabic, Syriac and Kaithi numbers: format characters with a visible shape.
_SIGNS = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
_SUSPECT = re.compile(r"[^\x20-\x7e]")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: object) -> str:
    r"""Return the text on one line, with every terminal control character made visible.

    Control characters (including newlines and tabs), escape sequences, bidirectional and
    invisible characters, and lone surrogates become escapes such as `\u001b` and `\n`, as in
    JSON. Everything else is unchanged.
    """
    return _SUSPECT.sub(_visible, str(text))


def printable_lines(text: object) -> str:
    """Apply `printable` to a text of several lines, keeping its newlines and tabs."""
    return re.sub(r"[^\n\t]+", lambda part: printable(part[0]), str(text))


def say(text: object = "", *, err: bool = False) -> None:
    """Print one line, on standard error if `err`. A newline within it is made visible."""
    _write(f"{printable(text)}\n", err)


def say_lines(text: object, *, err: bool = False) -> None:
    """Print a text of several lines with one final newline.

    Apply `printable` to each name inserted into such a text, because a newline in a name would
    be taken for one of the text.
    """
    _write(f"{printable_lines(text).removesuffix(chr(10))}\n", err)


class PrintableRecord(logging.LogRecord):
    """A log record with a printable message, so that each of ours is one line in any handler."""

    def getMessage(self) -> str:  # noqa: N802
        """Return the message with its arguments."""
        text = super().getMessage()
        return printable(text) if self.name.startswith("omibench") else printable_lines(text)


class Guarded:
    """A text stream that writes only printable lines.

    It also covers output of libraries that bypass the functions above, such as messages about
    wrong options and tracebacks.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write the text; return the number of characters given."""
        self.stream.write(printable_lines(text.replace("\r\n", "\n")))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Make everything that is printed and logged printable within the block."""
    out, err, factory = sys.stdout, sys.stderr, logging.getLogRecordFactory()
    sys.stdout, sys.stderr = cast(TextIO, Guarded(out)), cast(TextIO, Guarded(err))
    logging.setLogRecordFactory(PrintableRecord)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err
        logging.setLogRecordFactory(factory)


def raw_stream(stream: TextIO) -> TextIO:
    """The raw stream, for our own progress bars and screens, which move the cursor."""
    return stream.stream if isinstance(stream, Guarded) else stream


def _write(text: str, err: bool) -> None:
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    # A terminal with another encoding shows unsupported characters as escapes.
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _visible(match: re.Match[str]) -> str:
    return _escape(match[0])


@lru_cache(maxsize=4096)
def _escape(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if not _commands(character):
        return character
    code = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{code[k : k + 4]}" for k in range(0, len(code), 4))


def _commands(character: str) -> bool:
    """Return whether a terminal obeys the character or shows nothing, instead of displaying it."""
    if character in _JOINERS or re.match(f"[{_SIGNS}]", character):
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
