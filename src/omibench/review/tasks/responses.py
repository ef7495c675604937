"""Tasks on responses of models (steps, ratings, disagreements), and the human baseline."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import JsonValue

from omibench.answers.judges.taxonomies import NO_ANSWER, load_taxonomy
from omibench.errors import MissingInputError
from omibench.params.setting import Cell
from omibench.params.stages.analyze import PeopleSubset
from omibench.results.attributes import describe_items
from omibench.results.judgements import RESPONSE, side_by_side
from omibench.results.load import JUDGE_RULES, Results, load_results
from omibench.results.study_files import StudyFiles
from omibench.review.contents import Content
from omibench.review.sampling.strata import rank_name
from omibench.review.tasks.drafts import TaskDraft, draft_task
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


def show_text(text: str) -> Content:
    """Return the part of a response that raters see: what a reader of the model's chat sees."""
    return {"response": drop_hidden_text(text)}


def draft_responses(
    kind: str,
    responses: Iterable[ShownResponse],
    data: DatasetHalves,
    show: Callable[[str], Content] = show_text,
) -> list[TaskDraft]:
    """Make a task for each response.

    Args:
        kind: The name of the kind.
        responses: The responses.
        data: Their problems.
        show: Returns the parts of the task that are made from the text of the response.
    """
    drafts = []
    for response in responses:
        question, answer = data.questions[response.id], data.answers[response.id]
        content: dict[str, Any] = {
            **_show_question(question),
            "answer": list(answer.answer),
            "solution": answer.solution or "",
            "facts": dict(response.facts or {}),
            **show(response.text),
        }
        reviewed = ReviewedResponse(
            model=response.model,
            setting=response.setting,
            id=response.id,
            index=response.index,
            sha256=hashlib.sha256(response.text.encode("utf-8", "surrogatepass")).hexdigest(),
        )
        drafts.append(
            draft_task(
                kind,
                response.name,
                content,
                list_picture_files(question, data.folder),
                strata=_state_strata(question)
                | {"model": response.model, "setting": response.setting},
                response=reviewed,
                simulated=response.simulated,
            )
        )
    return drafts


def _show_question(question: Question) -> Content:
    choices: list[JsonValue] = [c.model_dump(mode="json") for c in question.choices or []]
    return {"question": question.question, "choices": choices}


def _state_strata(question: Question) -> dict[str, str]:
    return {"subject": question.subject, "type": question.answer_type}


# Tasks on the responses of a study, and on its frozen problems, from the files of its stages.


def draft_study_baseline(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of the human baseline (OMIBench, K); `analyze.people_subset` draws the problems.

    They have no gold answers. Those for practice come first and do not count.

    Raises:
        MissingInputError: The dataset is not frozen.
        ParamsError: The dataset has too few problems, or lacks the attribute for the draw.
    """
    data = _read_data(request)
    subset = request.study.analyze.people_subset or PeopleSubset()
    items = describe_items(data.answers.values(), data.questions)
    scored, first = draw_items(items, subset, request.study.study.seed)
    return [
        draft_task(
            "baseline",
            name,
            _show_question(data.questions[name]),
            list_picture_files(data.questions[name], data.folder),
            strata=_state_strata(data.questions[name]),
            purpose=purpose,
        )
        for names, purpose in ((first, "familiarisation"), (scored, "work"))
        for name in names
    ]


def draft_study_ratings(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of responses to rate, drawn as by `certify --draw`; without verdicts (J)."""
    data = _read_data(request)
    drawing = LabelDraw(request.per_model, request.models, request.settings)
    ids = data.questions.keys() & data.answers.keys()
    rows = draw_responses(StudyFiles(request.results), request.study, drawing, ids)
    candidates = [
        ShownResponse(r["model"], r["setting"], r["id"], r["index"], r["text"], r["simulated"])
        for r in rows
    ]
    return draft_responses("rating", _require(candidates, request), data)


def draft_study_steps(request: TaskRequest) -> list[TaskDraft]:
    """Make tasks of responses judged wrong, drawn per model by seed (B.2, F.2.1).

    A response is wrong by `judge.wrong_by`, else by the judge of scores, else by the main scorer.
    """
    results = _load(request)
    rules = request.study.judge.wrong_by or (
        JUDGE_RULES if JUDGE_RULES in results.rules else results.main_rules
    )
    errors = request.study.judge.errors
    taxonomy = load_taxonomy(errors.taxonomy if errors else "omibench")
    types: list[JsonValue] = [
        {"value": name, "title": name.replace("_", " ").capitalize(), "help": meaning}
        for name, meaning in taxonomy.types.items()
        if name not in (NO_ANSWER, NO_ERROR)
    ]

    def show_steps(text: str) -> Content:
        return {"steps": list(split_steps(drop_hidden_text(text))), "error_types": types}

    candidates = _require(_draw_wrong(results, rules, request), request)
    return draft_responses("steps", candidates, _read_data(request), show_steps)


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
    candidates = [
        ShownResponse(
            row.model,
            row.setting,
            row.id,
            row.index,
            row.response,
            results.simulated_cells[Cell(row.model, row.setting)],
            {
                "extracted answer": row.extracted or "none",
                "scorer says": "right" if row.disagreement == "rules_only" else "wrong",
                "judge says": "right" if row.disagreement == "judge_only" else "wrong",
            },
        )
        for row in draw_disagreements(results, rows, request.per_model)
    ]
    return draft_responses("disagreement", _require(candidates, request), _read_data(request))


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
    by_model: dict[str, list[ShownResponse]] = {}
    for row in rows.iter_rows(named=True):
        facts = {"extracted answer": row.pop("extracted") or "none"}
        response = ShownResponse(**row, facts=facts)
        by_model.setdefault(response.model, []).append(response)
    drawn, rank = request.list_present_subjects(), partial(rank_name, request.draw_seed)
    for responses in by_model.values():
        names = sorted((response.name for response in responses), key=rank)
        drawn |= {*names[: request.per_model]}
    return [r for responses in by_model.values() for r in responses if r.name in drawn]


def _require(candidates: Collection[ShownResponse], request: TaskRequest) -> list[ShownResponse]:
    if not candidates:
        raise MissingInputError(
            f"{request.results}: no responses for {request.kind!r} tasks of these models and "
            "settings"
        )
    names = request.choose(response.name for response in candidates)
    return [response for response in candidates if response.name in names]
