"""Save one entry in `corrections.yaml`: comments and other entries stay as they are."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from omibench.errors import FileFormatError, OmibenchError, OutputError, reason_of
from omibench.files.locks import wait_path
from omibench.files.reading import read_bytes, read_text
from omibench.files.writing import replace_atomically
from omibench.files.yaml_file import YAML_BYTES, list_item_lines
from omibench.schemas.validation import explain
from omibench.stages.ocr.corrections.entry import Correction, read_corrections

_HEAD: Final = re.compile(r"^corrections:([ \t]*\[[ \t]*\])?(?=[ \t]*(#|$))", re.MULTILINE)
"""The key of the list, without entries or with an empty list."""


class ChangedFileError(OmibenchError):
    """Raised if another program has changed the file since it was read."""


class SavedEntry(NamedTuple):
    """The line of a saved entry, and the version of the file with it."""

    line: int
    version: str


def read_version(path: Path) -> str:
    """Return the SHA-256 of a file, empty without one, by which a change is noticed."""
    return hashlib.sha256(read_bytes(path, YAML_BYTES)).hexdigest() if path.is_file() else ""


def save_entry(
    path: Path,
    values: Mapping[str, Any],
    version: str,
    check: Callable[[Path], object],
    replaced: int | None = None,
) -> SavedEntry:
    """Add an entry at the end of the list, or put it in the place of another one.

    The new file is checked before it replaces the old one in a single step.

    Args:
        path: The file; it may be missing.
        values: The entry.
        version: The version of the file that the author of the entry saw.
        check: Reads a file of corrections as a run does, and raises FileFormatError.
        replaced: The line of the entry to replace.

    Raises:
        ChangedFileError: The file has changed since `version`.
        FileFormatError: The entry or the file with it is invalid.
        OutputError: The file cannot be written.
    """
    try:
        correction = Correction.model_validate(values)
    except ValidationError as error:
        raise FileFormatError(explain(error, Correction)) from None
    try:
        with (
            wait_path(path.with_name(f".{path.name}.lock")),
            replace_atomically(path) as partial,
        ):
            if read_version(path) != version:
                raise ChangedFileError(
                    f"{path.name} was changed by another program in the meantime; nothing was saved"
                )
            text = read_text(path, YAML_BYTES) if version else ""
            before = [entry.correction for entry in read_corrections(path)] if version else []
            lines = list_item_lines(text, "corrections") if before else []
            place = lines.index(replaced) if replaced in lines else len(before)
            partial.write_text(_insert(path, text, correction, lines, place), "utf-8")
            try:
                check(partial)
                after = read_corrections(partial)
            except FileFormatError as error:
                error.args = (str(error).replace(str(partial), path.name),)
                raise
            before[place : place + 1] = [correction]
            if [entry.correction for entry in after] != before:
                raise FileFormatError(
                    f"{path.name}: the entry cannot be added without a change of others: begin "
                    "each entry with a dash in a line of its own"
                )
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
    return SavedEntry(after[place].line, read_version(path))


def _insert(path: Path, text: str, correction: Correction, starts: list[int], place: int) -> str:
    """Return the text of a file with an entry at a place of its list."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if not starts:
        head = "" if _HEAD.search(text) else "corrections:\n"
        return _HEAD.sub("corrections:", "".join(lines)) + head + _write(correction)
    first = lines[starts[0] - 1]
    if not first.lstrip().startswith("-"):
        raise FileFormatError(
            f"{path.name}: the entries are in brackets: begin each with a dash in a line of its own"
        )
    entry = indent(_write(correction), first[: len(first) - len(first.lstrip())])
    if place == len(starts):
        return "".join([*lines, entry])
    begin = starts[place] - 1
    end = starts[place + 1] - 1 if place + 1 < len(starts) else len(lines)
    while not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#"):
        end -= 1  # blank lines and comments before the next entry
    return "".join([*lines[:begin], entry, *lines[end:]])


def _write(correction: Correction) -> str:
    import yaml

    row = correction.model_dump(mode="json", exclude_defaults=True)
    # Signs that an editor does not show are escaped.
    is_printable = json.dumps(row, ensure_ascii=False).isprintable()
    text = yaml.safe_dump(
        [row], sort_keys=False, allow_unicode=is_printable, width=100, default_flow_style=None
    )
    return str(text)
