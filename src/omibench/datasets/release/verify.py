"""Verification of a release's documents: file names, card, Croissant, schema, canary."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from omibench.datasets.release.tables import CANARY
from omibench.datasets.release_contents import (
    ANSWERS,
    GOLD,
    QUESTION,
    QUESTIONS,
    TABLE_BYTES,
    describe_row,
    hash_values,
    iter_answers,
    iter_questions,
    iter_rows,
    list_choices,
)
from omibench.datasets.release_folder import (
    DOCUMENT_BYTES,
    MOST_FILES,
    SUMS,
    ReleaseProvenance,
    ReleaseRow,
    read_manifest_rows,
    read_release_provenance,
    read_sums,
)
from omibench.errors import FileFormatError, OmibenchError
from omibench.files.pictures import read_picture
from omibench.files.reading import Container, hash_file, open_regular, parse_json, read_bytes
from omibench.files.yaml_file import parse_yaml

_NAME: Final = re.compile(
    r"(data|sample)/[a-z][a-z0-9_]{0,29}-\d{5}-of-\d{5}\.parquet"
    r"|(README|CHANGELOG|EXTRACTION|datasheet)\.md"
    r"|(schema|croissant|provenance)\.json|(manifest|questions|answers)\.jsonl"
)
_CANARY: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""Dataset names may be escaped in some files."""
_CONFIG_KEYS: Final = {"config_name", "default", "data_files"}


def check_documents(
    folder: Path, sums: Mapping[str, str], provenance: ReleaseProvenance
) -> Iterator[str]:
    """Yield the findings about a release's documents, whose bytes match `sums`.

    Args:
        folder: The release.
        sums: SHA-256 by path, as in SHA256SUMS.
        provenance: The provenance of the release.

    Yields:
        One line per finding.
    """
    for name in sums:
        if not _NAME.fullmatch(name):
            yield f"{folder / name[:120]}: not a file of a release"
    yield from _check_canary(folder, sums, provenance.canary)
    yield from _check_card(folder, sums, provenance)
    yield from _check_croissant(folder, sums)


def _check_canary(folder: Path, sums: Mapping[str, str], canary: str) -> Iterator[str]:
    """Check that text files contain the canary, in every line of row-based files."""
    container = Container(folder)
    identity = _CANARY.search(canary)
    if identity is None:
        yield f"{folder / 'provenance.json'}: its canary does not end in a UUID"
        return
    text = identity[0].encode()
    for name in sums:
        path = container.path(name)
        if name.endswith(".jsonl"):
            content = read_bytes(path, 16 * DOCUMENT_BYTES)
            if any(text not in line for line in content.splitlines()):
                yield f"{path}: a line lacks the canary of provenance.json"
        elif not name.endswith(".parquet") and text not in read_bytes(path, DOCUMENT_BYTES):
            yield f"{path}: lacks the canary of provenance.json"


def _check_card(
    folder: Path, sums: Mapping[str, str], provenance: ReleaseProvenance
) -> Iterator[str]:
    """Check that the card's header lists exactly the data files of the release."""
    path = Container(folder).path("README.md")
    parts = read_bytes(path, DOCUMENT_BYTES).split(b"---\n", 2)
    if len(parts) < 3 or parts[0]:
        yield f"{path}: has no YAML header"
        return
    try:
        header = parse_yaml(parts[1])
    except (yaml.YAMLError, ValueError, OmibenchError) as error:
        yield f"{path}: its header is not YAML: {' '.join(str(error).split())[:200]}"
        return
    configs = header.get("configs") if isinstance(header, dict) else None
    if not isinstance(configs, list) or not configs:
        yield f"{path}: its header lists no data files"
        return
    if header.get("version") != provenance.version:
        yield f"{path}: its version differs from that of provenance.json, {provenance.version}"
    for config in configs:
        if not isinstance(config, dict) or set(config) - _CONFIG_KEYS:
            yield f"{path}: a configuration in its header has unexpected keys"
            continue
        files = config.get("data_files")
        for entry in files if isinstance(files, list) else [files]:
            pattern = entry.get("path") if isinstance(entry, dict) else entry
            if not isinstance(pattern, str) or not _matches(pattern, sums):
                yield f"{path}: lists data files that are not in {SUMS}: {str(pattern)[:80]!r}"


def _matches(pattern: str, sums: Mapping[str, str]) -> bool:
    head, star, tail = pattern.partition("*")
    if not star:
        return pattern in sums
    return any(name.startswith(head) and name.endswith(tail) for name in sums)


def _check_croissant(folder: Path, sums: Mapping[str, str]) -> Iterator[str]:
    """Check that all files and file sets belong to the release and have their hashes."""
    path = Container(folder).path("croissant.json")
    document = parse_json(read_bytes(path, DOCUMENT_BYTES), str(path))
    entries = document.get("distribution") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        yield f"{path}: lacks the list `distribution`"
        return
    for entry in entries:
        if not _is_of_release(entry, sums):
            name = entry.get("@id") if isinstance(entry, dict) else entry
            yield f"{path}: {str(name)[:80]!r} is not the file of its SHA-256 in {SUMS}"


def _is_of_release(entry: Any, sums: Mapping[str, str]) -> bool:
    if not isinstance(entry, dict):
        return False
    if entry.get("@type") == "cr:FileSet":
        pattern = entry.get("includes")
        return "containedIn" not in entry and isinstance(pattern, str) and _matches(pattern, sums)
    name = entry.get("contentUrl")
    is_file = entry.get("@type") == "cr:FileObject" and isinstance(name, str) and name in sums
    return is_file and entry.get("sha256") == sums[str(name)]


# Verification of any release: files by checksum, items by the manifest's hashes.

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
    decoded: set[str] = set()
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
            yield from _check_row(place, row, expected, decoded)
    for identity in rows.keys() - seen if len(seen) < len(rows) else ():
        yield f"{folder}: {identity}: in the manifest, but not in a table"


def _check_row(
    place: str, row: Mapping[str, Any], expected: ReleaseRow, decoded: set[str]
) -> Iterator[str]:
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
    yield from _check_pictures(f"{place}: {identity}", contents, expected.image_sha256, decoded)


def _check_pictures(
    place: str, contents: list[bytes | None], digests: list[str], decoded: set[str]
) -> Iterator[str]:
    """Check the hashes of pictures, and that each decodes; one that was `decoded` once is known."""
    if len(contents) != len(digests):
        yield f"{place}: has {len(contents)} pictures, but the manifest lists {len(digests)}"
        return
    for number, (content, digest) in enumerate(zip(contents, digests, strict=True)):
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            yield f"{place}: picture {number} does not match its SHA-256 in the manifest"
            continue
        if digest in decoded:
            continue
        decoded.add(digest)
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
