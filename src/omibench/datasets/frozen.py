"""A frozen release of ours: questions.jsonl, answers.jsonl and images/, checked by content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from omibench.datasets.dataset import Dataset
from omibench.datasets.registry import benchmark
from omibench.datasets.rows import naming
from omibench.errors import FileFormatError, MissingInputError
from omibench.files.intake.containment import Container
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import FrozenManifest, content_hash, read_json, read_jsonl


@benchmark("frozen")
def load(folder: Path, scratch: Path, params: BenchmarkParams) -> Dataset:
    """The release as `freeze` wrote it.

    Raises MissingInputError when one of its files is absent, FileFormatError when the questions
    or answers are not those that its manifest names, or a picture lies outside of the release.
    """
    for name in ("manifest.json", "questions.jsonl", "answers.jsonl"):
        if not (folder / name).is_file():
            raise MissingInputError(f"{folder}: is no frozen release: it holds no {name}")
    manifest = read_manifest(folder)
    questions = read_jsonl(folder / "questions.jsonl", Question)
    answers = read_jsonl(folder / "answers.jsonl", Answer)
    _check(folder / "questions.jsonl", questions, manifest.questions_sha256)
    _check(folder / "answers.jsonl", answers, manifest.answers_sha256)
    container = Container(folder)
    for question in questions:
        with naming(folder / "questions.jsonl", question.id):
            for figure in question.images:
                container.path(figure.file)
    return Dataset(questions, answers, folder)


def read_manifest(folder: Path) -> FrozenManifest:
    """What a release says of itself. Raises as `read_json` does."""
    return read_json(folder / "manifest.json", FrozenManifest)


def _check(file: Path, rows: Sequence[BaseModel], stated: str) -> None:
    actual = content_hash(rows)
    if actual != stated:
        raise FileFormatError(
            f"{file}: its content ({actual[:12]}) is not that of the release ({stated[:12]}): "
            "restore the file, or take the rows into a release of your own"
        )
