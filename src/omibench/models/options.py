"""Scoring options: log P of each as what comes next, in place of an answer in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from omibench.errors import ModelError
from omibench.models.http.replies import Json, as_object, as_objects, as_text, number
from omibench.schemas.request import Conversation, Request, Response, TextPart

MOST_LISTED = 20
"""Alternatives of one token that endpoints list at most."""
IMPOSSIBLE = -9999.0
"""What endpoints write in place of a log-probability for what they do not let come next."""


class OptionScores(NamedTuple):
    """Log-probabilities (nats) of a request's options as the next token."""

    request: Request
    logprobs: dict[str, float]


def split_scoring(requests: Iterable[Request]) -> tuple[list[Request], list[Request]]:
    """The requests that score options, and those that generate."""
    scoring: list[Request] = []
    generating: list[Request] = []
    for request in requests:
        (scoring if request.options else generating).append(request)
    return scoring, generating


def refuse_options(requests: Iterable[Request], name: str, remedy: str) -> None:
    """Raise ModelError when one of the requests scores options, which the model cannot do."""
    for request in requests:
        if request.options:
            raise ModelError(
                f"problem {request.tags.problem!r}: model {name!r} gives no log-probabilities of "
                f"options: {remedy}"
            )


def is_continued(conversation: Conversation) -> bool:
    """Whether a conversation ends inside a turn of the assistant, which the model goes on with."""
    return conversation.messages[-1].role == "assistant"


def trim_end(conversation: Conversation) -> Conversation:
    """The conversation without spaces at the end of a turn that the model goes on with.

    In most vocabularies a letter's token holds the space before it.
    """
    *before, last = conversation.messages
    part = last.parts[-1] if is_continued(conversation) and last.parts else None
    if not isinstance(part, TextPart) or part.text == part.text.rstrip(" "):
        return conversation
    trimmed = part.model_copy(update={"text": part.text.rstrip(" ")})
    turn = last.model_copy(update={"parts": (*last.parts[:-1], trimmed)})
    return conversation.model_copy(update={"messages": (*before, turn)})


def refuse_continued(requests: Iterable[Request], name: str, remedy: str) -> None:
    """Raise ModelError when one of the requests asks the model to go on with a turn of its own."""
    for request in requests:
        if is_continued(request.conversation):
            raise ModelError(
                f"problem {request.tags.problem!r}: model {name!r} cannot be asked for a letter "
                f"inside a response: {remedy}"
            )


def make_scored_response(logprobs: Mapping[str, float], *, simulated: bool = False) -> Response:
    """The response that holds the options' log-probabilities (nats); its text is the likeliest."""
    best = max(logprobs, key=lambda option: logprobs[option])
    return Response(
        text=best,
        finish_reason="scored",
        option_logprobs=dict(logprobs),
        logprob=logprobs[best],
        simulated=simulated,
        cost_usd=0.0 if simulated else None,
    )


def score_from_list(response: Response, reply: object, options: Sequence[str]) -> Response:
    """A chat completion of one token, read for the options among its listed alternatives.

    Spellings that differ in white space add up. An option that is not among the alternatives has
    no log-probability; without any, the request failed.
    """
    choices = as_objects(as_object(reply).get("choices"))
    content = as_objects(as_object(choices[0].get("logprobs")).get("content")) if choices else []
    listed = as_objects(content[0].get("top_logprobs")) if content else []
    logprobs = {option: value for option in options if (value := _sum(listed, option)) is not None}
    if not logprobs:
        reason = "lists none of the options" if listed else "holds no log-probabilities"
        failed = f"the endpoint's reply {reason}: it cannot score options"
        return response.model_copy(
            update={"text": "", "outcome": "provider_error", "error": failed, "passing": False}
        )
    words = make_scored_response(logprobs)
    fields = {
        "text": words.text, "outcome": words.outcome, "finish_reason": words.finish_reason,
        "option_logprobs": words.option_logprobs, "logprob": words.logprob,
    }  # fmt: skip
    return response.model_copy(update=fields)


def _sum(listed: Sequence[Json], option: str) -> float | None:
    values = [number(row.get("logprob")) for row in listed if _is(row, option)]
    logprobs = [min(0.0, v) for v in values if v is not None and v > IMPOSSIBLE]
    if not logprobs:
        return None
    top = max(logprobs)
    return top + math.log(sum(math.exp(value - top) for value in logprobs))


def _is(row: Json, option: str) -> bool:
    return as_text(row.get("token")).strip() == option
