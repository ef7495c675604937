"""The judge `units`: it checks the units in a response."""

from __future__ import annotations

from omibench.judges.instrument import Instrument, make_instrument
from omibench.judges.registry import judge
from omibench.judges.scales import LabelScale

from omibench.params.panel import JudgePanel

INSTRUCTIONS = "You look at the units in a response, and at nothing else of it."
SCALE = LabelScale(
    {
        "throughout": "every quantity has its unit, or needs none",
        "at_the_end": "the answer alone has one",
        "nowhere": "units are missing where they are needed, also in the answer",
    }
)


@judge("units")
def build_judge(panel: JudgePanel) -> Instrument[str]:
    """Return one of three labels."""
    return make_instrument("units", INSTRUCTIONS, SCALE)
