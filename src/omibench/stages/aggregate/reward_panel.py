"""Models that select samples of a cell, their instrument, and the capacity of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from omibench.cost.families import image_formula
from omibench.cost.tokens import estimate_input
from omibench.judges.instrument import Instrument
from omibench.judges.panel import OpenPanel
from omibench.params.cell import Cell
from omibench.params.models.base import ModelBlock
from omibench.params.panel import JudgePanel
from omibench.params.stage_params import AggregateStageParams
from omibench.schemas.request import Request
from omibench.stages.aggregate.choose import (
    Choices,
    Choosing,
    Fits,
    choose_by_joint_marks,
    choose_by_single_marks,
    choose_by_tournament,
)
from omibench.stages.aggregate.judges import COMPARISON, JOINT_MARKS, MARKS, REWARD


class RewardPanel(NamedTuple):
    """The models that select samples of a cell, by name, and their prompts."""

    params: JudgePanel
    instrument: Instrument[Any]
    models: Sequence[ModelBlock]

    def choose(self, choosing: Choosing, panel: OpenPanel) -> Choices:
        """Return the selected sample of every problem, for every k."""
        if self.instrument is COMPARISON:
            return choose_by_tournament(choosing, panel)
        if self.instrument is JOINT_MARKS:
            return choose_by_joint_marks(choosing, panel, make_fits(self.models))
        return choose_by_single_marks(choosing, self.instrument, panel)


def find_reward_panel(study: AggregateStageParams, cell: Cell) -> RewardPanel | None:
    """Return the models that select samples, with `self` resolved; None if not configured."""
    aggregate = study.settings[cell.setting].aggregate
    if aggregate.judge is None:
        return None
    names = aggregate.name_judges(cell.model)
    params = aggregate.judge.model_copy(update={"models": names})
    models = [study.models[name] for name in names if name in study.models]
    if aggregate.how == "tournament":
        return RewardPanel(params, COMPARISON, models)
    if any(model.gives_reward for model in models):
        # A head generates no text, so its reply length is fixed.
        return RewardPanel(
            params.model_copy(update={"max_tokens": 1, "prompt": None}), REWARD, models
        )
    instrument = JOINT_MARKS if aggregate.marking == "joint" else MARKS
    return RewardPanel(params, instrument, models)


def make_fits(models: Sequence[ModelBlock]) -> Fits:
    """Return whether a prompt and its reply fit into the context of every model.

    Tokens are the plan's estimate. A model without a stated context fits any length.
    """
    limits = [(model.context, image_formula(model)) for model in models if model.context]

    def fits(request: Request) -> bool:
        room = request.decoding.max_tokens
        return all(
            estimate_input(request.conversation, formula).all + room <= context
            for context, formula in limits
            if context is not None
        )

    return fits
