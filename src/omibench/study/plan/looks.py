"""What `infer.adaptive` is expected to save, by simulation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import numpy as np

from omibench.params.study import Study
from omibench.results.statistics.intervals import Floats
from omibench.results.statistics.sequential import LookPlan, hold_looks
from omibench.schemas.problem import Question
from omibench.stages.infer.looks import order_problems
from omibench.study.plan.plan import ExpectedLooks

_ABILITY: Final = (-0.85, 0.3)
"""Mean and standard deviation of abilities, with difficulties of N(0, 1): accuracies of 28 % with a
standard deviation of 6.6 points, as of the 31 models in OMIBench's table 2 (27.6 and 6.5)."""
_DISCRIMINATION: Final = 0.3
"""Standard deviation of the logarithm of items' discriminations."""
_SLOPE: Final = 1.7
"""Factor by which a logistic curve is a normal one."""
_DRAWS: Final = (10, 50)
_CELLS: Final = 1000
"""Cells simulated over all draws, within the bounds of draws."""


class SimulatedSaving(NamedTuple):
    """The share of requests that each draw sends, and the number of cells it leaves."""

    shares: list[float]
    left: list[int]


def expect_looks(study: Study, questions: Sequence[Question]) -> ExpectedLooks | None:
    """Simulate how many requests the looks of a study leave to be sent.

    Args:
        study: The study.
        questions: The problems to evaluate.

    Returns:
        The expected share; None without `infer.adaptive`.

    Raises:
        MissingExtraError: scipy is not installed.
        ParamsError: A look would add no problem.
    """
    adaptive = study.infer.adaptive
    if adaptive is None:
        return None
    order = order_problems(questions, adaptive, study.study.seed)
    plan = LookPlan(order.looks, adaptive.alpha, adaptive.spending)
    cells = study.cells
    keep = [place for place, cell in enumerate(cells) if cell.model in adaptive.keep]
    draws = min(max(_CELLS // len(cells), _DRAWS[0]), _DRAWS[1])
    saving = simulate_saving(plan, order.groups, len(cells), draws, keep)
    low, high = np.quantile(saving.shares, [0.1, 0.9]).tolist()
    return ExpectedLooks(
        share=float(np.mean(saving.shares)), low=low, high=high,
        left=float(np.mean(saving.left)), draws=draws, keep=adaptive.keep,
    )  # fmt: skip


def simulate_saving(
    plan: LookPlan, groups: Sequence[str], cells: int, draws: int, keep: Collection[int] = ()
) -> SimulatedSaving:
    """Draw verdicts of cells by a two-parameter logistic model, and hold the looks at them.

    Args:
        plan: The looks.
        groups: Cluster of each problem, in the order of asking.
        cells: Number of cells.
        draws: Number of draws; equal arguments give equal results.
        keep: Cells that are never stopped, which the shares leave out.
    """
    shares, left = [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        verdicts = draw_verdicts(rng, len(groups), rng.normal(*_ABILITY, cells))
        result = hold_looks(verdicts, groups, plan, keep)
        asked = [count for cell, count in enumerate(result.asked) if cell not in keep]
        shares.append(float(np.mean(asked or [len(groups)])) / len(groups))
        left.append(len(result.left))
    return SimulatedSaving(shares, left)


def draw_verdicts(rng: np.random.Generator, problems: int, abilities: Floats) -> Floats:
    """Draw right and wrong answers: [problems, cells] (Birnbaum 1968)."""
    slopes = _SLOPE * np.exp(rng.normal(0, _DISCRIMINATION, problems))
    difficulties = rng.normal(0, 1, problems)
    chances = 1 / (1 + np.exp(-slopes[:, None] * (abilities - difficulties[:, None])))
    return (rng.random(chances.shape) < chances).astype(float)
