"""The provider `parrot`: it repeats the last line of the request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from omibench.models.provider import NO_BUDGET, BaseProvider, Budget
from omibench.models.registry import provider
from omibench.params.models.base import ModelBlock
from omibench.params.roles import Display
from omibench.schemas.request import Request, Response, Usage


class ParrotModel(ModelBlock):
    """The model block, such as `models: {polly: {provider: parrot, shout: true}}`."""

    is_free: ClassVar[bool] = True
    """It runs here and costs nothing: it needs no price under a budget."""

    provider: Literal["parrot"]
    shout: bool = False
    """Whether it answers in capitals; part of the keys of its responses."""
    cage: Display[str] = "gold"
    """A note for readers; it changes neither keys nor answers."""


@provider("parrot", block=ParrotModel)
class ParrotProvider(BaseProvider[ParrotModel]):
    """Accept any environment: it needs neither a key nor a network."""

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Answer each request with its last line."""
        for request in requests:
            text = request.conversation.text.strip().rpartition("\n")[2]
            reply = text.upper() if self.model.shout else text
            yield request, Response(text=reply, finish_reason="stop", usage=Usage())
