"""Changes between two releases, and the version increment that they require."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.datasets.release_folder import ReleaseRow, read_manifest_rows, read_release_provenance
from omibench.errors import FileFormatError, ParamsError
from omibench.text.lists import list_first

PATCH, MINOR, MAJOR = 0, 1, 2
_NAMES: Final = ("patch", "minor", "major")
MOST_IDS: Final = 20
_PARTS: Final[tuple[tuple[str, int, Callable[[ReleaseRow], object]], ...]] = (
    ("changed question", MAJOR, lambda row: row.question_sha256),
    ("changed gold", MAJOR, lambda row: row.answer_sha256),
    ("changed pictures", MAJOR, lambda row: row.image_sha256),
    ("other split", MAJOR, lambda row: row.split),
    ("changed rationale", MINOR, lambda row: row.rationale_sha256),
    ("changed labels", MINOR, lambda row: row.labels_sha256),
    ("changed original text", MINOR, lambda row: row.original_sha256),
    ("other access", MINOR, lambda row: row.access),
    ("other licence or source", MINOR, lambda row: (row.licence, row.source)),
)


class ReleaseChange(NamedTuple):
    """One kind of change, and its items."""

    kind: str
    level: int
    """`PATCH`, `MINOR` or `MAJOR`."""
    ids: list[str]


def compare_rows(before: Sequence[ReleaseRow], after: Sequence[ReleaseRow]) -> list[ReleaseChange]:
    """Return the changes from one release to the next, the most important first.

    The result is empty if only documents differ.

    Args:
        before: Lines of the earlier manifest.
        after: Lines of the later one.
    """
    earlier, later = ({row.id: row for row in rows} for rows in (before, after))
    ids: dict[tuple[str, int], list[str]] = defaultdict(list)
    ids["removed", MAJOR] = [identity for identity in earlier if identity not in later]
    for name, level, part in _PARTS:
        ids[name, level] = [
            identity
            for identity, row in later.items()
            if identity in earlier and part(row) != part(earlier[identity])
        ]
    ids["added", MINOR] = [identity for identity in later if identity not in earlier]
    changes = [ReleaseChange(name, level, list_) for (name, level), list_ in ids.items() if list_]
    return sorted(changes, key=lambda change: -change.level)


def compare_releases(before: Path, after: Path) -> tuple[str, list[ReleaseChange]]:
    """Compare two release folders: return a heading with both versions, and the changes.

    Raises:
        MissingInputError: A folder is not a release.
        FileFormatError: A file is invalid.
    """
    versions = [read_release_provenance(folder).version for folder in (before, after)]
    changes = compare_rows(read_manifest_rows(before), read_manifest_rows(after))
    return f"{versions[0]} -> {versions[1]}", changes


def describe_changes(changes: Sequence[ReleaseChange]) -> list[str]:
    """Return one line per kind of change, and one with the required version increment."""
    lines = [
        f"{change.kind}: {len(change.ids)} ({list_first(change.ids, MOST_IDS)})"
        for change in changes
    ]
    level = max((change.level for change in changes), default=PATCH)
    return [*(lines or ["no item changed"]), f"requires a new {_NAMES[level]} version"]


def check_version(before: str, after: str, changes: Sequence[ReleaseChange]) -> None:
    """Raise ParamsError if the version increment is too small for the changes."""
    level = max((change.level for change in changes), default=PATCH)
    old, new = _parse_version(before), _parse_version(after)
    if new[: 3 - level] <= old[: 3 - level]:
        raise ParamsError(
            f"--version {after}: the previous release is {before}, and the changes require a new "
            f"{_NAMES[level]} version ({describe_changes(changes)[0]})"
        )


def _parse_version(text: str) -> tuple[int, ...]:
    numbers = text.removesuffix("-draft").split(".")
    if len(numbers) != 3 or not all(n.isascii() and n.isdigit() and len(n) < 10 for n in numbers):
        raise FileFormatError(f"version {text[:40]!r}: not of the form 1.2.3")
    return tuple(map(int, numbers))
