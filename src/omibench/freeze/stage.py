"""The freeze stage: a reviewed, immutable dataset whose answers stand apart from its questions."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from omibench.benchmarks.dataset import Dataset
from omibench.errors import MissingInputError
from omibench.freeze.card import dataset_card
from omibench.freeze.examples import example_rows, write_examples
from omibench.freeze.pictures import freeze_pictures
from omibench.freeze.rows import answer_of, check_pairs, simulated_judgements
from omibench.problem import Answer, Problem, Question, question_of
from omibench.review import apply, load_decisions
from omibench.review.rejected import rejections
from omibench.study import Study
from omibench.synthetic.address import is_made_up
from omibench.tables import (
    FrozenManifest,
    content_hash,
    read_jsonl,
    write_json,
    write_jsonl,
    write_text,
)

log = logging.getLogger("omibench.freeze")


def freeze_dataset(out: Path, study: Study, problems: Path | None = None) -> FrozenManifest:
    """Freeze the study's benchmark into `out` and return its manifest.

    The benchmark `papers` is made of the file `problems`, as reviewers decided; any other brings
    its own questions and answers. Writes questions.jsonl, answers.jsonl, images/, manifest.json
    and a dataset card README.md, and examples.jsonl where `freeze.examples` names some; rows keep
    the order of their source. Raises MissingInputError for a problem without an answer,
    FileFormatError for files that do not fit together and ParamsError for examples that cannot be.
    """
    with tempfile.TemporaryDirectory(prefix="omibench-freeze-") as scratch:
        (questions, answers, folder), simulated = _read(study, problems, Path(scratch))
        if not questions:
            why = f"{folder} holds none" if problems is None else "see filter/rejects.html"
            raise MissingInputError(f"freeze: no problem is left; {why}")
        check_pairs(questions, answers)
        _warn_of_absent(questions, folder)
        questions = freeze_pictures(questions, folder, out)
    examples = example_rows(questions, answers, study.freeze.examples)
    manifest = _manifest(study, questions, answers)
    manifest = manifest.model_copy(update={"simulated": simulated})
    write_jsonl(out / "questions.jsonl", questions)
    write_jsonl(out / "answers.jsonl", answers)
    write_examples(out, examples)
    write_text(out / "README.md", dataset_card(manifest, questions, answers, examples))
    write_json(out / "manifest.json", manifest)
    return manifest


def _read(study: Study, problems: Path | None, scratch: Path) -> tuple[Dataset, dict[str, int]]:
    """The dataset, and what simulated models judged of it."""
    if study.benchmark.name == "papers":
        return _from_papers(study, problems)
    from omibench.benchmarks.registry import load_benchmark

    return load_benchmark(study.benchmark, study.data, scratch), {}


def _from_papers(study: Study, problems: Path | None) -> tuple[Dataset, dict[str, int]]:
    if problems is None:
        raise MissingInputError(
            "freeze: the benchmark `papers` needs a problems.jsonl (the output of rationale)"
        )
    rows = read_jsonl(problems, Problem)
    if study.review.decisions:
        decisions = load_decisions(study.review.decisions)
        rows = apply(decisions, rows, partial(rejections, problems))
    halves = [question_of(r) for r in rows], [answer_of(r) for r in rows]
    return Dataset(*halves, problems.parent), simulated_judgements(rows)


def _warn_of_absent(questions: Sequence[Question], folder: Path) -> None:
    absent = {f.file: q.id for q in questions for f in q.images if not f.sha256}
    if absent:
        name, problem = next(iter(absent.items()))
        log.warning(
            "freeze: %s pictures are not in %s, the first is %s of %s: no model can be asked about "
            "them until they are there and freeze has run again; everything that needs no pictures "
            "works",
            f"{len(absent):,}",
            folder,
            name,
            problem,
        )


def _manifest(
    study: Study, questions: Sequence[Question], answers: Sequence[Answer]
) -> FrozenManifest:
    sources = {question.source or "" for question in questions}
    return FrozenManifest(
        name=study.freeze.name,
        version=study.freeze.version,
        problems=len(questions),
        images=len({f.sha256 for question in questions for f in question.images} - {""}),
        questions_sha256=content_hash(questions),
        answers_sha256=content_hash(answers),
        subjects=dict(Counter(question.subject for question in questions)),
        licence=", ".join(sorted({q.licence for q in questions if q.licence})) or None,
        synthetic=", ".join(sorted(filter(is_made_up, sources))) or None,
    )
