"""Pictures of synthetic problems: small, distinct PNG files."""

from __future__ import annotations

import hashlib
from io import BytesIO
from random import Random

from omibench.models.synthetic.items import CLEAN, Drawing, Item, has_clean_picture, make_random
from omibench.models.synthetic.profiles import Like
from omibench.schemas.problem import Value

COLUMNS, ROWS, CELL, RADIUS = 8, 6, 20, 5
SIZE = (COLUMNS * CELL, (ROWS + 1) * CELL)
"""Width and height in pixels: a field of cells above a row that identifies the picture."""


def picture(drawing: Drawing) -> bytes:
    """Draw a PNG with the given number of dots, above bars determined by its key."""
    from PIL import Image, ImageDraw

    code = hashlib.blake2b(drawing.key.encode(), digest_size=32).digest()
    image = Image.new("1", SIZE, 1)
    draw = ImageDraw.Draw(image)
    start, step = code[0] % (COLUMNS * ROWS), (5, 7, 11, 13)[code[1] % 4]  # prime to 48 cells
    for n in range(drawing.dots):
        row, column = divmod((start + n * step) % (COLUMNS * ROWS), COLUMNS)
        x, y = column * CELL + CELL // 2, row * CELL + CELL // 2
        draw.ellipse((x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS), fill=0)
    for place, byte in enumerate(code[2:]):
        left = place * SIZE[0] // 30
        draw.line((left, SIZE[1] - 1, left, SIZE[1] - 1 - byte % CELL), fill=0)
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


# Attributes of synthetic problems besides their category, for the study's tables.
#
# They depend on the problem's id alone, so its texts, numbers and pictures are the same with and
# without them.

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
        if has_clean_picture(item.id, like, seed):
            is_clean = all(drawing.key.endswith(CLEAN) for drawing in item.drawings)
            stated |= {"pair": "clean" if is_clean else "real"}
    elif item.subject == "coding":
        stated |= {"task": item.attributes["category"]}
    return stated


def _draw(rng: Random, counts: dict[str, int]) -> str:
    return rng.choices([*counts], weights=[*counts.values()])[0]
