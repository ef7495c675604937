"""Save one entry in `corrections.yaml`: other entries and the comments around them stay.

Comments within an entry that is replaced are lost with it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from omibench.errors import FileFormatError, OmibenchError, OutputError, reason_of
from omibench.files.locks import wait_path
from omibench.files.outputs import replace_atomically
from omibench.files.reading import read_bytes, read_text
from omibench.files.yaml_file import YAML_BYTES, list_item_lines, list_item_spans
from omibench.schemas.validation import explain
from omibench.stages.ocr.corrections.entry import (
    Correction,
    SamePlaceError,
    read_corrections,
)

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
    replaced: Collection[int] = (),
) -> SavedEntry:
    """Add an entry at the end of the list, or put it in the place of others.

    The new file is checked before it replaces the old one in a single step. It keeps its mode,
    and a link to it stays a link.

    Args:
        path: The file; it may be missing.
        values: The entry.
        version: The version of the file that the author of the entry saw.
        check: Reads a file of corrections as a run does, and raises FileFormatError.
        replaced: The lines of the entries to replace: all that correct the same place.

    Raises:
        ChangedFileError: The file has changed since `version`.
        SamePlaceError: Other entries correct the same place; it has their lines.
        FileFormatError: The entry or the file with it is invalid, or a line of `replaced` is not
            of an entry of the same place.
        OutputError: The file cannot be written.
    """
    try:
        correction = Correction.model_validate(values)
    except ValidationError as error:
        raise FileFormatError(explain(error, Correction)) from None
    target = path.resolve() if path.is_symlink() else path
    try:
        with (
            wait_path(target.with_name(f".{target.name}.lock")),
            replace_atomically(target) as partial,
        ):
            if read_version(path) != version:
                raise ChangedFileError(
                    f"{path.name} was changed by another program in the meantime; nothing was saved"
                )
            if version:
                partial.touch()
                shutil.copymode(target, partial)
            with _name_beside(path, partial) as seen:
                line = _place_entry(path, seen, correction, check, replaced)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason_of(error)}") from None
    return SavedEntry(line, read_version(path))


@contextmanager
def _name_beside(path: Path, partial: Path) -> Iterator[Path]:
    """Name a partial file in the folder of `path`, to which pictures and papers are relative."""
    seen = path.with_name(partial.name)
    if seen != partial:
        seen.symlink_to(partial)
    try:
        yield seen
    finally:
        if seen != partial:
            seen.unlink()


def _place_entry(
    path: Path,
    partial: Path,
    correction: Correction,
    check: Callable[[Path], object],
    replaced: Collection[int],
) -> int:
    """Write an entry into a copy of the file of `path`; return its line."""
    text = read_text(path, YAML_BYTES) if path.is_file() else ""
    before = [entry.correction for entry in read_corrections(path)] if text else []
    spans = list_item_spans(text, "corrections") if before else []
    twins: set[int] = set()
    order: list[int | None] = []
    """Numbers of the entries in the new file; None for the new one."""
    while True:
        place = min(twins, default=len(before))
        order = [k for k in range(len(before)) if k not in twins]
        order.insert(place, None)
        partial.write_text(_insert(path, text, correction, spans, sorted(twins)), "utf-8")
        try:
            check(partial)
            after = read_corrections(partial)
            break
        except SamePlaceError as error:
            lines = list_item_lines(read_text(partial, YAML_BYTES), "corrections")
            pair = {order[lines.index(line)] for line in error.entries}
            if None not in pair:
                raise FileFormatError(str(error).replace(str(partial), path.name)) from None
            twins |= {k for k in pair if k is not None}
        except FileFormatError as error:
            error.args = (str(error).replace(str(partial), path.name),)
            raise
    _compare_replaced(path, {spans[k][0] for k in twins}, set(replaced))
    if [e.correction for e in after] != [correction if k is None else before[k] for k in order]:
        raise FileFormatError(
            f"{path.name}: the entry cannot be added without a change of others: begin "
            "each entry with a dash in a line of its own"
        )
    return after[place].line


def _compare_replaced(path: Path, twins: set[int], replaced: set[int]) -> None:
    """Refuse to replace other entries than all of the same place."""
    if missing := sorted(twins - replaced):
        listing = ", ".join(map(str, missing))
        raise SamePlaceError(
            f"{path.name}: corrected in line {listing} already: replace it, or change the place",
            missing,
        )
    if extra := sorted(replaced - twins):
        raise FileFormatError(
            f"{path.name}, line {extra[0]}: is not the first line of an entry of the same place; "
            "nothing was saved"
        )


def _insert(
    path: Path,
    text: str,
    correction: Correction,
    spans: Sequence[tuple[int, int]],
    twins: Sequence[int],
) -> str:
    """Return the text of a file with an entry at its end, or in the place of others."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if not spans:
        head = "" if _HEAD.search(text) else "corrections:\n"
        return _HEAD.sub("corrections:", "".join(lines)) + head + _write(correction)
    first = lines[spans[0][0] - 1]
    if not first.lstrip().startswith("-"):
        raise FileFormatError(
            f"{path.name}: the entries are in brackets: begin each with a dash in a line of its own"
        )
    entry = indent(_write(correction), first[: len(first) - len(first.lstrip())])
    if not twins:
        return "".join([*lines, entry])
    for k in reversed(twins):
        begin, end = spans[k]
        while not lines[end - 1].strip():
            end -= 1  # blank lines at the end of a text
        lines[begin - 1 : end] = [entry] if k == twins[0] else []
    return "".join(lines)


def _write(correction: Correction) -> str:
    import yaml

    row = correction.model_dump(mode="json", exclude_defaults=True)
    # Signs that an editor does not show are escaped.
    is_printable = json.dumps(row, ensure_ascii=False).isprintable()
    text = yaml.safe_dump(
        [row], sort_keys=False, allow_unicode=is_printable, width=100, default_flow_style=None
    )
    return str(text)
