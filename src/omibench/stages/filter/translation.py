"""Translation of problems into English by a model, used only if it passes the check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from omibench.latex import replace_formulas
from omibench.params.filtering.screens import TranslationParams
from omibench.schemas.problem import Figure, Original, Problem
from omibench.schemas.problem_warning import ProblemWarning
from omibench.schemas.rejects import FilterJudgement
from omibench.schemas.request import Response
from omibench.stages.filter.backcheck import findings
from omibench.stages.filter.judged import JudgedProblem
from omibench.stages.filter.models import Models
from omibench.stages.filter.translating import (
    Texts,
    collect_texts,
    load_instructions,
    read_translation,
    translation_request,
)

ENGLISH = "en"
TRANSLATION = "translation"
"""The name of this judgement."""
ASKS = 2
"""Requests per problem: a translation that fails its check is requested again."""
_WORD = re.compile(r"[^\W\d_]{4,}|[\u3400-\u9fff]{2,}")
_COMMAND = re.compile(r"\\[A-Za-z]+")


class _Reply(NamedTuple):
    key: str
    response: Response
    texts: Texts | None
    defects: list[str]


def translate_problems(
    problems: Sequence[Problem], params: TranslationParams, models: Models
) -> list[JudgedProblem]:
    """Return every problem, in English if it could be translated; none is rejected.

    A translated problem keeps its previous text as its `original`. If two translations fail the
    check, the problem stays unchanged, and its warnings list the losses.

    Raises:
        ModelError: A request has no answer.
        ParamsError: The prompt's file is invalid.
    """
    words, study = load_instructions(params.prompt), models.study.study.name
    foreign = [p for p in problems if p.language != ENGLISH]
    replies: dict[str, list[_Reply]] = {problem.id: [] for problem in foreign}
    for index in range(ASKS):
        waiting = [p for p in foreign if not replies[p.id] or replies[p.id][-1].defects]
        requests = [translation_request(p, words, params.max_tokens, index, study) for p in waiting]
        for problem, (key, response) in zip(
            waiting, models.ask(params.model, requests), strict=True
        ):
            replies[problem.id].append(_check_reply(problem, key, response, params))
    return [
        _judge_translation(p, replies[p.id], params.model)
        if p.id in replies
        else JudgedProblem(p, [])
        for p in problems
    ]


def _check_reply(
    problem: Problem, key: str, response: Response, params: TranslationParams
) -> _Reply:
    original = collect_texts(problem)
    if response.outcome != "answered":
        return _Reply(key, response, None, [f"the translator's reply is {response.outcome}"])
    texts = read_translation(response.text, original)
    if texts is None:
        return _Reply(key, response, None, ["the reply does not hold the sections that were asked"])
    pairs = [(original.question, texts.question)]
    pairs += [(a, b) for a, b in zip(original.choices, texts.choices, strict=True) if a and b]
    pairs += [(a, "") for a, b in zip(original.choices, texts.choices, strict=True) if a and not b]
    problems_found = [
        line
        for before, after in pairs
        for line in findings(before, after, problem.language, params.negations)
    ]
    return _Reply(key, response, texts, problems_found)


def _judge_translation(problem: Problem, replies: Sequence[_Reply], model: str) -> JudgedProblem:
    last = replies[-1]
    row = FilterJudgement(
        id=problem.id,
        judgement=TRANSLATION,
        model=model,
        role="translator",
        asked=len(replies),
        answers=["; ".join(reply.defects) or reply.response.text for reply in replies],
        keys=[reply.key for reply in replies],
        simulated=any(reply.response.simulated for reply in replies),
    )
    if last.texts is None or last.defects:
        note = ProblemWarning(TRANSLATION, f"not used, {'; '.join(last.defects)}")
        return JudgedProblem(problem.warn(note), [row])
    notes = [
        ProblemWarning(TRANSLATION, f"from {problem.language} by {model}"),
        *_warn_of_untranslated_answer(problem),
    ]
    return JudgedProblem(_apply_translation(problem, last.texts, model).warn(*notes), [row])


def _apply_translation(problem: Problem, texts: Texts, model: str) -> Problem:
    choices = [
        choice.model_copy(update={"text": text})
        for choice, text in zip(problem.choices or [], texts.choices, strict=True)
    ]
    original = Original(
        language=problem.language,
        question=problem.question,
        choices=problem.choices,
        translator=model,
    )
    return problem.model_copy(
        update={
            "question": texts.question,
            "choices": choices or None,
            "images": _translate_captions(problem, texts.question),
            "language": ENGLISH,
            "original": original,
        }
    )


def _translate_captions(problem: Problem, translation: str) -> list[Figure]:
    """Restore the captions after figure marks, as in the original."""
    return [
        figure.model_copy(update={"caption": after[1].strip()})
        if figure.caption
        and re.search(rf"\[IMAGE{i}\]\s*{re.escape(figure.caption)}", problem.question)
        and (after := re.search(rf"\[IMAGE{i}\]\s*([^\n]+)", translation))
        else figure
        for i, figure in enumerate(problem.images)
    ]


def _warn_of_untranslated_answer(problem: Problem) -> list[ProblemWarning]:
    """Return a warning if the answer of an open problem has words, which are not translated."""
    worded = [part for part in problem.answer or [] if _has_words(part)]
    if problem.choices or not worded:
        return []
    detail = f"the answer {worded[0]!r} is left in {problem.language}"
    return [ProblemWarning(TRANSLATION, detail)]


def _has_words(text: str) -> bool:
    prose = replace_formulas(text, lambda _: " ")
    return _WORD.search(_COMMAND.sub(" ", prose)) is not None


def original_language(problem: Problem) -> str:
    """Return the language of a problem's paper."""
    return problem.original.language if problem.original else problem.language
