"""Stage `freeze`: reviewed problems as an immutable dataset, answers apart from questions."""

from __future__ import annotations

import hashlib
import logging
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from omibench.datasets.dataset import Dataset
from omibench.errors import (
    FileFormatError,
    MissingInputError,
    OmibenchError,
    OutputError,
    ParamsError,
)
from omibench.files.outputs import write_atomically
from omibench.files.pictures import PICTURE_BYTES, EncodedPicture, read_picture, strip_metadata
from omibench.files.reading import read_bytes
from omibench.models.synthetic.profiles import is_made_up
from omibench.params.review import ReviewParams
from omibench.params.stages.freeze import FreezeParams
from omibench.review.apply import Decision, apply, load_decisions, rejections, valid_decisions
from omibench.review.folder import ReviewRecord, compute_head, raise_bad_lines, read_review
from omibench.review.imports import list_wrong_decisions
from omibench.review.kinds import find_kind
from omibench.review.outcomes import ORDER, ReviewOutcome, ReviewRule, apply_decisions
from omibench.schemas.problem import Answer, Figure, OriginalRow, Problem, Question, strip_answer
from omibench.schemas.review import ReviewCounts
from omibench.schemas.tables import (
    FrozenManifest,
    content_hash,
    read_jsonl,
    read_typed_json,
    write_json,
    write_jsonl,
    write_text,
)
from omibench.schemas.validation import suggest_name
from omibench.stages.freeze.card import dataset_card, join_licences
from omibench.stages.freeze.rows import (
    align_attributes,
    assign_subsets,
    build_answer,
    check_pairs,
    count_simulated_judgements,
    list_corrected,
    list_originals,
    make_example_rows,
    read_originals,
    write_examples,
    write_originals,
)
from omibench.text.lists import list_first

if TYPE_CHECKING:
    from omibench.params.study import Study


LISTED: Final = 20
"""Maximum number of problems or tasks in a message."""
log = logging.getLogger("omibench.stages.freeze")


def review_problems(file: Path, params: ReviewParams) -> tuple[list[Problem], ReviewCounts | None]:
    """Return the problems of a file after review.

    The decisions of `review.decisions` apply first, so that tasks of `review.folder` are about
    problems with these edits.

    Args:
        file: The problems.jsonl of `rationale`.
        params: The paths of the decisions, and the required number of people.

    Returns:
        The problems in order, and the result of the review in the folder; None without a folder.

    Raises:
        MissingInputError: Problems lack reviews, or tasks are escalated or stale; they are listed.
            Also if the folder has no tasks.
        FileFormatError: A line of the review cannot be read, people contradict each other in the
            YAML file, or an edit does not fit its problem.
        ParamsError: `review.kinds` has a kind that does not apply to datasets.
    """
    problems = read_jsonl(file, Problem)
    decisions = load_decisions(params.decisions) if params.decisions else []
    if params.decisions:
        problems = apply(decisions, problems, partial(rejections, file))
    if params.folder is None:
        return problems, None
    _check_kinds(params.kinds)
    record = read_review(Path(params.folder))
    raise_bad_lines((*record.errors, *list_wrong_decisions(record)))
    _warn_of_others(record)
    rule = ReviewRule(params.reviewers, tuple(params.kinds))
    review = apply_decisions(
        problems,
        record.tasks,
        record.decisions,
        rule,
        list_reviewed(decisions, params.reviewers),
    )
    _refuse_unsettled(review, params)
    left = {problem.id for problem in review.problems}
    counts = ReviewCounts(
        reviewers=params.reviewers,
        kinds=params.kinds,
        problems=len(review.settled & left),
        dropped=len(review.dropped),
        people=len(review.people),
        simulated_people=len(review.simulated),
        unsettled=len(review.escalated) + len(review.stale),
        head=compute_head(record.decisions),
    )
    return review.problems, counts


def list_reviewed(decisions: Sequence[Decision], reviewers: int) -> set[str]:
    """Return ids of problems with enough decisions in YAML, or a senior's binding one."""
    per_problem: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        per_problem[decision.problem].append(decision)
    return {
        problem
        for problem, on_problem in per_problem.items()
        if len({decision.reviewer for decision in on_problem}) >= reviewers
        or any(decision.binding for decision in valid_decisions(on_problem))
    }


def _check_kinds(kinds: Sequence[str]) -> None:
    for kind in kinds:
        find_kind(kind)
        if kind not in ORDER:
            raise ParamsError(
                f"review.kinds: {kind!r} does not apply to datasets{suggest_name(kind, ORDER)}"
            )


def _warn_of_others(record: ReviewRecord) -> None:
    """Warn of people who decided but are not in reviewers.yaml."""
    known = {reviewer.name for reviewer in record.reviewers}
    others = sorted({decision.person for decision in record.decisions} - known)
    if others:
        log.warning(
            "freeze: decisions of people who are not in reviewers.yaml count: %s; check who they "
            "are, and keep former reviewers in the list",
            list_first(others, LISTED),
        )


def _refuse_unsettled(review: ReviewOutcome, params: ReviewParams) -> None:
    """Raise MissingInputError with one line per unsettled thing, or warn of it."""
    lines = [
        f"freeze: {len(items)} {what}: {list_first(items, LISTED)}; {advice}"
        for what, items, advice in (
            (
                f"tasks are under-reviewed (review.reviewers: {params.reviewers})",
                review.lacking,
                "complete them (`omibench review assign`, `serve`; `export --live` adds decisions "
                "of a running application), or require fewer reviewers",
            ),
            (
                "tasks are escalated",
                review.escalated,
                "a senior reviewer must settle them",
            ),
            (
                "tasks were decided on content that has changed",
                review.stale,
                "make them again (`omibench review assign`) and decide them",
            ),
        )
        if items
    ]
    if params.reviewers and lines:
        raise MissingInputError(*lines)
    for line in lines:
        log.warning("%s", line)


