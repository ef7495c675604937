"""Sound problems with real pictures, to be spoilt in one way at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from omibench.params.stages.filter import FilterParams
from omibench.schemas.problem import Figure, Problem
from omibench.stages.filter.candidate import Candidate, Case, KeptProblems

Draw = Callable[..., Figure]
Make = Callable[..., Problem]
Look = Callable[..., Case]

STATEMENT = (
    "A cart rolls without friction. Figure 1 shows its speed and Figure 2 the road. "
    "How far does the cart travel in eight seconds?\n[IMAGE0]\n[IMAGE1]"
)


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    """Draw a polyline as a PNG: `draw("a.png", [(10, 90), (90, 10)], caption="Figure 1: ...")`."""

    def drawn(
        name: str,
        line: list[tuple[int, int]],
        caption: str | None = None,
        margin: int = 0,
        scale: int = 2,
    ) -> Figure:
        side = 100 * scale + 2 * margin
        image = Image.new("L", (side, side), 255)
        pen = ImageDraw.Draw(image)
        at = [(x * scale + margin, y * scale + margin) for x, y in line]
        pen.line([(margin, margin), (margin, side - margin), (side - margin, side - margin)], 0, 3)
        pen.line(at, fill=0, width=6)
        image.save(tmp_path / name)
        content = (tmp_path / name).read_bytes()
        return Figure(file=name, sha256=hashlib.sha256(content).hexdigest(), caption=caption)

    return drawn


@pytest.fixture
def make(draw: Draw) -> Make:
    """A sound open problem; keywords replace its fields."""

    def made(**fields: Any) -> Problem:
        images = [
            draw("speed.png", [(0, 90), (40, 20), (95, 60)], "Figure 1: The speed."),
            draw("road.png", [(0, 10), (95, 85)], "Figure 2: The road."),
        ]
        sound: dict[str, Any] = {
            "id": "mechanics-1", "question": STATEMENT, "images": images, "source": "mechanics",
            "source_sha256": "0" * 64, "number": "1", "pages": [1], "answer": ["12 m"],
        }  # fmt: skip
        return Problem(**(sound | fields))

    return made


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """The case of a problem, after others have been kept."""

    def looked(problem: Problem, *kept: Problem, params: FilterParams | None = None) -> Case:
        earlier = KeptProblems(Candidate(other, tmp_path) for other in kept)
        return Case(Candidate(problem, tmp_path), earlier, params or FilterParams())

    return looked
