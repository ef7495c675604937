"""Problems without solutions, and models whose replies are scripted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from omibench.schemas.problem import Figure, Problem
from omibench.schemas.request import Request, Response

Make = Callable[..., Problem]


class Script:
    """Replies to requests by problem and attempt, and remembers what was asked."""

    def __init__(self, replies: dict[str, list[Response | str]]) -> None:
        self.replies = replies
        self.asked: list[Request] = []

    def __call__(self, requests: Sequence[Request]) -> list[Response]:
        return [self._reply(request) for request in requests]

    def with_keys(self, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        """The same, each reply beside a key of its request's problem and number in order."""
        first = len(self.asked)
        replies = self(requests)
        return [
            (f"{request.tags.problem}/{number}", reply)
            for number, (request, reply) in enumerate(zip(requests, replies, strict=True), first)
        ]

    def _reply(self, request: Request) -> Response:
        attempt = sum(1 for r in self.asked if r.tags.problem == request.tags.problem)
        self.asked.append(request)
        reply = self.replies[request.tags.problem][attempt]
        return Response(text=reply) if isinstance(reply, str) else reply


@pytest.fixture
def make() -> Make:
    """A problem with two pictures and no solution; keywords replace its fields."""

    def made(**fields: Any) -> Problem:
        images = [
            Figure(file="images/a.png", sha256="a" * 64),
            Figure(file="images/b.png", sha256="b" * 64),
        ]
        sound: dict[str, Any] = {
            "id": "physics-1", "question": "Figure 1 [IMAGE0] and Figure 2 [IMAGE1]: how far?",
            "images": images, "subject": "physics", "source": "physics",
            "source_sha256": "0" * 64, "number": "1", "pages": [1], "answer": ["12 m"],
        }  # fmt: skip
        return Problem(**(sound | fields))

    return made


@pytest.fixture
def scripted() -> type[Script]:
    """A stand-in for `ask`: `scripted({"physics-1": [first reply, second reply]})`."""
    return Script
