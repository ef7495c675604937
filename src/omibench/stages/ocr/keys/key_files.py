"""Keys as files: a table of numbers and answers (CSV), or one line of text per answer."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from omibench.errors import FileFormatError, MissingInputError, PaperError
from omibench.files.intake import read_bytes
from omibench.files.intake.regular import decode
from omibench.stages.ocr.keys.keys import Key, Names, is_number

SUFFIXES: Final = (".csv", ".tsv", ".txt")
LIMIT: Final = 4 * 2**20
"""The maximum size of a key in bytes: a thousand times that of a long exam."""
LONGEST: Final = 2_000
"""The maximum length of an answer in characters."""
_NUMBER_HEADS = {
    "number", "no", "no.", "nr", "nr.", "n", "#", "problem", "question", "item", "id", "q",
}  # fmt: skip
_ANSWER_HEADS = {"answer", "answers", "key", "solution", "correct", "gold", "a"}
_SEPARATORS = ".):=,、：．\t "
_MAX_EXCERPT = 60


class KeyLine(NamedTuple):
    """A line of the file: its line number, the problem's number, the answer."""

    line: int
    number: str
    answer: str


class Read(NamedTuple):
    """A key, and the lines whose number matches no problem."""

    key: Key
    strange: list[KeyLine]


def is_key_file(path: str) -> bool:
    """Return whether a key is a table or text, by its suffix."""
    return PurePath(path).suffix.lower() in SUFFIXES


def read_key_file(path: str, sha256: str | None, labels: Collection[str]) -> Read:
    """Return the key for the problems with these labels; `sha256` is the hash in the manifest.

    Raises PaperError `file_missing`, `sha256_mismatch`, or `key_unreadable` with the first line
    without a number.
    """
    try:
        content = read_bytes(path, LIMIT)
        text = decode(content, path)
    except MissingInputError as error:
        raise PaperError("file_missing", str(error)) from None
    except FileFormatError as error:
        raise PaperError("key_unreadable", str(error)) from None
    digest = hashlib.sha256(content).hexdigest()
    if sha256 and digest != sha256.lower():
        raise PaperError(
            "sha256_mismatch", f"{path}: has SHA-256 {digest}, but the manifest has {sha256}"
        )
    table = PurePath(path).suffix.lower() != ".txt"
    names, key, strange = Names(labels), Key(), list[KeyLine]()
    for entry in _table(path, text) if table else _lines(path, text):
        if len(entry.answer) > LONGEST:
            place = f"{path}, line {entry.line}"
            raise PaperError("key_unreadable", f"{place}: its answer has over {LONGEST} characters")
        label = names.find(entry.number)
        if label is None:
            strange.append(entry)
        else:
            key.add(label.label, entry.answer, label.part)
    return Read(key, strange)


def _table(path: str, text: str) -> Iterator[KeyLine]:
    rows = list(_rows(path, text))
    if not rows:
        return
    number, answer = _columns(rows[0][1])
    for line, cells in rows if number is None else rows[1:]:
        fewest_cells = max(number or 0, 1 if answer is None else answer)
        if len(cells) <= fewest_cells:
            raise _no_answer(path, line, ", ".join(cells))
        number_text = cells[number or 0].strip()
        if not is_number(number_text):
            raise _no_number(path, line, number_text)
        yield KeyLine(line, number_text, cells[1 if answer is None else answer].strip())


def _rows(path: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Return the non-empty rows, with the line on which each ends."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    marks = re.search(r"[\t;,]", first)
    delimiter = marks[0] if marks else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise PaperError(
            "key_unreadable", f"{path}, line {reader.line_num}: is not CSV: {error}"
        ) from None


def _columns(head: Sequence[str]) -> tuple[int, int] | tuple[None, None]:
    """Return the columns of number and answer if the first row has their headings."""
    names = [cell.strip().casefold() for cell in head]
    number = next((k for k, name in enumerate(names) if name in _NUMBER_HEADS), None)
    answer = next((k for k, name in enumerate(names) if name in _ANSWER_HEADS), None)
    return (None, None) if number is None or answer is None else (number, answer)


def _lines(path: str, text: str) -> Iterator[KeyLine]:
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        if content and not content.startswith("#"):
            yield _entry(path, number, content)


def _entry(path: str, line: int, text: str) -> KeyLine:
    """Parse `3. C`, `3) C`, `3 C`, `B2: 5 m`, `4(a) 12`: the number ends at a mark or a space."""
    token = re.split(r"[\s,=:：、]", text, maxsplit=1)[0]
    answer = text[len(token) :].strip(_SEPARATORS)
    if answer and is_number(token):
        return KeyLine(line, token, answer)
    for end in range(1, len(text)):
        if text[end] in _SEPARATORS and is_number(text[:end]):
            return KeyLine(line, text[:end], text[end:].strip(_SEPARATORS))
    if is_number(text):
        raise _no_answer(path, line, text)
    raise _no_number(path, line, text)


def _no_number(path: str, line: int, text: str) -> PaperError:
    excerpt = text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]}..."
    return PaperError(
        "key_unreadable",
        f"{path}, line {line}: {excerpt!r} does not begin with the number of a problem",
    )


def _no_answer(path: str, line: int, text: str) -> PaperError:
    return PaperError(
        "key_unreadable", f"{path}, line {line}: {text[:_MAX_EXCERPT]!r} has no answer"
    )
