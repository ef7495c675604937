"""Verification of any release: files by checksum, items by the manifest's hashes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from omibench.datasets.releases.folder import (
    DOCUMENT_BYTES,
    MOST_FILES,
    SUMS,
    read_manifest_rows,
    read_release_provenance,
    read_sums,
)
from omibench.datasets.releases.halves import ANSWERS, QUESTIONS, iter_answers, iter_questions
from omibench.datasets.releases.hashes import (
    GOLD,
    QUESTION,
    describe_row,
    hash_values,
    list_choices,
)
from omibench.datasets.releases.schema import ReleaseRow
from omibench.datasets.releases.tables import TABLE_BYTES, iter_rows
from omibench.errors import FileFormatError, OmibenchError
from omibench.files.hashes import hash_file
from omibench.files.intake import open_regular, parse_json, read_bytes, read_picture
from omibench.files.intake.containment import Container
from omibench.release.columns import CANARY
from omibench.release.verify_documents import check_documents

_HASHES: Final = (
    "question_sha256", "answer_sha256", "rationale_sha256", "original_sha256", "labels_sha256",
)  # fmt: skip
MOST_FINDINGS: Final = 50


class ReleaseCheck(NamedTuple):
    """The result of verifying a release."""

    findings: list[str]
    """One line per finding, at most 50; empty for a valid release."""
    is_draft: bool
    """Whether the release is marked as a draft."""


def verify_release(folder: Path) -> ReleaseCheck:
    """Verify a release: containment, checksums, manifest, texts, pictures, card and metadata.

    Nothing is executed, reads are bounded, and paths cannot leave the folder.

    Args:
        folder: The release.

    Returns:
        The findings, and whether it is a draft.
    """
    findings: list[str] = []
    for finding in _check(folder):
        findings.append(finding)
        if len(findings) >= MOST_FINDINGS:
            findings.append("list truncated")
            break
    return ReleaseCheck(findings, not findings and read_release_provenance(folder).draft)


def _check(folder: Path) -> Iterator[str]:
    try:
        sums = read_sums(folder)
        # Do not parse files whose checksum is wrong.
        damaged = list(_check_sums(folder, sums))
        yield from damaged
        if damaged:
            return
        rows = {row.id: row for row in read_manifest_rows(folder)}
        provenance = read_release_provenance(folder)
        yield from _check_tables(folder, sums, rows, provenance.canary)
        yield from _check_halves(folder, sums, rows)
        yield from check_documents(folder, sums, provenance)
    except OmibenchError as error:
        yield from error.lines


def _check_sums(folder: Path, sums: Mapping[str, str]) -> Iterator[str]:
    container = Container(folder)
    for name, digest in sums.items():
        path = container.path(name)
        try:
            with open_regular(path, TABLE_BYTES):
                pass
            actual = hash_file(path)
        except OmibenchError as error:
            yield from error.lines
            continue
        if actual != digest:
            yield f"{path}: has the SHA-256 {actual[:12]}, but {SUMS} states {digest[:12]}"
    for name in _list_files(folder):
        if name != SUMS and name not in sums:
            yield f"{folder / name}: not in {SUMS}"


def _list_files(folder: Path) -> Iterator[str]:
    count = 0
    for place, folders, names in os.walk(folder):  # follows no links
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in sorted([*names, *links]):
            count += 1
            if count > MOST_FILES + 1:
                raise FileFormatError(f"{folder}: contains more than {MOST_FILES:,} files")
            yield (Path(place) / name).relative_to(folder).as_posix()


def _check_tables(
    folder: Path, sums: Mapping[str, str], rows: Mapping[str, ReleaseRow], canary: str
) -> Iterator[str]:
    columns = _read_columns(folder)
    seen: set[str] = set()
    tables = [name for name in sums if name.endswith(".parquet")]
    for name in sorted(tables):
        path = Container(folder).path(name)
        is_data = name.startswith("data/")
        for number, row in enumerate(iter_rows(path), 1):
            place = f"{path}, row {number}"
            identity = row.get("id")
            expected = rows.get(identity) if isinstance(identity, str) else None
            if expected is None:
                yield f"{place}: the id {str(identity)[:80]!r} is not in the manifest"
                continue
            if is_data and identity in seen:
                yield f"{place}: {identity}: occurs twice"
            if is_data:
                seen.add(str(identity))
                if not Path(name).name.startswith(f"{expected.split}-"):
                    yield f"{place}: {identity}: the manifest lists it in {expected.split}"
            if columns != {*row}:
                yield f"{place}: {identity}: columns differ from schema.json"
            if row.get(CANARY) != canary:
                yield f"{place}: {identity}: lacks the canary of provenance.json"
            yield from _check_row(place, row, expected)
    for identity in rows.keys() - seen if len(seen) < len(rows) else ():
        yield f"{folder}: {identity}: in the manifest, but not in a table"


def _check_row(place: str, row: Mapping[str, Any], expected: ReleaseRow) -> Iterator[str]:
    identity = expected.id
    try:
        actual = describe_row(row, expected.split)
        contents = [picture["bytes"] for picture in row["images"]]
    except (KeyError, TypeError, AttributeError, ValueError):
        yield f"{place}: {identity}: lacks a column, or has a wrong type"
        return
    for name in ("access", "source", "licence", "image_sha256"):
        if getattr(actual, name) != getattr(expected, name):
            yield f"{place}: {identity}: {name} differs from the manifest"
    if expected.access == "metadata":
        if contents or row["question"] is not None:
            yield f"{place}: {identity}: metadata-only item with a text or picture"
        return
    for name in _HASHES:
        if getattr(actual, name) != getattr(expected, name):
            yield f"{place}: {identity}: {name} differs from the manifest"
    yield from _check_pictures(f"{place}: {identity}", contents, expected.image_sha256)


def _check_pictures(place: str, contents: list[bytes | None], digests: list[str]) -> Iterator[str]:
    if len(contents) != len(digests):
        yield f"{place}: has {len(contents)} pictures, but the manifest lists {len(digests)}"
        return
    for number, (content, digest) in enumerate(zip(contents, digests, strict=True)):
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            yield f"{place}: picture {number} does not match its SHA-256 in the manifest"
            continue
        try:
            read_picture(content, f"{place}: picture {number}")
        except OmibenchError as error:
            yield from error.lines


def _check_halves(
    folder: Path, sums: Mapping[str, str], rows: Mapping[str, ReleaseRow]
) -> Iterator[str]:
    """Compare the separate questions and answers of items with texts with the manifest."""
    full = sorted(row.id for row in rows.values() if row.access == "full")
    for name in (QUESTIONS, ANSWERS):
        if full and name not in sums:
            yield f"{folder / name}: is missing"
    if QUESTIONS in sums:
        questions = {question.id: question for question in iter_questions(folder)}
        if sorted(questions) != full:
            yield f"{folder / QUESTIONS}: ids differ from those of the items with texts"
        for question in questions.values():
            values = {"question": question.question, "choices": list_choices(question.choices)}
            expected = rows.get(question.id)
            if not expected or expected.question_sha256 != hash_values(values, QUESTION):
                place = folder / QUESTIONS
                yield f"{place}: {question.id[:80]!r}: its question differs from the manifest"
    if ANSWERS in sums:
        answers = {answer.id: answer for answer in iter_answers(folder)}
        if sorted(answers) != full:
            yield f"{folder / ANSWERS}: ids differ from those of the items with texts"
        for answer in answers.values():
            digest = hash_values({"answer": answer.answer}, GOLD)
            expected = rows.get(answer.id)
            if not expected or expected.answer_sha256 != digest:
                place = folder / ANSWERS
                yield f"{place}: {answer.id[:80]!r}: its gold answer differs from the manifest"


def _read_columns(folder: Path) -> set[str]:
    path = Container(folder).path("schema.json")
    document = parse_json(read_bytes(path, DOCUMENT_BYTES), str(path))
    columns = document.get("columns") if isinstance(document, dict) else None
    if not isinstance(columns, dict):
        raise FileFormatError(f"{path}: lists no columns")
    return {*columns}
