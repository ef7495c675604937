"""What earlier responses of a model teach about the next ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from omibench.cost.families import ImageFormula
from omibench.cost.tokens import estimate_input
from omibench.schemas.request import Request, Response

Answered = tuple[Request, Response]


class History(NamedTuple):
    """Means over `responses` answers: None where no provider counted.

    `input_factor` is the input tokens that were counted over those that the rules expect.
    """

    responses: int = 0
    output_tokens: float | None = None
    latency_s: float | None = None
    input_factor: float | None = None


NO_HISTORY = History()


def learn(calls: Iterable[Sequence[Answered]], formula: ImageFormula) -> History:
    """Learn from calls, each the samples of one conversation that were asked for together."""
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
