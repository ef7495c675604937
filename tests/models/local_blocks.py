"""Requests with pictures for tests of local engines."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tests.asks import ask, extend, say

from omibench.models.local.transformers import TransformersProvider
from omibench.params.models.providers import TransformersModel
from omibench.schemas.request import ImagePart, Request


def provider(folder: Path, **block: Any) -> TransformersProvider:
    """A provider `tiny` of a checkpoint.

    In float32 rows are equal up to rounding whatever stands beside them, which they are not in
    bfloat16.
    """
    values = {"provider": "transformers", "id": str(folder), "dtype": "float32", **block}
    return TransformersProvider("tiny", TransformersModel.model_validate(values))


def picture(
    folder: Path, seed: int = 0, size: tuple[int, int] = (84, 56), **save: Any
) -> ImagePart:
    """A picture of seeded noise, (width, height) pixels, in a PNG file."""
    noise = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    path = folder / f"{seed}-{size[0]}x{size[1]}.png"
    Image.fromarray(noise).save(path)
    return part_of(path)


def part_of(path: Path) -> ImagePart:
    """The part that shows a file."""
    return ImagePart(sha256=hashlib.sha256(path.read_bytes()).hexdigest(), path=str(path))


def shown(*parts: str | ImagePart, **more: Any) -> Request:
    """A request whose user turn is the given words and pictures."""
    return ask(*parts, **{"problem": "p", "setting": "", "max_tokens": 8, **more})


def samples(*parts: str | ImagePart, indices: Sequence[int], **more: Any) -> list[Request]:
    """Samples of one conversation."""
    return [shown(*parts, index=index, **more) for index in indices]


def answer_so_far(request: Request, text: str) -> Request:
    """The request, its model already at `text` in its answer."""
    return extend(request, say("assistant", text))
