"""Scripted judges and a case, as the tests of all judges need them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omibench.answers.judges.case import JudgeCase
from omibench.answers.judges.instrument import Instrument, build_prompt
from omibench.answers.judges.panel import Judge, OpenPanel
from omibench.schemas.request import Request, Response

CASE = JudgeCase("p-1", "How long is it?", ["12 cm"], "Adding up gives it. The answer is 12 cm.")


class Script:
    """A judge that replies from a list, one reply a request."""

    def __init__(self, *replies: str | Response) -> None:
        self.replies = list(replies)
        self.asked: list[Request] = []

    def __call__(self, requests: Sequence[Request]) -> list[Response]:
        self.asked += requests
        replies = [self.replies.pop(0) for _ in requests]
        return [r if isinstance(r, Response) else Response(text=r) for r in replies]


def panel(
    instrument: Instrument[object], *asks: Callable[[Sequence[Request]], list[Response]]
) -> OpenPanel:
    """A panel of judges j0, j1, ... that answer as told."""
    judges = [Judge(f"j{i}", ask, {"provider": "scripted", "id": i}) for i, ask in enumerate(asks)]
    return OpenPanel(judges, build_prompt(instrument))


def user_text(request: Request) -> str:
    """The words of the user's turn."""
    return "\n".join(
        part.text for part in request.conversation.messages[1].parts if part.kind == "text"
    )
