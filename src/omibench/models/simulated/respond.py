"""A simulated respondent: whether it is right (item-response theory), and its text."""

from __future__ import annotations

import re
from math import sqrt
from random import Random
from statistics import NormalDist
from typing import Literal, NamedTuple

from omibench.models.simulated import prose
from omibench.models.simulated.oracle import Oracle, OracleRow
from omibench.models.simulated.wrong_answers import moved_number, wrong_letters, wrong_parts
from omibench.params.models.simulated import SimulatedModel, Slips
from omibench.schemas.request import Response, Usage
from omibench.synthetic.chance import chance

Slip = Literal[
    "no_box", "letter_in_sentence", "units", "two_boxes", "refusal", "truncation", "repetition"
]
SLIPS: tuple[Slip, ...] = (
    "no_box", "letter_in_sentence", "units", "two_boxes", "refusal", "truncation", "repetition",
)  # fmt: skip
CHARACTERS_PER_TOKEN = 4
_NORMAL = NormalDist()
_SMALLEST = 2.0**-54
"""Replaces a draw of 0, whose normal quantile is infinite."""
_BARE_NUMBER = re.compile(r"\s*[-+]?\d+(?:\.\d+)?\s*")


def probability_correct(model: SimulatedModel, row: OracleRow, setting: str) -> float:
    """Return P(correct) as defined by `SimulatedModel`, without slips."""
    guess = 1 / len(row.choices) if row.choices else 0.0
    effect = 0.0 if setting in row.spared else model.setting_effects.get(setting, 0.0)
    logit = model.ability + effect - model.image_penalty * (row.n_images - 2) - row.difficulty
    return chance(logit, guess)


def draw_slip(slips: Slips, row: OracleRow, rng: Random) -> Slip | None:
    """Draw at most one slip. One that a problem cannot show (a unit on a letter) is skipped."""
    drawn, bound = rng.random(), 0.0
    for slip in SLIPS:
        bound += getattr(slips, slip)
        if drawn < bound:
            return slip if can_slip(slip, row) else None
    return None


def can_slip(slip: Slip, row: OracleRow) -> bool:
    """Return whether a problem can show a slip: letters need choices, units a bare number."""
    if slip == "letter_in_sentence":
        return bool(row.choices)
    if slip == "units":
        return not row.choices and len(row.answer) == 1 and is_bare_number(row.answer[0])
    return True


def is_bare_number(text: str) -> bool:
    """Return whether an answer is a plain decimal number."""
    return _BARE_NUMBER.fullmatch(text) is not None


class PosedProblem(NamedTuple):
    """One problem as posed: the words of the prompt and the token limit of the answer."""

    row: OracleRow
    setting: str
    prompt: str
    max_tokens: int


def is_sample_right(
    chance_right: float, lasting_share: float, lasting_draw: float, sample_draw: float
) -> bool:
    """Return whether one of several samples is right.

    The residual of the logit follows the distribution function of a standard normal variable (a
    Gaussian copula), so that the mean over models and samples is `chance_right` at any share.

    Args:
        chance_right: P(correct) of the model on the problem.
        lasting_share: Share of the normal variable's variance that all samples have in common.
        lasting_draw: The common draw, uniform in [0, 1).
        sample_draw: The draw of this sample, uniform in [0, 1).
    """
    lasting, passing = (_NORMAL.inv_cdf(max(_SMALLEST, u)) for u in (lasting_draw, sample_draw))
    residual = sqrt(lasting_share) * lasting + sqrt(1 - lasting_share) * passing
    return _NORMAL.cdf(residual) < chance_right


