"""Attributes of synthetic problems besides their category, for the study's tables.

They depend on the problem's id alone, so its texts, numbers and pictures are the same with and
without them.
"""

from __future__ import annotations

from random import Random

from omibench.schemas.attributes import Value
from omibench.synthetic.items import Item, make_random
from omibench.synthetic.profiles import Like

_YEARS = range(1999, 2026)
"""USNCO-V, introduction: exams of 1999 to 2025."""
_STAGES = {"Primary": 187, "Middle": 212, "High": 81}
_DIFFICULTIES = {"Easy": 133, "Medium": 215, "Hard": 132}
_NOISE = {
    "blur": 0.84, "underexposure/overexposure": 0.48, "shadow coverage": 0.38, "glare": 0.18,
    "rotation": 0.30, "in-plane tilt": 0.59, "non-planar capture": 0.25,
    "background distortion": 0.41, "handwritten questions": 0.03, "reverse side content": 0.55,
    "question marking": 0.20, "figure marking": 0.39,
    "handwritten answer for multiple-choice questions": 0.16,
    "handwritten process for constructed-response questions": 0.47,
}  # fmt: skip
"""Share of the released testmini's photographs with each condition."""


def describe_item(item: Item, like: Like, seed: int) -> dict[str, Value]:
    """Draw the attributes of a synthetic problem.

    Args:
        item: The problem.
        like: Study whose shape it has.
        seed: Seed of the problems.

    Returns:
        The attributes it was made with, and those that slice the study's tables.
    """
    rng = make_random("attributes", like, seed, item.id)
    stated: dict[str, Value] = dict(item.attributes)
    if like == "usnco-v":
        stated |= {"image_type": item.attributes["category"], "year": str(rng.choice(_YEARS))}
    elif like in ("mathreal", "mathreal-testmini"):
        noise = [name for name, share in _NOISE.items() if rng.random() < share]
        stated |= {"stage": _draw(rng, _STAGES), "difficulty": _draw(rng, _DIFFICULTIES)}
        stated |= {"noise": noise} if noise else {}
    elif item.subject == "coding":
        stated |= {"task": item.attributes["category"]}
    return stated


def _draw(rng: Random, counts: dict[str, int]) -> str:
    return rng.choices([*counts], weights=[*counts.values()])[0]
