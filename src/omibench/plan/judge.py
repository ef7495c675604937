"""What a cell asks of the study's judge: one judgement of every response that says something."""

from __future__ import annotations

from omibench.cost.estimate import EXPECTED_SHARE, estimate
from omibench.models.calls import calls_of
from omibench.plan.desk import Desk, without_answer
from omibench.plan.rows import Row, facts_of
from omibench.request import Request
from omibench.score.judge import ASKS, RESPONSE_CHARS, JudgeItem, request_for
from omibench.study import Cell

CHARACTERS_PER_TOKEN = 4
_FILLER = "word "


def judge_row(desk: Desk, cell: Cell, asked: Row) -> Row:
    """What judging a cell asks at most: responses that are not there yet count as answered.

    Judgements of stored responses are the very requests that scoring will make; of the others only
    the length of the response is guessed. At most, every judgement is asked twice.
    """
    name = str(desk.study.score.judge)
    partition, model = desk.partition(name), desk.study.models[name]
    exact, guessed = _judgements(desk, cell, asked)
    held = [request for request in exact if partition.key(request) in partition]
    missing = [r for r in exact if partition.key(r) not in partition] + guessed
    history = desk.history(name, exact)
    found = estimate(model, calls_of(desk.provider(name), missing), history)
    most = None if found.usd_most is None else found.usd_most * ASKS
    return Row(
        role="judge",
        model=name,
        cell_model=cell.model,
        setting=cell.setting,
        requests=len(exact) + len(guessed),
        stored=len(held),
        to_buy=len(missing),
        estimate=found._replace(usd_most=most, output_most=found.output_most * ASKS),
        learned_from=history.responses,
        **facts_of(model, desk.provider(name).simulated),
    )


def _judgements(desk: Desk, cell: Cell, asked: Row) -> tuple[list[Request], list[Request]]:
    """Requests about responses that the store holds, and about those that it lacks."""
    partition = desk.partition(cell.model)
    exact, guessed = [], []
    for request in desk.requests(cell):
        response = partition.get(partition.key(request))
        if response is None:
            expected = asked.estimate.output / max(1, asked.to_buy)
            expected = expected or EXPECTED_SHARE * request.decoding.max_tokens
            chars = min(RESPONSE_CHARS, int(expected) * CHARACTERS_PER_TOKEN)
            guessed.append(_judgement(desk, request, (_FILLER * (chars // 5 + 1))[:chars]))
        elif not without_answer(response):
            exact.append(_judgement(desk, request, response.text))
    return exact, guessed


def _judgement(desk: Desk, request: Request, text: str) -> Request:
    problem = request.tags.problem
    question, answer = desk.asked[problem], desk.answers.get(problem)
    gold = answer.answer if answer else [""]
    choices = answer.choices if answer else question.choices
    return request_for(JudgeItem(problem, question.question, gold, text, choices))
