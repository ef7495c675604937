"""A frozen omibench dataset, written by `freeze` or built by `omibench release`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from omibench.datasets.dataset import Dataset
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import naming
from omibench.datasets.unpack import is_release, unpack_release
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import Container
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import FrozenManifest, content_hash, read_jsonl, read_typed_json


@benchmark("frozen")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """Read the dataset; a release is unpacked into `scratch` first.

    Raises MissingInputError if one of its files is missing or a release lists items as metadata
    only, and FileFormatError if questions, answers or pictures differ from those in its manifest
    or a picture is outside the folder.
    """
    if is_release(folder):
        out = Path(tempfile.mkdtemp(prefix="frozen-", dir=scratch))
        unpack_release(folder, out)
        return _read_freeze(out)
    return _read_freeze(folder)


def _read_freeze(folder: Path) -> Dataset:
    container = Container(folder)
    for name in ("manifest.json", "questions.jsonl", "answers.jsonl"):
        if not container.path(name).is_file():
            raise MissingInputError(f"{folder}: is not a frozen release; it has no {name}")
    manifest = read_manifest(folder)
    questions = read_jsonl(folder / "questions.jsonl", Question)
    answers = read_jsonl(folder / "answers.jsonl", Answer)
    _check(folder / "questions.jsonl", questions, manifest.questions_sha256)
    _check(folder / "answers.jsonl", answers, manifest.answers_sha256)
    for question in questions:
        with naming(folder / "questions.jsonl", question.id):
            for figure in question.images:
                container.path(figure.file)
    _check_pictures(folder, questions)
    return Dataset(questions, answers, folder)


def _check_pictures(folder: Path, questions: Sequence[Question]) -> None:
    """Refuse a dataset with pictures of which none is there: they were left behind."""
    named = [f.file for question in questions for f in question.images if f.sha256]
    if named and not any(os.path.lexists(folder / name) for name in named):
        raise MissingInputError(
            f"{folder}: none of its {len(set(named)):,} pictures is there; the first is expected "
            f"at {folder / named[0]}; copy the folder of pictures, too"
        )


def read_manifest(folder: Path) -> FrozenManifest:
    """Read the metadata of a freeze. Raises as `read_typed_json` does."""
    return read_typed_json(folder / "manifest.json", FrozenManifest)


def _check(file: Path, rows: Sequence[BaseModel], stated: str) -> None:
    actual = content_hash(rows)
    if actual != stated:
        raise FileFormatError(
            f"{file}: its content ({actual[:12]}) differs from the release ({stated[:12]}); "
            "restore the file, or copy the rows into your own release"
        )
