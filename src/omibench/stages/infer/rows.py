"""Row of a task: its answer, the cost of all steps, and the failed helper, if any."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from omibench.schemas.tables import ResponseRow
from omibench.settings.rounds import AnsweredTask

Number = TypeVar("Number", int, float)
READER = "perceiver"
"""The role of a model that reads the pictures before the answer."""


def make_row(answered: AnsweredTask) -> ResponseRow:
    """Return the row of a task.

    Tokens, dollars and seconds cover all requests to the last model. If a task ended because a
    helper failed, the row has the helper's outcome but not its text: a caption is not an answer.
    """
    last = answered.last
    response, role = last.response, last.request.tags.role
    helper, outcome, error = role != "respondent", response.outcome, response.error
    if helper:
        error = f"the {role} {last.model}: {outcome}" + (f": {error}" if error else "")
    if outcome == "answered" and response.calls and not response.text.strip():
        outcome = "empty"  # a tool loop that ends in calls
    responses = [a.response for step in answered.steps for a in step if a.model == last.model]
    return ResponseRow(
        id=last.request.tags.problem,
        index=answered.task.sample,
        key=last.key,
        steps=[a.key for step in answered.steps for a in step if a.key != last.key],
        drawn=[] if helper else [picture.sha256 for picture in response.drawn],
        outcome=outcome,
        text="" if helper else response.text,
        reasoning=None if helper else response.reasoning,
        finish_reason=response.finish_reason,
        input_tokens=_add_up(r.usage.input_tokens for r in responses),
        output_tokens=_add_up(r.usage.output_tokens for r in responses),
        reasoning_tokens=_add_up(r.usage.reasoning_tokens for r in responses),
        cost_usd=_add_up(r.cost_usd for r in responses),
        latency_s=_add_up(r.latency_s for r in responses),
        simulated=any(a.response.simulated for step in answered.steps for a in step),
        published_verdict=response.published_verdict,
        served_model=response.served_model,
        error=error,
        readings=list_readings(answered),
    )


def list_readings(answered: AnsweredTask) -> list[str] | None:
    """Return the reading of the pictures before the answer.

    Args:
        answered: A finished task.

    Returns:
        The printed text and, if figures are described, the description; None without a complete
        reading.
    """
    readings = [a for a in answered.steps[0] if a.request.tags.role == READER]
    if not readings or any(a.response.outcome != "answered" for a in readings):
        return None
    return [a.response.text for a in readings]


def _add_up(values: Iterable[Number | None]) -> Number | None:
    """Return the sum over all steps, or None if any is missing."""
    amounts = list(values)
    return None if None in amounts else sum(v for v in amounts if v is not None)
