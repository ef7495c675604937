"""Matching of labels to responses, with reasons for unused labels."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from omibench.errors import FileFormatError
from omibench.results.four_way import RESPONSE
from omibench.stages.certify.labels import LabelRow

Place = tuple[Any, ...]
"""Model, setting, problem and sample of a response."""
UNKNOWN_PROBLEM = "of a problem that is not in this study"
OTHER_MODEL = "of a model that did not answer this problem in this study"
OTHER_RESPONSE = "of a setting or sample that is not in this study"
STALE = "of responses that have changed since"
DUPLICATE = "repeated from an earlier row"
UNKNOWN = (UNKNOWN_PROBLEM, OTHER_MODEL, OTHER_RESPONSE)
NAMED = 5
"""Maximum number of responses per reason in a warning; the certificate lists all."""
_LOG = logging.getLogger("omibench")


class Label(NamedTuple):
    """One row of a file of labels and its response."""

    number: int
    row: LabelRow
    place: Place


class MatchedLabels(NamedTuple):
    """The labels of responses of this study, and unused ones by reason."""

    file: Path
    labels: list[Label]
    left_out: dict[str, list[str]]

    def column(self, name: str) -> dict[Place, Any]:
        """Return the labels of one column, by response.

        Raises:
            FileFormatError: Two rows contradict each other.
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
        """Return the number of labels unused for any of these reasons."""
        return sum(len(self.left_out.get(reason, [])) for reason in reasons)


def match_labels(
    rows: Sequence[LabelRow], answered: pl.DataFrame, file: Path, stage: str = "certify"
) -> MatchedLabels:
    """Find the response of every label; a warning lists unused labels with reasons.

    `answered` has the columns of `RESPONSE` and `text`; `stage` is the prefix of the warning.

    Raises:
        FileFormatError: A label matches several responses.
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
    """Return the SHA-256 of a response's text, which identifies labels of another text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def describe_left_out(left_out: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Return a phrase for each reason: the number of labels, and the first few by name."""
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
    """Return the response of a label, or None if this study has none."""
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
