"""Suggestions for an id that does not exist."""

from __future__ import annotations

from collections.abc import Collection

from omibench.errors import MissingInputError
from omibench.text.terminal import printable

NEAREST = 3


def find_nearest_ids(missing_id: str, ids: Collection[str]) -> list[str]:
    """Return the three ids most similar to the given one, the most similar first."""
    from rapidfuzz import fuzz, process, utils

    matches = process.extract(
        missing_id, sorted(ids), scorer=fuzz.ratio, processor=utils.default_process, limit=NEAREST
    )
    return [id for id, *_ in matches]


def make_id_error(missing_id: str, ids: Collection[str]) -> MissingInputError:
    """Return the error that no response has the id, with the nearest ids."""
    near = [repr(printable(id)[:80]) for id in find_nearest_ids(missing_id, ids)]
    last = f"{', '.join(near[:-1])} and {near[-1]}" if len(near) > 1 else near[0]
    are = "the nearest are" if len(near) > 1 else "the only one is"
    return MissingInputError(
        f"--explain {printable(missing_id)[:80]!r}: no response has this id; {are} {last}"
    )
