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
DUPLICATE = "said already by an earlier row"
UNKNOWN = (UNKNOWN_PROBLEM, OTHER_MODEL, OTHER_RESPONSE)
NAMED = 5
"""Responses that a warning names of each reason; the certificate names all."""
_LOG = logging.getLogger("omibench")


class Label(NamedTuple):
    """One row of a file of labels and the response that it is of."""

    number: int
    row: LabelRow
    place: Place


class MatchedLabels(NamedTuple):
    """The labels of responses of this study, and the rest: why -> which."""

    file: Path
    labels: list[Label]
    left_out: dict[str, list[str]]

    def column(self, name: str) -> dict[Place, Any]:
        """What people said in one column, by response.

        Raises FileFormatError where two rows contradict each other.
        """
        labels: dict[Place, Any] = {}
        for number, row, place in self.labels:
            if name not in row.labels:
                continue
            label = row.labels[name]
            if labels.setdefault(place, label) != label:
                model, setting, *_ = place
                raise FileFormatError(
                    f"{self.file}, row {number}: problem {row.id!r} of {model} under {setting} has "
                    f"two labels, {labels[place]} and {label}; keep one"
                )
        return labels

    def count(self, *reasons: str) -> int:
        """How many labels were left out for any of these reasons."""
        return sum(len(self.left_out.get(reason, [])) for reason in reasons)


def match_labels(
    rows: Sequence[LabelRow], answered: pl.DataFrame, file: Path, stage: str = "certify"
) -> MatchedLabels:
    """Find the response of every label; a warning says which labels were left out, and why.

    `answered` has the columns of `RESPONSE` and `text`; `stage` begins the warning. Raises
    FileFormatError where a label fits several responses.
    """
    responses: dict[str, list[dict[str, Any]]] = {}
    for response in answered.select(*RESPONSE, "text").iter_rows(named=True):
        responses.setdefault(response["id"], []).append(response)
    matched = MatchedLabels(file, [], {})
    accepted: set[tuple[Place, tuple[Any, ...]]] = set()
    for number, row in enumerate(rows, 1):
        candidates = responses.get(row.id, [])
        meant = _find_response(row, candidates, f"{file}, row {number}")
        reason = (
            _explain_mismatch(row, candidates) if meant is None else _check_staleness(row, meant)
        )
        if meant is not None and reason is None:
            place = tuple(meant[name] for name in RESPONSE)
            entry = (place, tuple(row.labels.items()))
            reason = DUPLICATE if entry in accepted else None
            accepted.add(entry)
            if reason is None:
                matched.labels.append(Label(number, row, place))
        if reason:
            matched.left_out.setdefault(reason, []).append(row.response_name)
    if matched.left_out:
        unused = " ".join(_describe_unused(matched.left_out, len(rows), file))
        _LOG.warning("%s: %s", stage, unused)
    return matched


def hash_text(text: str) -> str:
    """The SHA-256 of a response's text, by which labels of another text are told."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def describe_left_out(left_out: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A phrase for each reason: how many labels, why, and the first few by name."""
    for reason, responses in left_out.items():
        named = "; ".join(responses[:NAMED]) + ("; ..." if len(responses) > NAMED else "")
        yield f"{len(responses)} {reason}: {named}"


def _describe_unused(
    left_out: Mapping[str, Sequence[str]], labels: int, file: Path
) -> Iterator[str]:
    yield f"{sum(map(len, left_out.values()))} of {labels} labels in {file} are not used."
    yield from (f"{phrase}." for phrase in describe_left_out(left_out))


def _explain_mismatch(row: LabelRow, candidates: Sequence[dict[str, Any]]) -> str:
    if not candidates:
        return UNKNOWN_PROBLEM
    models = {response["model"] for response in candidates}
    return OTHER_MODEL if row.model not in {None, *models} else OTHER_RESPONSE


def _check_staleness(row: LabelRow, meant: dict[str, Any]) -> str | None:
    return None if row.response_sha256 in (None, hash_text(meant["text"])) else STALE


def _find_response(
    row: LabelRow, candidates: list[dict[str, Any]], location: str
) -> dict[str, Any] | None:
    """The response that a label is of; None where this study has no such response."""
    criteria = {"model": row.model, "setting": row.setting, "index": row.index}
    stated = {name: value for name, value in criteria.items() if value is not None}
    matches = [r for r in candidates if all(r[name] == value for name, value in stated.items())]
    if len(matches) < 2:
        return matches[0] if matches else None
    description = ", ".join([f"id {row.id!r}", *(f"{n} {v!r}" for n, v in stated.items())])
    missing = ", ".join(name for name in criteria if name not in stated) or "nothing more"
    raise FileFormatError(
        f"{location}: {len(matches)} responses have {description}; give {missing} too"
    )
