"""Tasks on responses of models: steps, ratings, and sources of disagreements."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import JsonValue

from omibench.answers.judges.taxonomies import NO_ANSWER, load_taxonomy
from omibench.errors import MissingInputError
from omibench.params.stages.analyze import PeopleSubset
from omibench.results.attributes import describe_items
from omibench.results.judgements import RESPONSE, side_by_side
from omibench.results.load import JUDGE_RULES, Results, load_results
from omibench.results.study_files import StudyFiles
from omibench.review.contents import Content
from omibench.review.tasks.drafts import TaskDetails, TaskDraft, draft_task
from omibench.review.tasks.problems import list_picture_files
from omibench.review.tasks.request import TaskRequest
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import READABLE
from omibench.schemas.review import ReviewedResponse
from omibench.schemas.verdict import NO_ERROR
from omibench.stages.analyze.people import draw_items
from omibench.stages.certify.sampling import LabelDraw, draw_disagreements, draw_responses
from omibench.text.pieces import split_steps
from omibench.text.visible import drop_hidden_text


@dataclass(frozen=True)
class DatasetHalves:
    """The frozen questions and answers by id, and the folder of their pictures."""

    questions: Mapping[str, Question]
    answers: Mapping[str, Answer]
    folder: Path


@dataclass(frozen=True)
class ShownResponse:
    """A response for review.

    Attributes:
        model: The model.
        setting: The setting.
        id: The problem.
        index: The sample.
        text: The full text.
        simulated: Whether a simulated model gave it.
        facts: Facts shown next to it, such as the extracted answer.
    """

    model: str
    setting: str
    id: str
    index: int
    text: str
    simulated: bool = False
    facts: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        """`MODEL/SETTING/ID#INDEX`."""
        return f"{self.model}/{self.setting}/{self.id}#{self.index}"

    def rank(self, seed: int) -> bytes:
        """Its rank in a draw, which depends only on the seed and the response."""
        return hashlib.sha256(f"{seed}\0{self.name}".encode()).digest()


def draft_steps(
    responses: Iterable[ShownResponse], data: DatasetHalves, types: Mapping[str, str]
) -> list[TaskDraft]:
    """Make a task for the steps of each response (OMIBench, B.2 and F.2.1).

    Args:
        responses: Responses judged wrong.
        data: Their problems.
        types: Types of errors with their definitions.
    """
    options: list[JsonValue] = [
        {"value": name, "title": name.replace("_", " ").capitalize(), "help": meaning}
        for name, meaning in types.items()
    ]
    return [
        _draft("steps", response, data, {
            "steps": list(split_steps(drop_hidden_text(response.text))),
            "error_types": options,
        })
        for response in responses
    ]  # fmt: skip


def draft_ratings(responses: Iterable[ShownResponse], data: DatasetHalves) -> list[TaskDraft]:
    """Make a task for rating each response, without showing any verdict (OMIBench, J)."""
    return [_draft("rating", response, data, _show(response)) for response in responses]


def draft_disagreement_tasks(
    responses: Iterable[ShownResponse], data: DatasetHalves
) -> list[TaskDraft]:
    """Make a task for each response on which scorer and judge disagree (OMIBench, C.3)."""
    return [_draft("disagreement", response, data, _show(response)) for response in responses]


def _show(response: ShownResponse) -> Content:
    return {"response": drop_hidden_text(response.text)}


def _draft(kind: str, response: ShownResponse, data: DatasetHalves, parts: Content) -> TaskDraft:
    question, answer = data.questions[response.id], data.answers[response.id]
    content: dict[str, Any] = {
        "question": question.question,
        "choices": [choice.model_dump(mode="json") for choice in question.choices or []],
        "answer": list(answer.answer),
        "solution": answer.solution or "",
        "facts": dict(response.facts or {}),
    }
    sha256 = hashlib.sha256(response.text.encode("utf-8", "surrogatepass")).hexdigest()
    details = TaskDetails(
        {
            "subject": question.subject,
            "type": question.answer_type,
            "model": response.model,
            "setting": response.setting,
        },
        simulated=response.simulated,
        response=ReviewedResponse(
            model=response.model,
            setting=response.setting,
            id=response.id,
            index=response.index,
            sha256=sha256,
        ),
    )
    pictures = list_picture_files(question, data.folder)
    return draft_task(kind, response.name, content | parts, pictures, details)


# Problems for people to solve: the human baseline (OMIBench, K).


def draft_baselines(
    questions: Iterable[Question],
    folder: Path,
    scored: Collection[str],
    familiarisation: Collection[str] = (),
) -> list[TaskDraft]:
    """Make a task for each problem of the baseline, without gold answers.

    Args:
        questions: The frozen questions.
        folder: The base folder of image paths.
        scored: Ids of the problems that count, in the order to solve them.
        familiarisation: Ids of the practice problems, which come first and do not count.

    Returns:
        The tasks in the order to solve them.
    """
    by_id = {question.id: question for question in questions}
    return [
        *(_draft_baseline(by_id[name], folder, is_first=True) for name in familiarisation),
        *(_draft_baseline(by_id[name], folder, is_first=False) for name in scored),
    ]


def _draft_baseline(question: Question, folder: Path, *, is_first: bool) -> TaskDraft:
    return draft_task(
        "baseline",
        question.id,
        {
            "question": question.question,
            "choices": [choice.model_dump(mode="json") for choice in question.choices or []],
        },
        list_picture_files(question, folder),
        TaskDetails(
            {"subject": question.subject, "type": question.answer_type},
            purpose="familiarisation" if is_first else "work",
        ),
    )


# Tasks on the responses of a study, and on its frozen problems, from the files of its stages.


def draft_study_baseline(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of the human baseline; `analyze.people_subset` draws the problems.

    Raises:
        MissingInputError: The dataset is not frozen.
        ParamsError: The dataset has too few problems, or lacks the attribute for the draw.
    """
    data = _read_data(request)
    subset = request.study.analyze.people_subset or PeopleSubset()
    items = describe_items(data.answers.values(), data.questions)
    scored, first = draw_items(items, subset, request.study.study.seed)
    return draft_baselines(data.questions.values(), data.folder, scored, first)


