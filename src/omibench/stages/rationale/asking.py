"""Requests for candidates; missing replies stop the stage.

The selected candidate depends on all earlier ones, so one that a later run would get must not be
skipped. Completed replies are in the store, so that the next run requests only the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from omibench.client.ask import refuse_unanswered
from omibench.schemas.request import Request, Response
from omibench.stages.rationale.candidates import AskWithKeys


def refuse_gaps(model: str, ask: AskWithKeys) -> AskWithKeys:
    """Wrap `ask` so that it raises if a later run could get more replies.

    Permanent errors are outcomes like others.

    Args:
        model: The model, for messages.
        ask: Returns the key and the response of each request.

    Returns:
        A function like `ask` that raises ModelError if the budget is exhausted and PassingError if
        requests failed temporarily.
    """

    def ask_all(requests: Sequence[Request]) -> Sequence[tuple[str, Response]]:
        replies = ask(requests)
        pairs = zip(requests, replies, strict=True)
        gaps = [(request, reply) for request, (_, reply) in pairs if _is_gap(reply)]
        refuse_unanswered("rationale", model, len(requests), gaps)
        return replies

    return ask_all


def _is_gap(response: Response) -> bool:
    return response.outcome == "budget_stop" or response.passing