def respond(
    model: SimulatedModel, oracle: Oracle, problem: PosedProblem, lasting: Random, rng: Random
) -> Response:
    """Return one response of a simulated respondent.

    Args:
        model: Its block of params.
        oracle: The known answers.
        problem: The problem as posed.
        lasting: The generator of the part common to all samples of the problem.
        rng: The generator of this sample.
    """
    row, prompt, max_tokens = problem.row, problem.prompt, problem.max_tokens
    chance_right = probability_correct(model, row, problem.setting)
    right = is_sample_right(chance_right, model.lasting_share, lasting.random(), rng.random())
    slip = draw_slip(model.slips, row, rng)
    is_usual = not right and rng.random() < model.usual_mistake
    answer = answer_text(row, right, oracle, lasting if is_usual else rng)
    style = prose.read_style(prompt)
    body = "" if style.brief else prose.reasoning(row.n_images, rng)
    if slip == "refusal":
        return _refusal(prompt, rng)
    if slip == "repetition":
        return _finish(f"{body}\n\n{prose.repetition(rng)}".strip(), "stop", prompt, max_tokens)
    if slip == "truncation":
        body = body or prose.reasoning(row.n_images, rng)
        return _finish(_cut(body, rng), "length", prompt, max_tokens)
    text = f"{body}\n\n{_ending(slip, answer, row, style, rng)}".strip()
    return _finish(text, "stop", prompt, max_tokens)


def answer_text(row: OracleRow, right: bool, oracle: Oracle, rng: Random) -> str:
    """Return the right answer, or a plausible wrong one, as it goes into a box."""
    parts = row.answer
    if not right and row.choices:
        parts = wrong_letters(row.answer, row.choices, rng)
    elif not right:
        parts = wrong_parts(row.answer, oracle.answers(row.subject), rng)
    return ", ".join(_without_dollars(part) for part in parts)


def _ending(slip: Slip | None, answer: str, row: OracleRow, style: prose.Style, rng: Random) -> str:
    if slip == "no_box":
        return prose.pick(prose.UNBOXED, rng).format(a=prose.plain(answer))
    if slip == "letter_in_sentence":
        return prose.pick(prose.LETTER_SENTENCES, rng).format(a=answer)
    if slip == "units":
        unit = prose.pick(prose.UNITS.get(row.subject, ("units",)), rng)
        return prose.boxed_ending(f"{answer}\\ \\text{{{unit}}}", style, rng)
    ending = prose.boxed_ending(answer, style, rng)
    if slip == "two_boxes" and style.boxed:
        first = moved_number(str(2 + int(rng.random() * 90)), rng)
        return f"{prose.pick(prose.INTERMEDIATE, rng).format(a=first)}\n\n{ending}"
    return ending


def _refusal(prompt: str, rng: Random) -> Response:
    # Some providers mark a refusal; others return it as an ordinary reply.
    marked = rng.random() < 0.5
    text = prose.pick(prose.REFUSALS, rng)
    return Response(
        text=text,
        outcome="refused" if marked else "answered",
        finish_reason="refusal" if marked else "stop",
        usage=_usage(prompt, text),
        cost_usd=0.0,
        simulated=True,
    )


def _finish(text: str, finish_reason: str, prompt: str, max_tokens: int) -> Response:
    room = max_tokens * CHARACTERS_PER_TOKEN
    if len(text) > room:
        text, finish_reason = text[:room], "length"
    return Response(
        text=text,
        outcome="truncated" if finish_reason == "length" else "answered",
        finish_reason=finish_reason,
        usage=_usage(prompt, text),
        cost_usd=0.0,
        simulated=True,
    )


def _usage(prompt: str, text: str) -> Usage:
    return Usage(
        input_tokens=len(prompt) // CHARACTERS_PER_TOKEN,
        output_tokens=len(text) // CHARACTERS_PER_TOKEN,
    )


def _cut(text: str, rng: Random) -> str:
    """Cut inside the last words, so that the text ends in mid-sentence."""
    return text[: len(text) - 5 - int(rng.random() * min(40, len(text) // 4))].rstrip(" .\n")


def _without_dollars(text: str) -> str:
    stripped = text.strip()
    inner = stripped[1:-1]
    wrapped = len(stripped) > 2 and stripped[0] == stripped[-1] == "$" and "$" not in inner
    return inner if wrapped else stripped
