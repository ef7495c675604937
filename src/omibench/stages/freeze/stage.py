"""Stage `freeze`: an immutable dataset with answers separate from questions."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.datasets.dataset import Dataset
from omibench.errors import MissingInputError, OmibenchError, OutputError
from omibench.params.stage_params import FreezeStageParams
from omibench.params.stages.freeze import FreezeParams
from omibench.schemas.problem import Answer, OriginalRow, Question, strip_answer
from omibench.schemas.review import ReviewCounts
from omibench.schemas.tables import (
    FrozenManifest,
    content_hash,
    read_json,
    write_json,
    write_jsonl,
    write_text,
)
from omibench.stages.freeze.card import dataset_card
from omibench.stages.freeze.examples import make_example_rows, write_examples
from omibench.stages.freeze.originals import list_originals, read_originals, write_originals
from omibench.stages.freeze.pictures import drop_others, freeze_pictures, take_back
from omibench.stages.freeze.reviewed import review_problems
from omibench.stages.freeze.rows import (
    align_attributes,
    build_answer,
    check_pairs,
    count_simulated_judgements,
    list_corrected,
)
from omibench.synthetic.address import is_made_up

log = logging.getLogger("omibench.stages.freeze")


def freeze_dataset(problems: Path | None, out: Path, study: FreezeStageParams) -> FrozenManifest:
    """Freeze the study's benchmark into `out` and return its manifest.

    The benchmark `papers` is made of the file `problems` and the reviewers' decisions; any other
    has its own questions and answers. Writes questions.jsonl, answers.jsonl, images/,
    manifest.json, a dataset card README.md, originals.jsonl (original texts of translated
    problems), and examples.jsonl if `freeze.examples` is set. Rows keep the order of their source.

    Raises:
        MissingInputError: A problem has no answer.
        FileFormatError: Files do not match each other, or are not pictures.
        ParamsError: The examples are not possible.
        OutputError: `out` contains the same version with other content.
    """
    with tempfile.TemporaryDirectory(prefix="omibench-freeze-") as scratch:
        (questions, answers, folder), identity = _read_dataset(study, problems, Path(scratch))
        if not questions:
            reason = f"{folder} holds none" if problems is None else "see filter/rejects.parquet"
            raise MissingInputError(f"freeze: no problem is left; {reason}")
        check_pairs(questions, answers)
        _warn_of_absent(questions, folder)
        strip = study.freeze.metadata == "strip"
        pictures = freeze_pictures(questions, folder, out, strip)
    questions, answers = pictures.questions, align_attributes(answers)
    examples = make_example_rows(questions, answers, study.freeze.examples)
    manifest = _make_manifest(identity, questions, answers, study.freeze.allow_without_rationale)
    try:
        refuse_other_content(out, manifest)
    except OutputError:
        take_back(out, pictures.added)
        raise
    drop_others(out, pictures.names)
    write_jsonl(out / "questions.jsonl", questions)
    write_jsonl(out / "answers.jsonl", answers)
    write_examples(out, examples)
    write_originals(out, identity.originals)
    stripped = pictures.stripped if strip else None
    write_text(out / "README.md", dataset_card(manifest, questions, answers, examples, stripped))
    write_json(out / "manifest.json", manifest)
    return manifest


def refuse_other_content(out: Path, manifest: FrozenManifest) -> None:
    """Raise OutputError if `out` contains the same name and version with other content."""
    try:
        old = read_json(out / "manifest.json", FrozenManifest)
    except OmibenchError:  # missing or unusable
        return
    if (old.name, old.version) != (manifest.name, manifest.version):
        return
    if (old.questions_sha256, old.answers_sha256) != (
        manifest.questions_sha256,
        manifest.answers_sha256,
    ):
        raise OutputError(
            f"{out}: contains {old.name} {old.version} with other content (questions "
            f"{old.questions_sha256[:12]}, answers {old.answers_sha256[:12]}); raise "
            "`freeze.version`, use another folder, or delete this one if it is unpublished"
        )


class _DatasetIdentity(NamedTuple):
    """Return the name of a dataset, its judgements by simulated models and people, and its
    originals.
    """

    name: str
    version: str
    simulated: dict[str, int] = {}
    originals: tuple[OriginalRow, ...] = ()
    review: ReviewCounts | None = None
    corrected: dict[str, list[str]] = {}


def _read_dataset(
    study: FreezeStageParams, problems: Path | None, scratch: Path
) -> tuple[Dataset, _DatasetIdentity]:
    if study.benchmark.name == "papers":
        return _read_papers(study, problems)
    identity = _DatasetIdentity(study.freeze.name, study.freeze.version)
    from omibench.datasets.registry import load_benchmark

    dataset = load_benchmark(study.benchmark, study.data, scratch)
    if study.benchmark.name != "frozen":
        return dataset, identity
    from omibench.datasets.frozen import read_manifest

    identity = _identify_release(study.freeze, read_manifest(dataset.folder))
    return dataset, identity._replace(originals=tuple(read_originals(dataset.folder)))


def _identify_release(params: FreezeParams, release: FrozenManifest) -> _DatasetIdentity:
    """Return name and version of a release, unless the study overrides them."""
    unnamed = FreezeParams()
    renamed, renumbered = params.name != unnamed.name, params.version != unnamed.version
    return _DatasetIdentity(
        params.name if renamed else release.name,
        params.version if renamed or renumbered else release.version,
        release.simulated,
        review=release.review,
        corrected=release.corrected,
    )


def _read_papers(
    study: FreezeStageParams, problems: Path | None
) -> tuple[Dataset, _DatasetIdentity]:
    if problems is None:
        raise MissingInputError(
            "freeze: the benchmark `papers` needs a problems.jsonl (the output of rationale)"
        )
    rows, counts = review_problems(problems, study.review)
    halves = [strip_answer(r) for r in rows], [build_answer(r) for r in rows]
    identity = _DatasetIdentity(
        study.freeze.name,
        study.freeze.version,
        count_simulated_judgements(rows),
        tuple(list_originals(rows)),
        counts,
        list_corrected(rows),
    )
    return Dataset(*halves, problems.parent), identity


def _warn_of_absent(questions: Sequence[Question], folder: Path) -> None:
    absent = {f.file: q.id for q in questions for f in q.images if not f.sha256}
    if absent:
        name, problem = next(iter(absent.items()))
        log.warning(
            "freeze: %s pictures are missing in %s, the first is %s of %s; models cannot be asked "
            "about them until you add them and run freeze again; everything else works",
            f"{len(absent):,}",
            folder,
            name,
            problem,
        )


def _make_manifest(
    identity: _DatasetIdentity,
    questions: Sequence[Question],
    answers: Sequence[Answer],
    allow_without_rationale: bool,
) -> FrozenManifest:
    sources = {question.source or "" for question in questions}
    return FrozenManifest(
        name=identity.name,
        version=identity.version,
        problems=len(questions),
        images=len({f.sha256 for question in questions for f in question.images} - {""}),
        questions_sha256=content_hash(questions),
        answers_sha256=content_hash(answers),
        subjects=dict(Counter(question.subject for question in questions)),
        licence=", ".join(sorted({q.licence for q in questions if q.licence})) or None,
        synthetic=", ".join(sorted(filter(is_made_up, sources))) or None,
        simulated=identity.simulated,
        without_rationale=sum(not answer.solution for answer in answers),
        without_rationale_allowed=allow_without_rationale,
        corrected=identity.corrected,
        review=identity.review,
    )
