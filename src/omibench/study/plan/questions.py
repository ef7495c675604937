"""The questions of a plan: the frozen ones or, before the freeze, what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from omibench.datasets.registry import load_benchmark
from omibench.errors import MissingInputError, OmibenchError
from omibench.models.cost import usd_text
from omibench.params.models.providers import SimulatedModel
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Answer, Problem, Question, strip_answer
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.filter.stage import sift
from omibench.stages.freeze.rows import (
    align_attributes,
    assign_subsets,
    build_answer,
    make_example_rows,
    write_examples,
)
from omibench.stages.freeze.stage import freeze_dataset, freeze_pictures, review_problems
from omibench.stages.ocr.waiting import list_sources
from omibench.study.plan.before_freeze import asks_before_freeze
from omibench.study.plan.build import plan_study, read_spent
from omibench.study.plan.plan import Plan, sum_dollars
from omibench.study.plan.rehearsal import is_made_up, made_up_questions
from omibench.text.terminal import count_noun

ANSWERS: Final = "answers.jsonl"
FREEZE_COMMAND: Final = "snakemake freeze_all --cores all"
SAMPLED: Final = 100
"""Most generated problems over which the cells of unread papers are estimated."""
_KNOWN_AFTER: Final = {
    "rationale": "after rationale and the review so far; not frozen yet",
    "filter": "that filter kept, an upper bound: not reviewed or frozen yet",
    "ocr": "that ocr read and the rules of filter keep, an upper bound: models and people have not "
    "judged them yet",
}
"""Stage, the latest first -> what its problems are."""


def plan_questions(
    study: Study, *, synthetic: bool = False, freeze_command: str = FREEZE_COMMAND
) -> Plan:
    """Plan a study over its frozen questions or, before the freeze, over what is known of them.

    Args:
        study: Study, or its rehearsal.
        synthetic: Whether to plan over generated questions even if the dataset is frozen.
        freeze_command: Command that freezes the dataset, for errors.

    Raises:
        MissingInputError: The dataset is not frozen, and its data are missing or unreadable.
    """
    with _open_questions(study, freeze_command, synthetic=synthetic) as (questions, over):
        if questions.is_file() or asks_before_freeze(study):
            plan = plan_study(_replace_oracles(study, questions.with_name(ANSWERS)), questions)
        else:
            plan = Plan(
                study=study.study.name, rows=[], power=None, budget=read_spent(study), frozen=False
            )
    return plan.model_copy(update={"over": over if plan.frozen else _estimate_unread(study)})


def _replace_oracles(study: Study, answers: Path) -> Study:
    """Return the study whose rehearsed models take these answers before the study has its own."""
    lacking = {
        name: model
        for name, model in study.models.items()
        if isinstance(model, SimulatedModel)
        and Path(model.oracle).is_relative_to(study.study.results)
        and not Path(model.oracle).is_file()
    }
    found = {n: m.model_copy(update={"oracle": str(answers)}) for n, m in lacking.items()}
    return study.model_copy(update={"models": study.models | found})


@contextmanager
def _open_questions(
    study: Study, freeze_command: str, *, synthetic: bool
) -> Iterator[tuple[Path, str]]:
    """Yield the file of a study's questions, and a sentence on them if they are not frozen.

    The file does not exist if no problem is known. Questions that are not frozen exist within this
    context only.

    Questions of a benchmark whose data are there are frozen in a temporary folder, so their
    requests have the keys of the run.
    """
    frozen = Path(study.study.results) / "freeze" / "questions.jsonl"
    unfrozen = f"{frozen}: the dataset is not frozen yet; run `{freeze_command}`"
    if synthetic or (not frozen.is_file() and is_made_up(study)):
        with made_up_questions(study) as (like, questions):
            over = f"Planned over generated questions like those of {like}, with small pictures"
            yield questions, over
        return
    if frozen.is_file():
        yield frozen, ""
        return
    with TemporaryDirectory(prefix="omibench-plan-") as folder:
        out = Path(folder)
        if study.benchmark.name == "papers":
            over = _freeze_problems(study, out)
            if not (over or study.ocr.sources or asks_before_freeze(study)):
                raise MissingInputError(unfrozen)
        else:
            try:
                problems = freeze_dataset(None, out, study).problems
            except OmibenchError as error:
                raise MissingInputError(*error.args, unfrozen) from None
            counted = count_noun(problems, "problem")
            over = f"Counted over the {counted} in {study.data}, not frozen yet"
        yield out / "questions.jsonl", over


def _freeze_problems(study: Study, out: Path) -> str:
    """Write the latest problems of papers as frozen ones, and say what they are; "" without any."""
    results = Path(study.study.results)
    files = {stage: results / stage / "problems.jsonl" for stage in _KNOWN_AFTER}
    stage = next((stage for stage, file in files.items() if file.is_file()), None)
    if stage is None:
        return ""
    file = files[stage]
    if stage == "rationale":
        rows, _ = review_problems(file, study.review.model_copy(update={"reviewers": 0}))
    elif stage == "ocr":
        rows, _ = sift(read_jsonl(file, Problem), file.parent, study.filter)
    else:
        rows = read_jsonl(file, Problem)
    rows = assign_subsets([row for row in rows if row.answer], study.freeze.examples)
    if not rows:
        return ""
    strip = study.freeze.metadata == "strip"
    questions = [strip_answer(row) for row in rows]
    questions = freeze_pictures(questions, file.parent, out, strip).questions
    _write(out, questions, [build_answer(row) for row in rows], study)
    return f"Counted over the {count_noun(len(rows), 'problem')} {_KNOWN_AFTER[stage]}"


def _write(out: Path, questions: list[Question], answers: list[Answer], study: Study) -> None:
    answers = align_attributes(answers)
    write_jsonl(out / "questions.jsonl", questions)
    write_jsonl(out / ANSWERS, answers)
    write_examples(out, make_example_rows(questions, answers, study.freeze.examples))


def _estimate_unread(study: Study) -> str:
    """Describe the cells of papers without a problem yet, over problems of a published shape."""
    sources = study.ocr.sources
    papers = len(list_sources(Path(sources))) if sources else 0
    cells = count_noun(len(study.cells), "cell")
    known = f"Known: {count_noun(papers, 'paper')} without a problem yet, {cells}"
    if not study.cells:
        return known
    like = study.benchmark.like
    shape = parse_study({"benchmark": {"name": "synthetic", "like": like}}, "synthetic").benchmark
    whole = study.model_copy(update={"study": study.study.model_copy(update={"limit": None})})
    with TemporaryDirectory(prefix="omibench-plan-") as folder:
        made = load_benchmark(shape, None, Path(folder))
        chosen = slice(None, None, ceil(len(made.questions) / SAMPLED))
        questions, answers = made.questions[chosen], made.answers[chosen]
        _write(made.folder, questions, answers, study)
        rehearsed = _replace_oracles(whole, made.folder / ANSWERS)
        plan = plan_study(rehearsed, made.folder / "questions.jsonl", papers=False)
    rows = [row for row in plan.rows if not row.stage]
    usd, usd_most, unknown = sum_dollars(rows)
    more = f", unknown for {', '.join(unknown)}" if unknown else ""
    return (
        f"{known}. Estimated over {len(questions)} generated problems like those of {like}, with "
        f"small pictures: {sum(row.to_buy for row in rows):,} requests of the cells, "
        f"{usd_text(usd)} expected, {usd_text(usd_most)} at most{more}"
    )
