"""What a cell asks of judges: those of scoring, and those of its reasoning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from omibench.cost.estimate import EXPECTED_SHARE, estimate
from omibench.judge.instruments import REASONING, instrument_of
from omibench.judge.material import case_of
from omibench.models.calls import calls_of
from omibench.params.judge import JudgePanel
from omibench.plan.desk import Desk, filler, without_answer
from omibench.plan.rows import Row, facts_of
from omibench.problem import Answer
from omibench.request import Request
from omibench.score import mathreal
from omibench.score.asking import INSTRUMENTS
from omibench.score.judges.case import RESPONSE_CHARS, Case
from omibench.score.judges.extraction import EXTRACTION
from omibench.score.judges.gptscore import GPTSCORE
from omibench.score.judges.instrument import Instrument, prompt_of, request_for
from omibench.score.judges.panel import ASKS
from omibench.study import Cell
from omibench.verdict import ScoredItem


class _Response(NamedTuple):
    """One response of the cell, as it is or as long as it is expected to be."""

    request: Request
    text: str
    stored: bool


def judge_rows(desk: Desk, cell: Cell, asked: Row) -> Iterator[Row]:
    """What judging a cell asks at most, one row a judge and instrument.

    Responses that are not there yet count as answered, wrong and without a box. Judgements of
    stored responses are the very requests that will be made, save where they wait for another
    judge's reply (grades of extracted answers) or for verdicts (types of errors). At most, every
    judgement is asked twice.
    """
    responses = list(_responses(desk, cell, asked))
    study = desk.study
    for name, panel in study.panels("score").items():
        yield from _rows(desk, cell, INSTRUMENTS[name], panel, responses)
    if cell in study.judged_cells:
        for name, panel in study.panels("judge").items():
            yield from _rows(desk, cell, instrument_of(name, study.judge), panel, responses)


def _rows(
    desk: Desk,
    cell: Cell,
    instrument: Instrument[Any],
    panel: JudgePanel,
    responses: Sequence[_Response],
) -> Iterator[Row]:
    prompt = prompt_of(instrument, panel.prompt)
    requests = [
        request_for(case, instrument, prompt, 0, panel.max_tokens)
        for response in responses
        if (case := _case(desk, response, instrument.name)) is not None
    ]
    for name in panel.models:
        yield _row(desk, cell, name, requests)


def _row(desk: Desk, cell: Cell, name: str, requests: Sequence[Request]) -> Row:
    partition, model = desk.partition(name), desk.study.models[name]
    missing = [r for r in requests if partition.key(r) not in partition]
    history = desk.history(name, requests)
    found = estimate(model, calls_of(desk.provider(name), missing), history)
    most = None if found.usd_most is None else found.usd_most * ASKS
    return Row(
        role="judge",
        model=name,
        cell_model=cell.model,
        setting=cell.setting,
        requests=len(requests),
        stored=len(requests) - len(missing),
        to_buy=len(missing),
        estimate=found._replace(usd_most=most, output_most=found.output_most * ASKS),
        learned_from=history.responses,
        **facts_of(model, desk.provider(name).simulated),
    )


def _responses(desk: Desk, cell: Cell, asked: Row) -> Iterator[_Response]:
    """What a judge could read; for a response that is not there yet, words of its length."""
    partition = desk.partition(cell.model)
    for request in desk.requests(cell):
        if request.tags.role != "respondent":
            continue  # a helper that gave nothing has ended this thread
        response = partition.get(partition.key(request))
        if response is None:
            expected = asked.estimate.output / max(1, asked.to_buy)
            expected = expected or EXPECTED_SHARE * request.decoding.max_tokens
            yield _Response(request, filler(int(expected))[:RESPONSE_CHARS], stored=False)
        elif not without_answer(response):
            yield _Response(request, response.text, stored=True)


def _case(desk: Desk, response: _Response, instrument: str) -> Case | None:
    """The case as the judge will see it; None where that judge is not asked about it."""
    problem = response.request.tags.problem
    question = desk.asked[problem]
    answer = desk.answers.get(problem) or Answer(
        id=problem, answer=[""], answer_type=question.answer_type, choices=question.choices
    )
    if instrument in REASONING:
        images = desk.study.judge.images
        case = case_of(question, answer, response.text, desk.questions.parent, images)
        return None if instrument == "alignment" and not case.reference else case
    case = Case(problem, question.question, answer.answer, response.text, answer.choices)
    if instrument == GPTSCORE.name:
        return case
    if not response.stored:
        return case._replace(answer=response.text)
    alone = mathreal.score(
        ScoredItem(
            id=problem,
            prediction=response.text,
            gold=answer.answer,
            answer_type=answer.answer_type,
            choices=answer.choices,
        )
    )
    extracts = instrument == EXTRACTION.name
    if alone.outcome != "unjudged" or (extracts and alone.extracted is not None):
        return None
    return case if extracts else case._replace(answer=alone.extracted or response.text)
