"""Option scores of a simulated respondent, and the effect of a patch over a picture on them.

The score of the right option depends on ability minus difficulty, those of the others on chance.
Each picture has one spot that supports the right option and one that misleads; a patch changes the
right option's score by its distance to either. The spots are random: no picture is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from omibench.models.simulated.oracle import OracleRow
from omibench.params.models.simulated import SimulatedModel
from omibench.schemas.request import Request

REACH = 80.0
"""Pixels over which the effect of a patch falls off."""
FIELD = 320.0
"""Pixels from the top left corner within which the spots are drawn."""


def option_logprobs(
    model: SimulatedModel, row: OracleRow, request: Request, seeded: Callable[..., Random]
) -> dict[str, float]:
    """Return the log-probability (nats) of each option, normalised over the options."""
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
