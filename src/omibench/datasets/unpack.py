"""Conversion of a release to the layout of a freeze, with every part checked by hash."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from omibench.datasets.release_contents import (
    ANSWERS,
    GOLD,
    ORIGINAL,
    QUESTION,
    QUESTIONS,
    RATIONALE,
    hash_values,
    iter_answers,
    iter_questions,
    iter_rows,
    list_choices,
)
from omibench.datasets.release_folder import (
    MANIFEST,
    PROVENANCE,
    ReleaseRow,
    read_manifest_rows,
    read_release_provenance,
    read_sums,
)
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.outputs import write_atomically
from omibench.files.reading import Container
from omibench.schemas.problem import Answer, Original, OriginalRow, Question
from omibench.schemas.tables import content_hash, write_json, write_jsonl
from omibench.schemas.validation import explain

MOST_IDS: Final = 5
_PICTURE: Final = re.compile(r"images/([0-9a-f]{64})\.[a-z0-9]{1,8}")


def is_release(folder: Path) -> bool:
    """Return whether a folder is a release rather than a freeze: it has a manifest.jsonl."""
    return (folder / MANIFEST).is_file()


def unpack_release(folder: Path, out: Path) -> None:
    """Write the dataset of a release in freeze layout: manifest, questions, answers, pictures.

    Questions and answers have the content hashes of the provenance. Nothing of the release is
    evaluated, input is bounded, and no path leads out of either folder.

    Args:
        folder: Release folder.
        out: Output folder; must be empty.

    Raises:
        MissingInputError: If a file is missing or items are listed as metadata only.
        FileFormatError: If a text or picture does not match its hash.
    """
    rows = {row.id: row for row in read_manifest_rows(folder)}
    provenance = read_release_provenance(folder)
    _refuse_metadata(folder, list(rows.values()))
    if withheld := [s.name for s in provenance.sources if s.withholds_keys]:
        raise MissingInputError(
            f"{folder}: the keys of {', '.join(withheld)} are withheld, so responses cannot be "
            "scored; ask its authors to evaluate your model"
        )
    questions, answers = [*iter_questions(folder)], [*iter_answers(folder)]
    frozen = provenance.frozen
    for name, halves, expected in (
        (QUESTIONS, content_hash(questions), frozen.questions_sha256),
        (ANSWERS, content_hash(answers), frozen.answers_sha256),
    ):
        if halves != expected:
            raise FileFormatError(
                f"{folder / name}: its content ({halves[:12]}) differs from the freeze "
                f"({expected[:12]}, {PROVENANCE}); get the release again"
            )
    _check_texts(folder, questions, answers, rows)
    originals = _unpack_tables(folder, out, questions, rows)
    write_jsonl(out / QUESTIONS, questions)
    write_jsonl(out / ANSWERS, answers)
    write_jsonl(out / "originals.jsonl", originals)
    manifest = frozen.model_copy(update={"name": provenance.name, "version": provenance.version})
    write_json(out / "manifest.json", manifest)


def _refuse_metadata(folder: Path, rows: Sequence[ReleaseRow]) -> None:
    """A part of a dataset under the same name would pass as the whole."""
    withheld = [row.id for row in rows if row.access == "metadata"]
    if withheld:
        more = ", ..." * (len(withheld) > MOST_IDS)
        raise MissingInputError(
            f"{folder}: {len(withheld):,} of {len(rows):,} items are listed as metadata only "
            f"({', '.join(withheld[:MOST_IDS])}{more}); extract them from their papers as "
            "described in EXTRACTION.md, freeze them, and give the folder of that freeze"
        )


def _check_texts(
    folder: Path,
    questions: Sequence[Question],
    answers: Sequence[Answer],
    rows: Mapping[str, ReleaseRow],
) -> None:
    golds = {answer.id: answer for answer in answers}
    ids = [question.id for question in questions]
    if not (len(ids) == len(rows) == len(answers) and {*ids} == rows.keys() == golds.keys()):
        raise FileFormatError(
            f"{folder}: {QUESTIONS}, {ANSWERS} and {MANIFEST} have different items"
        )
    for question in questions:
        answer, row = golds[question.id], rows[question.id]
        values = {
            "question": question.question,
            "choices": list_choices(question.choices),
            "answer": answer.answer,
            "rationale": answer.solution,
        }
        rationale = hash_values(values, RATIONALE) if answer.solution else None
        for name, actual, expected in (
            ("question", hash_values(values, QUESTION), row.question_sha256),
            ("gold", hash_values(values, GOLD), row.answer_sha256),
            ("rationale", rationale, row.rationale_sha256),
            ("pictures", [figure.sha256 for figure in question.images], row.image_sha256),
        ):
            if actual != expected:
                raise FileFormatError(
                    f"{folder}: {question.id}: its {name} differs from {MANIFEST}"
                )


def _unpack_tables(
    folder: Path, out: Path, questions: Sequence[Question], rows: Mapping[str, ReleaseRow]
) -> list[OriginalRow]:
    """Write the pictures of the tables below `out`; return the originals in item order."""
    files = _name_pictures(folder, questions)
    originals: dict[str, OriginalRow] = {}
    ids: set[str] = set()
    tables = [n for n in read_sums(folder) if n.startswith("data/") and n.endswith(".parquet")]
    (out / "images").mkdir()
    for table in sorted(tables):
        path = Container(folder).path(table)
        for number, row in enumerate(iter_rows(path), 1):
            place = f"{path}, row {number}"
            expected = rows.get(str(row.get("id")))
            if expected is None or expected.id in ids:
                raise FileFormatError(f"{place}: is not an item of {MANIFEST}, or occurs twice")
            ids.add(expected.id)
            _write_pictures(f"{place}: {expected.id}", row, expected, files, out)
            if expected.original_sha256:
                originals[expected.id] = _read_original(f"{place}: {expected.id}", row, expected)
    if missing := sorted(rows.keys() - ids):
        raise FileFormatError(f"{folder}: {missing[0]}: is in {MANIFEST} but in no table")
    return [originals[question.id] for question in questions if question.id in originals]


def _name_pictures(folder: Path, questions: Sequence[Question]) -> dict[str, str]:
    """Return the path in its questions for the SHA-256 of each picture."""
    files: dict[str, str] = {}
    for question in questions:
        for figure in question.images:
            match = _PICTURE.fullmatch(figure.file)
            if match is None or match[1] != figure.sha256:
                raise FileFormatError(
                    f"{folder / QUESTIONS}: {question.id}: {figure.file[:120]!r} is not a path of "
                    "a frozen picture"
                )
            files[figure.sha256] = figure.file
    return files


def _write_pictures(
    place: str, row: Mapping[str, Any], expected: ReleaseRow, files: Mapping[str, str], out: Path
) -> None:
    pictures = row.get("images")
    contents = [p.get("bytes") for p in pictures if p] if isinstance(pictures, list) else []
    digests = [hashlib.sha256(c).hexdigest() for c in contents if isinstance(c, bytes)]
    if digests != expected.image_sha256:
        raise FileFormatError(f"{place}: its pictures differ from {MANIFEST}")
    for digest, content in zip(digests, contents, strict=True):
        target = out / files[digest]
        if not target.is_file():
            write_atomically(target, content)


def _read_original(place: str, row: Mapping[str, Any], expected: ReleaseRow) -> OriginalRow:
    values = {name: row.get(name) for name in ORIGINAL}
    if hash_values(values, ORIGINAL) != expected.original_sha256:
        raise FileFormatError(f"{place}: its original text differs from {MANIFEST}")
    fields = {name.removeprefix("original_"): value for name, value in values.items()}
    try:
        return OriginalRow(id=expected.id, original=Original.model_validate(fields))
    except ValidationError as error:
        raise FileFormatError(f"{place}: {explain(error, Original)}") from None