def draft_study_ratings(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of responses to rate, drawn as by `certify --draw` (OMIBench, J)."""
    data = _read_data(request)
    drawing = LabelDraw(request.per_model, request.models, request.settings)
    ids = data.questions.keys() & data.answers.keys()
    rows = draw_responses(StudyFiles(request.results), request.study, drawing, ids)
    shown = [
        ShownResponse(r["model"], r["setting"], r["id"], r["index"], r["text"], r["simulated"])
        for r in rows
    ]
    return draft_ratings(_require(shown, request), data)


def draft_study_steps(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of responses judged wrong, drawn per model by seed (B.2, F.2.1).

    A response is wrong by `judge.wrong_by`, else by the judge of scores, else by the main scorer.
    """
    results = _load(request)
    rules = request.study.judge.wrong_by or (
        JUDGE_RULES if JUDGE_RULES in results.rules else results.main_rules
    )
    shown = _draw_wrong(results, rules, request)
    errors = request.study.judge.errors
    taxonomy = load_taxonomy(errors.taxonomy if errors else "omibench")
    types = {n: m for n, m in taxonomy.types.items() if n not in (NO_ANSWER, NO_ERROR)}
    return draft_steps(_require(shown, request), _read_data(request), types)


def draft_study_disagreements(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of the responses on which scorer and judge disagree, as `certify` draws them.

    Raises:
        MissingInputError: The scores contain no judge's verdict, or no disagreement.
    """
    results = _load(request)
    if JUDGE_RULES not in results.rules:
        raise MissingInputError(
            f"{request.results / 'score'}: no judge's verdicts found; set `score.judge` and score "
            "again"
        )
    main = results.main_rules
    rules = main if main != JUDGE_RULES else results.study.score.scorers[0]
    rows = side_by_side(results, rules).filter(_choose_cells(request))
    simulated = results.simulated_cells
    shown = [
        ShownResponse(
            row.model,
            row.setting,
            row.id,
            row.index,
            row.response,
            simulated[next(c for c in simulated if c == (row.model, row.setting))],
            {
                "extracted answer": row.extracted or "none",
                "scorer says": "right" if row.disagreement == "rules_only" else "wrong",
                "judge says": "right" if row.disagreement == "judge_only" else "wrong",
            },
        )
        for row in draw_disagreements(results, rows, request.per_model)
    ]
    return draft_disagreement_tasks(_require(shown, request), _read_data(request))


def _read_data(request: TaskRequest) -> DatasetHalves:
    files = StudyFiles(request.results)
    return DatasetHalves(files.questions, files.answers, files.locate("freeze"))


def _load(request: TaskRequest) -> Results:
    folder = request.results
    return load_results(folder / "freeze", folder / "infer", folder / "score", request.study)


def _choose_cells(request: TaskRequest) -> pl.Expr:
    chosen = pl.lit(value=True)
    if request.models is not None:
        chosen &= pl.col("model").is_in(list(request.models))
    if request.settings is not None:
        chosen &= pl.col("setting").is_in(list(request.settings))
    return chosen


def _draw_wrong(results: Results, rules: str, request: TaskRequest) -> list[ShownResponse]:
    """Return the wrong responses of each model: those with a task, then others by rank."""
    # If the verdict is the share of correct parts, only 0 counts as wrong.
    is_wrong = pl.when(pl.col("strict").is_null()).then(pl.col("verdict") < 1)
    verdicts = results.select_verdicts(rules).filter(
        pl.col("outcome") == "scored",
        is_wrong.otherwise(pl.col("verdict") == 0),
        _choose_cells(request),
    )
    texts = results.read_responses().filter(
        pl.col("outcome").is_in(READABLE), pl.col("text").str.strip_chars() != ""
    )
    rows = verdicts.select(*RESPONSE, "extracted").join(
        texts.select(*RESPONSE, "text", "simulated"), on=RESPONSE, maintain_order="left"
    )
    return list(_take_of_each_model(rows, request))


def _take_of_each_model(rows: pl.DataFrame, request: TaskRequest) -> Iterator[ShownResponse]:
    present = request.list_present_subjects()
    by_model: dict[str, list[ShownResponse]] = {}
    for row in rows.iter_rows(named=True):
        facts = {"extracted answer": row["extracted"] or "none"}
        response = ShownResponse(
            row["model"], row["setting"], row["id"], row["index"], row["text"], row["simulated"],
            facts,
        )  # fmt: skip
        by_model.setdefault(response.model, []).append(response)
    for responses in by_model.values():
        ranked = sorted(responses, key=lambda r: r.rank(request.draw_seed))
        drawn = {r.name for r in ranked[: request.per_model]} | present
        yield from (response for response in responses if response.name in drawn)


def _require(shown: list[ShownResponse], request: TaskRequest) -> list[ShownResponse]:
    if not shown:
        raise MissingInputError(
            f"{request.results}: no responses for {request.kind!r} tasks of these models and "
            "settings"
        )
    names = request.choose(response.name for response in shown)
    return [response for response in shown if response.name in names]
