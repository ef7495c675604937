"""Which response each label is of, and why labels are left out."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.errors import FileFormatError
from omibench.results.four_way import RESPONSE
from omibench.stages.certify.labels import LabelRow

if TYPE_CHECKING:
    import polars as pl

Place = tuple[Any, ...]
"""Model, setting, problem and sample of a response."""
UNKNOWN_PROBLEM = "of a problem that this study does not have"
OTHER_MODEL = "of a model that did not answer this problem here"
OTHER_RESPONSE = "of a setting or sample that this study does not have"
STALE = "of responses that are other ones by now"
AGAIN = "said already by an earlier row"
UNKNOWN = (UNKNOWN_PROBLEM, OTHER_MODEL, OTHER_RESPONSE)
NAMED = 5
"""Responses that a warning names of each reason; the certificate names all."""
_LOG = logging.getLogger("omibench")


class Label(NamedTuple):
    """One row of a file of labels and the response that it is of."""

    number: int
    row: LabelRow
    place: Place


class Matched(NamedTuple):
    """The labels of responses of this study, and the rest: why -> which."""

    file: Path
    labels: list[Label]
    left_out: dict[str, list[str]]

    def column(self, name: str) -> dict[Place, Any]:
        """What people said in one column, by response.

        Raises FileFormatError where two rows contradict each other.
        """
        found: dict[Place, Any] = {}
        for number, row, place in self.labels:
            if name not in row.said:
                continue
            said = row.said[name]
            if found.setdefault(place, said) != said:
                model, setting, *_ = place
                raise FileFormatError(
                    f"{self.file}, row {number}: problem {row.id!r} of {model} under {setting} has "
                    f"two labels, {found[place]} and {said}; keep one"
                )
        return found

    def count(self, *reasons: str) -> int:
        """How many labels were left out for any of these reasons."""
        return sum(len(self.left_out.get(why, [])) for why in reasons)


def match(rows: Sequence[LabelRow], answered: pl.DataFrame, file: Path) -> Matched:
    """Find the response of every label; a warning says which labels were left out, and why.

    `answered` has the columns of `RESPONSE` and `text`. Raises FileFormatError where a label fits
    several responses.
    """
    responses: dict[str, list[dict[str, Any]]] = {}
    for response in answered.select(*RESPONSE, "text").iter_rows(named=True):
        responses.setdefault(response["id"], []).append(response)
    found = Matched(file, [], {})
    seen: set[tuple[Place, tuple[Any, ...]]] = set()
    for number, row in enumerate(rows, 1):
        known = responses.get(row.id, [])
        meant = _meant(row, known, f"{file}, row {number}")
        why = _why_not(row, known) if meant is None else _stale(row, meant)
        if meant is not None and why is None:
            place = tuple(meant[name] for name in RESPONSE)
            said = (place, tuple(row.said.items()))
            why = AGAIN if said in seen else None
            seen.add(said)
            if why is None:
                found.labels.append(Label(number, row, place))
        if why:
            found.left_out.setdefault(why, []).append(row.of)
    if found.left_out:
        _LOG.warning("certify: %s", " ".join(_told(found.left_out, len(rows), file)))
    return found


def describe_left_out(left_out: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A phrase for each reason: how many labels, why, and the first few by name."""
    for why, which in left_out.items():
        named = "; ".join(which[:NAMED]) + ("; ..." if len(which) > NAMED else "")
        yield f"{len(which)} {why}: {named}"


def _told(left_out: Mapping[str, Sequence[str]], labels: int, file: Path) -> Iterator[str]:
    yield f"{sum(map(len, left_out.values()))} of {labels} labels in {file} are not used."
    yield from (f"{phrase}." for phrase in describe_left_out(left_out))


def _why_not(row: LabelRow, known: Sequence[dict[str, Any]]) -> str:
    if not known:
        return UNKNOWN_PROBLEM
    models = {response["model"] for response in known}
    return OTHER_MODEL if row.model not in {None, *models} else OTHER_RESPONSE


def _stale(row: LabelRow, meant: dict[str, Any]) -> str | None:
    if row.response_sha256 in (None, sha256(meant["text"].encode()).hexdigest()):
        return None
    return STALE


def _meant(row: LabelRow, known: list[dict[str, Any]], where: str) -> dict[str, Any] | None:
    """The response that a label is of; None where this study has no such response."""
    wanted = {"model": row.model, "setting": row.setting, "index": row.index}
    asked = {name: value for name, value in wanted.items() if value is not None}
    found = [r for r in known if all(r[name] == value for name, value in asked.items())]
    if len(found) < 2:
        return found[0] if found else None
    which = ", ".join([f"id {row.id!r}", *(f"{n} {v!r}" for n, v in asked.items())])
    missing = ", ".join(name for name in wanted if name not in asked) or "nothing more"
    raise FileFormatError(f"{where}: {len(found)} responses have {which}; give {missing} too")