# Pictures of a dataset: each once, named by its content, without camera metadata.

FOLDER = "images"
_NAME = re.compile(r"[0-9a-f]{64}\.[a-z0-9]+")


class FrozenPictures(NamedTuple):
    """The questions with the paths of their frozen pictures, and counts."""

    questions: list[Question]
    stripped: int
    """Distinct pictures from which metadata was removed."""
    names: frozenset[str]
    """Their files in the picture folder."""
    added: frozenset[str]
    """New files among them."""


def freeze_pictures(
    questions: Sequence[Question], folder: Path, out: Path, strip: bool = True
) -> FrozenPictures:
    """Copy the pictures of `questions` (paths relative to `folder`) to `out`/images/.

    Pictures are never re-encoded. With `strip`, metadata of cameras and programs (EXIF, XMP, IPTC,
    comments) is removed; other pictures stay byte for byte. Pictures of an earlier freeze stay
    until `drop_others`. A figure that is absent from its benchmark stays absent.

    Raises:
        MissingInputError: A picture no longer exists.
        FileFormatError: A picture does not match its SHA-256, or is not a complete picture.
    """
    (out / FOLDER).mkdir(parents=True, exist_ok=True)
    before = {file.name for file in (out / FOLDER).iterdir()}
    copies: dict[str, str] = {}
    """SHA-256 of each picture as read -> name of its copy."""

    def copy_figure(figure: Figure) -> Figure:
        if not figure.sha256:
            return figure
        if figure.sha256 not in copies:
            copies[figure.sha256] = _copy_picture(figure, folder, out / FOLDER, strip)
        name = copies[figure.sha256]
        changes = {"file": f"{FOLDER}/{name}", "sha256": name.partition(".")[0]}
        return figure.model_copy(update=changes)

    frozen = []
    for question in questions:
        try:
            images = [copy_figure(figure) for figure in question.images]
        except OmibenchError as error:
            raise type(error)(f"{question.id}: {error}") from None
        frozen.append(question.model_copy(update={"images": images}))
    names = frozenset(copies.values())
    stripped = sum(sha256 not in name for sha256, name in copies.items())
    return FrozenPictures(frozen, stripped, names, names - before)


def drop_others(out: Path, names: Collection[str]) -> None:
    """Delete the frozen pictures of `out` that are not in `names`; keep other files."""
    for file in (out / FOLDER).iterdir():
        if _NAME.fullmatch(file.name) and file.name not in names:
            file.unlink()


def take_back(out: Path, names: Iterable[str]) -> None:
    """Delete the pictures of `names`, and the folder if it is then empty."""
    for name in names:
        (out / FOLDER / name).unlink(missing_ok=True)
    with suppress(OSError):
        (out / FOLDER).rmdir()


def _copy_picture(figure: Figure, folder: Path, target: Path, strip: bool) -> str:
    """Copy the picture of a figure; return the name of the copy."""
    source = folder / figure.file
    content = read_bytes(source, PICTURE_BYTES)
    actual = hashlib.sha256(content).hexdigest()
    if actual != figure.sha256:
        raise FileFormatError(
            f"{source}: its content ({actual[:12]}) has changed since it was read "
            f"({figure.sha256[:12]}); run the previous stage again"
        )
    picture = read_picture(content, str(source))
    bare = _strip(picture, source) if strip else content
    name = f"{hashlib.sha256(bare).hexdigest()}.{picture.suffix}"
    if not _holds(target / name, bare):
        write_atomically(target / name, bare)
    return name


def _holds(target: Path, content: bytes) -> bool:
    try:
        return read_bytes(target, PICTURE_BYTES) == content
    except OmibenchError:
        return False


def _strip(picture: EncodedPicture, source: Path) -> bytes:
    try:
        return strip_metadata(picture.data, picture.form)
    except FileFormatError as error:
        raise FileFormatError(f"{source}: {error}") from None


# Stage `freeze`: an immutable dataset with answers separate from questions.


def freeze_dataset(problems: Path | None, out: Path, study: Study) -> FrozenManifest:
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
        old = read_typed_json(out / "manifest.json", FrozenManifest)
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
    study: Study, problems: Path | None, scratch: Path
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


def _read_papers(study: Study, problems: Path | None) -> tuple[Dataset, _DatasetIdentity]:
    if problems is None:
        raise MissingInputError(
            "freeze: the benchmark `papers` needs a problems.jsonl (the output of rationale)"
        )
    reviewed, counts = review_problems(problems, study.review)
    rows = assign_subsets(reviewed, study.freeze.examples)
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
            "freeze: %s pictures are missing in %s, the first is %s of %s, expected at %s; "
            "models cannot be asked about them until you add them and run freeze again; "
            "everything else works",
            f"{len(absent):,}",
            folder,
            name,
            problem,
            folder / name,
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
        licence=join_licences(q.licence for q in questions),
        synthetic=", ".join(sorted(filter(is_made_up, sources))) or None,
        simulated=identity.simulated,
        without_rationale=sum(not answer.solution for answer in answers),
        without_rationale_allowed=allow_without_rationale,
        corrected=identity.corrected,
        review=identity.review,
    )
