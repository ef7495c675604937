"""A frozen dataset by item: question, gold answer and the text before translation."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from omibench.errors import FileFormatError, MissingInputError
from omibench.schemas.problem import Answer, Original, OriginalRow, Question
from omibench.schemas.tables import FrozenManifest, content_hash, read_json, read_jsonl


class FrozenItem(NamedTuple):
    """One problem of a freeze."""

    question: Question
    answer: Answer
    original: Original | None


class FrozenFolder(NamedTuple):
    """A folder written by `freeze`."""

    folder: Path
    manifest: FrozenManifest
    items: list[FrozenItem]


def read_freeze(folder: Path) -> FrozenFolder:
    """Read a freeze and compare its rows with its manifest.

    Args:
        folder: The folder of `freeze`: manifest.json, questions.jsonl, answers.jsonl, images/.

    Raises:
        MissingInputError: A file is missing.
        FileFormatError: The rows differ from the manifest, or do not match each other.
    """
    for name in ("manifest.json", "questions.jsonl", "answers.jsonl"):
        if not (folder / name).is_file():
            raise MissingInputError(f"{folder}: {name} not found; pass a folder written by freeze")
    manifest = read_json(folder / "manifest.json", FrozenManifest)
    questions = read_jsonl(folder / "questions.jsonl", Question)
    answers = read_jsonl(folder / "answers.jsonl", Answer)
    if (content_hash(questions), content_hash(answers)) != (
        manifest.questions_sha256,
        manifest.answers_sha256,
    ):
        raise FileFormatError(
            f"{folder}: questions or answers do not match its manifest.json; freeze again"
        )
    golds = {answer.id: answer for answer in answers}
    if len(golds) != len(questions) or {q.id for q in questions} != golds.keys():
        raise FileFormatError(f"{folder}: questions and answers have different ids; freeze again")
    originals = _read_originals(folder / "originals.jsonl")
    items = [FrozenItem(q, golds[q.id], originals.get(q.id)) for q in questions]
    return FrozenFolder(folder, manifest, items)


def _read_originals(path: Path) -> dict[str, Original]:
    if not path.is_file():
        return {}
    return {row.id: row.original for row in read_jsonl(path, OriginalRow)}
