"""Token and latency statistics of a model's earlier responses, for estimates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from omibench.cost.families import ImageFormula
from omibench.cost.tokens import estimate_input
from omibench.schemas.request import Request, Response

Answered = tuple[Request, Response]


class History(NamedTuple):
    """Means over `responses` responses; None if no provider reported them.

    `input_factor` is the ratio of reported to estimated input tokens.
    """

    responses: int = 0
    output_tokens: float | None = None
    latency_s: float | None = None
    input_factor: float | None = None


NO_HISTORY = History()


def learn(calls: Iterable[Sequence[Answered]], formula: ImageFormula) -> History:
    """Compute statistics of calls, each with the samples of one conversation."""
    outputs: list[int] = []
    latencies: list[float] = []
    counted = ruled = responses = 0
    for call in calls:
        usages = [response.usage for _, response in call]
        responses += len(call)
        outputs += [u.output_tokens for u in usages if u.output_tokens is not None]
        latencies += [r.latency_s for _, r in call if r.latency_s is not None]
        inputs = [u.input_tokens for u in usages if u.input_tokens is not None]
        if call and len(inputs) == len(call):
            counted += sum(inputs)
            ruled += estimate_input(call[0][0].conversation, formula).all
    return History(
        responses=responses,
        output_tokens=fmean(outputs) if outputs else None,
        latency_s=fmean(latencies) if latencies else None,
        input_factor=counted / ruled if counted and ruled else None,
    )
