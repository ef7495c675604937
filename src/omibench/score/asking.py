"""The judge of a study, ready to be asked through the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from omibench.ask import open_asker
from omibench.errors import ModelError
from omibench.request import Request
from omibench.score.judge import Ask
from omibench.store.key import request_key
from omibench.study import Study


class Judge(NamedTuple):
    """A judge model: its name in the study, how to ask it, and what keys its replies."""

    name: str
    ask: Ask
    identity: dict[str, object]

    def key(self, request: Request) -> str:
        """The key under which the store holds the reply to a request."""
        return request_key(self.identity, request)


@contextmanager
def open_judge(study: Study) -> Iterator[Judge]:
    """Open the model that `score.judge` names, with the study's store.

    Raises ModelError when the study names no judge or no such model.
    """
    name = study.score.judge
    if name is None or name not in study.models:
        raise ModelError(f"score.judge: {name!r} is no model of the params; name a key of `models`")
    with open_asker(study, name) as asker:
        yield Judge(name, asker, dict(asker.provider.identity))
