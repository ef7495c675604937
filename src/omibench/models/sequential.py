"""The simplest base of a provider: one request at a time, within the budget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from omibench.models.api.replies import compute_cost
from omibench.models.provider import NO_BUDGET, B, BaseProvider, Budget
from omibench.params.models.base import ServedModel
from omibench.schemas.request import Request, Response


class SequentialProvider(BaseProvider[B]):
    """A provider that answers one request at a time: subclasses implement only `respond`."""

    @abstractmethod
    def respond(self, request: Request) -> Response:
        """Query the model once.

        Args:
            request: The request; `Request.conversation` contains its texts and pictures.

        Returns:
            The response. Without `cost_usd`, its cost is that of the tokens in `usage` at the
            block's price; without tokens, the worst case stays charged. A failure is an outcome
            (`provider_error`), not an exception.

        Raises:
            ModelError: The model cannot be queried at all, so no further request is sent.
        """

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """See `Provider.answer`."""
        stopped = False
        for request in requests:
            reservation = None if stopped else budget.reserve([request])
            if reservation is None:
                stopped = True
                yield request, Response(text="", outcome="budget_stop")
                continue
            response = None
            try:
                response = self._add_cost(self.respond(request))
            finally:
                # An attempt that raised may have been billed.
                cost = None if response is None else response.cost_usd
                budget.settle(reservation, cost, None if response else "the provider failed")
            yield request, response

    def _add_cost(self, response: Response) -> Response:
        price = self.model.price if isinstance(self.model, ServedModel) else None
        if response.cost_usd is not None or price is None:
            return response
        return response.model_copy(update={"cost_usd": compute_cost(price, response.usage)})
