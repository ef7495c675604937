"""The freeze stage: a reviewed, immutable dataset whose answers stand apart from its questions."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from omibench.errors import MissingInputError
from omibench.freeze.card import dataset_card
from omibench.freeze.pictures import freeze_pictures
from omibench.freeze.rows import answer_of, check_pairs, question_of
from omibench.problem import Answer, Problem, Question
from omibench.review import apply, load_decisions
from omibench.study import Study
from omibench.tables import FrozenManifest, read_jsonl, write_json, write_jsonl, write_text


def freeze_dataset(out: Path, study: Study, problems: Path | None = None) -> FrozenManifest:
    """Freeze the study's benchmark into `out` and return its manifest.

    The benchmark `papers` is made of the file `problems`, as reviewers decided; any other brings
    its own questions and answers. Writes questions.jsonl, answers.jsonl, images/, manifest.json
    and a dataset card README.md; rows keep the order of their source. Raises MissingInputError
    for a problem without an answer and FileFormatError for files that do not fit together.
    """
    if study.benchmark.name == "papers":
        questions, answers, folder = _from_papers(study, problems)
    else:
        from omibench.benchmarks.registry import load_benchmark

        questions, answers = load_benchmark(study.benchmark.name, study.data)
        folder = Path(study.data or ".")
    if not questions:
        raise MissingInputError("freeze: no problem is left to freeze; see filter/rejects.parquet")
    check_pairs(questions, answers)
    questions = freeze_pictures(questions, folder, out)
    manifest = _manifest(study, questions, answers)
    write_jsonl(out / "questions.jsonl", questions)
    write_jsonl(out / "answers.jsonl", answers)
    write_text(out / "README.md", dataset_card(manifest, questions, answers))
    write_json(out / "manifest.json", manifest)
    return manifest


def content_hash(rows: Sequence[BaseModel]) -> str:
    """SHA-256 over the sorted JSON lines of `rows`: the same whatever their order."""
    lines = sorted(row.model_dump_json() for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _from_papers(study: Study, problems: Path | None) -> tuple[list[Question], list[Answer], Path]:
    if problems is None:
        raise MissingInputError(
            "freeze: the benchmark `papers` needs a problems.jsonl (the output of rationale)"
        )
    rows = read_jsonl(problems, Problem)
    if study.review.decisions:
        rows = apply(load_decisions(study.review.decisions), rows)
    return [question_of(r) for r in rows], [answer_of(r) for r in rows], problems.parent


def _manifest(
    study: Study, questions: Sequence[Question], answers: Sequence[Answer]
) -> FrozenManifest:
    return FrozenManifest(
        name=study.freeze.name,
        version=study.freeze.version,
        problems=len(questions),
        images=len({figure.sha256 for question in questions for figure in question.images}),
        questions_sha256=content_hash(questions),
        answers_sha256=content_hash(answers),
        subjects=dict(Counter(question.subject for question in questions)),
        licence=", ".join(sorted({q.licence for q in questions if q.licence})) or None,
    )
