"""Option scores: log P of each option as the next token, instead of a text answer."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from omibench.errors import ModelError
from omibench.schemas.request import Conversation, Request, Response, TextPart


class OptionScores(NamedTuple):
    """Log-probabilities (nats) of a request's options as the next token."""

    request: Request
    logprobs: dict[str, float]


def split_scoring(requests: Iterable[Request]) -> tuple[list[Request], list[Request]]:
    """Split the requests into those that score options and those that generate."""
    scoring: list[Request] = []
    generating: list[Request] = []
    for request in requests:
        (scoring if request.options else generating).append(request)
    return scoring, generating


def refuse_options(requests: Iterable[Request], name: str, remedy: str) -> None:
    """Raise ModelError if a request scores options and the model does not support it."""
    for request in requests:
        if request.options:
            raise ModelError(
                f"problem {request.tags.problem!r}: model {name!r} returns no log-probabilities "
                f"of options: {remedy}"
            )


def refuse_all_but_texts(requests: Iterable[Request], name: str) -> None:
    """Raise ModelError for a request that an embedding model cannot embed: only texts."""
    for request in requests:
        if request.conversation.images or request.tags.role != "embedder":
            raise ModelError(
                f"model {name!r}: only embeds texts, but has the role {request.tags.role}; use it "
                "only as rationale.taxonomy.embedder"
            )


def is_continued(conversation: Conversation) -> bool:
    """Return whether a conversation ends inside an assistant turn that the model continues."""
    return conversation.messages[-1].role == "assistant"


def trim_end(conversation: Conversation) -> Conversation:
    """Strip the spaces at the end of a turn that the model continues.

    In most vocabularies the token of a letter includes the space before it.
    """
    *before, last = conversation.messages
    part = last.parts[-1] if is_continued(conversation) and last.parts else None
    if not isinstance(part, TextPart) or part.text == part.text.rstrip(" "):
        return conversation
    trimmed = part.model_copy(update={"text": part.text.rstrip(" ")})
    turn = last.model_copy(update={"parts": (*last.parts[:-1], trimmed)})
    return conversation.model_copy(update={"messages": (*before, turn)})


def refuse_continued(requests: Iterable[Request], name: str, remedy: str) -> None:
    """Raise ModelError if a request asks the model to continue its own turn."""
    for request in requests:
        if is_continued(request.conversation):
            raise ModelError(
                f"problem {request.tags.problem!r}: model {name!r} cannot score a letter inside a "
                f"response: {remedy}"
            )


def make_scored_response(logprobs: Mapping[str, float], *, simulated: bool = False) -> Response:
    """Build the response with the options' log-probabilities (nats); its text is the likeliest."""
    best = max(logprobs, key=lambda option: logprobs[option])
    return Response(
        text=best,
        finish_reason="scored",
        option_logprobs=dict(logprobs),
        logprob=logprobs[best],
        simulated=simulated,
        cost_usd=0.0 if simulated else None,
    )


def add_logprobs(logprobs: Collection[float]) -> float:
    """Return the logarithm of the sum of probabilities, given as logarithms (nats)."""
    top = max(logprobs)
    return top + math.log(sum(math.exp(value - top) for value in logprobs))
