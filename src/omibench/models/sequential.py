"""The shortest way to a provider: one request after another, within the budget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from omibench.models.provider import NO_BUDGET, B, BaseProvider, Budget
from omibench.schemas.request import Request, Response


class SequentialProvider(BaseProvider[B]):
    """A provider that answers one request at a time: `respond` is all that is left to write."""

    @abstractmethod
    def respond(self, request: Request) -> Response:
        """Ask the model once.

        Args:
            request: What is asked; `Request.conversation` holds the texts and pictures.

        Returns:
            What came back. `cost_usd` is what it cost; None keeps the worst case charged. A
            failure is an outcome (`provider_error`), not an exception.

        Raises:
            ModelError: The model cannot be asked at all, so that no further request is sent.
        """

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """As `Provider.answer`."""
        stopped = False
        for request in requests:
            reservation = None if stopped else budget.reserve([request])
            if reservation is None:
                stopped = True
                yield request, Response(text="", outcome="budget_stop")
                continue
            response = None
            try:
                response = self.respond(request)
            finally:
                # What an exception leaves behind may have been paid.
                cost = None if response is None else response.cost_usd
                budget.settle(reservation, cost, None if response else "the provider failed")
            yield request, response
