"""Asking for candidates: what was not bought for now stops the stage.

Which candidate is used depends on all before it: one that a later run would buy must not be passed
over. What was answered is in the store, so that the next run asks for the rest alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from omibench.errors import ModelError, PassingError
from omibench.schemas.request import Request, Response
from omibench.stages.rationale.candidates import AskWithKeys


def refuse_gaps(model: str, ask: AskWithKeys) -> AskWithKeys:
    """Ask as `ask` does, but end where a later run would get more.

    An error that no attempt can mend is an outcome like others.

    Args:
        model: Who is asked, for messages.
        ask: Gives the key and the response of each request.

    Returns:
        The same, which raises ModelError where the budget is used up and PassingError where
        requests failed in a way that may pass.
    """

    def ask_all(requests: Sequence[Request]) -> Sequence[tuple[str, Response]]:
        replies = ask(requests)
        pairs = zip(requests, replies, strict=True)
        gaps = [(request, reply) for request, (_, reply) in pairs if _is_gap(reply)]
        if gaps:
            _stop(model, len(requests), gaps)
        return replies

    return ask_all


def _is_gap(response: Response) -> bool:
    return response.outcome == "budget_stop" or response.passing


def _stop(model: str, asked: int, gaps: Sequence[tuple[Request, Response]]) -> None:
    request, response = gaps[0]
    stopped = response.outcome == "budget_stop"
    reason = "the budget is used up" if stopped else response.error or "provider error"
    remedy = "raise study.budget_usd and run again" if stopped else "run again"
    error = PassingError if any(reply.passing for _, reply in gaps) else ModelError
    raise error(
        f"rationale: {len(gaps)} of {asked} requests to {model} have no answer, the first is for "
        f"{request.tags.problem!r}: {reason}; what was answered is kept: {remedy}"
    )
