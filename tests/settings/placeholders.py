"""Placeholder pictures: each a colour of its own, by which it is known in what is made of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from PIL import Image

from omibench.schemas.problem import Figure, Question
from omibench.schemas.request import ImagePart

SIDE = 24
SEEN = SIDE * SIDE // 4
"""Pixels of a colour that are no mixture at the edge of another."""
LEVELS = range(8, 256, 16)
COLOURS = [(r, g, b) for r in LEVELS for g in LEVELS for b in LEVELS if not r == g == b]
"""None is a grey, which labels, canvases and patches are."""


class Placeholders:
    """Pictures in `folder`, one for each place of each problem, also where two share a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: dict[tuple[int, int, int], str] = {}
        self._made = cache(self._colours)
        (folder / "images").mkdir(parents=True)

    def given(self, question: Question, caption: str) -> Question:
        """The question with a placeholder in each place, described by `caption`."""
        figures = [self._figure(f"{question.id}#{n}", caption) for n in range(len(question.images))]
        return question.model_copy(update={"images": figures})

    def _figure(self, name: str, caption: str) -> Figure:
        colour = COLOURS[len(self._names)]
        self._names[colour] = name
        path = self.folder / "images" / f"{len(self._names)}.png"
        Image.new("RGB", (SIDE, SIDE), colour).save(path)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        return Figure(file=f"images/{path.name}", sha256=sha256, caption=caption)

    def seen(self, parts: Sequence[ImagePart]) -> set[str]:
        """`problem#place` of every placeholder that the pictures show, by their pixels alone."""
        return {name for part in parts for name in self._made(part.path)}

    def _colours(self, path: str) -> frozenset[str]:
        with Image.open(path) as image:
            found = image.convert("RGB").getcolors(image.width * image.height) or []
        return frozenset(
            self._names[colour]
            for count, colour in found
            if count >= SEEN and colour in self._names
        )
