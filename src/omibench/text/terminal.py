"""Text on a terminal: what others wrote (file names, ids, replies) commands it nothing.

A terminal obeys control characters: an escape sequence in the name of a paper moves the cursor,
sets the title or hides a line, a newline forges a line of ours, and a character that reverses the
direction of writing makes `exe.fdp` read as `pdf.exe`. `printable` shows them instead.
"""

from __future__ import annotations

import logging
import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TextIO, cast

# Zero-width joiners belong to the spelling of Persian, of Indian languages and of emoji.
_JOINERS = "\u200c\u200d"
# Signs before Arabic, Syriac and Kaithi numbers: formats by their category, but with a shape.
_SIGNS = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
_SUSPECT = re.compile(r"[^\x20-\x7e]")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: object) -> str:
    r"""The text on one line, with every character that would command a terminal made visible.

    Control characters (newlines and tabs too), escape sequences, characters that change the
    direction of writing or are not seen at all, and lone surrogates become escapes such as
    `\u001b` and `\n`, which also stand in JSON for the same character. Everything else stays.
    """
    return _SUSPECT.sub(_visible, str(text))


def printable_lines(text: object) -> str:
    """As `printable`, for a text of several lines: its newlines and tabs stay."""
    return re.sub(r"[^\n\t]+", lambda part: printable(part[0]), str(text))


def say(text: object = "", *, err: bool = False) -> None:
    """Print one line, on standard error if `err`. A newline within it is made visible."""
    _write(f"{printable(text)}\n", err)


def say_lines(text: object, *, err: bool = False) -> None:
    """Print a text of several lines; one newline at its end is enough.

    Names that are put into such a text go through `printable` one by one, since their newlines
    would be taken for those of the text.
    """
    _write(f"{printable_lines(text).removesuffix(chr(10))}\n", err)


class PrintableRecord(logging.LogRecord):
    """A log record whose message is printable, whichever handler shows it: ours is one line."""

    def getMessage(self) -> str:
        """The message with its arguments."""
        text = super().getMessage()
        return printable(text) if self.name.startswith("omibench") else printable_lines(text)


class Guarded:
    """A stream of text that writes printable lines alone, whoever writes to it.

    Behind the functions above this is the second line: it also takes what libraries write, such as
    messages about wrong options and tracebacks.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write the text; returns the number of characters that were given."""
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
    """Let all that is printed and logged be printable, while the block lasts."""
    out, err, factory = sys.stdout, sys.stderr, logging.getLogRecordFactory()
    sys.stdout, sys.stderr = cast(TextIO, Guarded(out)), cast(TextIO, Guarded(err))
    logging.setLogRecordFactory(PrintableRecord)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err
        logging.setLogRecordFactory(factory)


def raw_stream(stream: TextIO) -> TextIO:
    """The stream itself, for our own progress bars and screens, which do move the cursor."""
    return stream.stream if isinstance(stream, Guarded) else stream


def _write(text: str, err: bool) -> None:
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    # A terminal of another encoding shows what it lacks as escapes.
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
    """Whether a terminal obeys the character instead of showing it, or shows nothing at all."""
    if character in _JOINERS or re.match(f"[{_SIGNS}]", character):
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
