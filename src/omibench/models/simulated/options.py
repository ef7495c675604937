"""How a simulated respondent scores options, and what a patch over a picture does to that.

The right option stands out by ability less difficulty, the others by chance. Each picture has one
spot that the model leans on and one that misleads it; a patch moves the right option's score by
how near it is to either. Places are drawn, not seen: nothing is read from the picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from omibench.models.simulated.oracle import OracleRow
from omibench.params.models.simulated import SimulatedModel
from omibench.schemas.request import Request

REACH = 80.0
"""Pixels over which a patch's effect falls off."""
FIELD = 320.0
"""Pixels from the top left corner within which the spots lie."""


def option_logprobs(
    model: SimulatedModel, row: OracleRow, request: Request, seeded: Callable[..., Random]
) -> dict[str, float]:
    """Log-probability (nats) of each option, normalised over the options."""
    edge = model.ability + model.setting_effects.get(request.tags.setting, 0.0) - row.difficulty
    scores = {o: seeded("option", row.id, o).gauss(0.0, 1.0) for o in request.options}
    for right in set(row.answer) & set(scores):
        scores[right] += 1.5 + edge - _lost_log_odds(request, row, seeded)
    top = max(scores.values())
    total = top + math.log(sum(math.exp(score - top) for score in scores.values()))
    return {option: score - total for option, score in scores.items()}


def _lost_log_odds(request: Request, row: OracleRow, seeded: Callable[..., Random]) -> float:
    lost = 0.0
    for image in request.conversation.images:
        if image.patch is None:
            continue
        x, y, side = image.patch
        middle = (x + side / 2, y + side / 2)
        rng = seeded("spots", row.id, image.sha256)
        for strength in (2.0, -0.7):
            spot = (FIELD * rng.random(), FIELD * rng.random())
            lost += strength * math.exp(-((math.dist(middle, spot) / REACH) ** 2) / 2)
    return lost
