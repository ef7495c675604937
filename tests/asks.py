"""Requests for tests: turns of texts and pictures, and the answers to them."""

from __future__ import annotations

from typing import Any

from omibench.models.provider import NO_BUDGET, Budget, Provider
from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Request,
    Response,
    Role,
    Tags,
    TextPart,
    ToolSpec,
)


def say(role: Any, *parts: str | ImagePart, **more: Any) -> Message:
    """A turn."""
    shown = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return Message(role=role, parts=shown, **more)


def talk(
    *turns: Message,
    index: int = 0,
    tools: tuple[ToolSpec, ...] = (),
    options: tuple[str, ...] = (),
    role: Role = "respondent",
    problem: str = "p1",
    setting: str = "cot",
    **decoding: Any,
) -> Request:
    """A request of some turns."""
    return Request(
        conversation=Conversation(messages=turns, tools=tools),
        decoding=Decoding(**decoding),
        index=index,
        options=options,
        tags=Tags(role=role, problem=problem, setting=setting),
    )


def extend(request: Request, *turns: Message, **more: Any) -> Request:
    """The same request after further turns; `more` replaces fields of its conversation."""
    old = request.conversation
    new = old.model_copy(update={"messages": (*old.messages, *turns), **more})
    return request.model_copy(update={"conversation": new})


def ask(*parts: str | ImagePart, system: str = "", **more: Any) -> Request:
    """A request of one user turn, after a system turn if there is one."""
    turns = (say("system", system),) if system else ()
    return talk(*turns, say("user", *parts), **more)


def answers(asked: Provider, *requests: Request, budget: Budget = NO_BUDGET) -> list[Response]:
    """The responses of a provider in the order of the requests, each of which has one."""
    pairs = list(asked.answer(requests, budget))
    found = {id(request): response for request, response in pairs}
    assert len(pairs) == len(found) == len(requests)
    return [found[id(request)] for request in requests]
