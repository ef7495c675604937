"""Views of one body: stacks of cubes seen from the front, from the right and from above.

The three views together fix the largest number of cubes. Without one of them they do not:
`list_possible` gives views that fit the other two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import NamedTuple

from omibench.datasets.generators.canvas import FAINT, PAPER, Canvas
from omibench.datasets.generators.make import list_marks
from omibench.datasets.generators.registry import Draft, Drawing, generator

_CELL, _MARGIN = 40, 30
"""Pixels of a square, and of the border."""
Profile = tuple[int, ...]
Plan = tuple[tuple[int, ...], ...]


class Views(NamedTuple):
    """Three views of stacks of cubes on a square field."""

    front: Profile
    """Height of each column, from left to right."""
    right: Profile
    """Height of each column seen from the right, from front to back."""
    above: Plan
    """For each row from front to back and each column from left to right: 1 if a stack is there."""

    @property
    def heights(self) -> list[list[int]]:
        """Heights of the stacks of the largest body with these views, in rows from the front."""
        return [
            [min(height, side) * stack for height, stack in zip(self.front, row, strict=True)]
            for side, row in zip(self.right, self.above, strict=True)
        ]

    def count_most(self) -> int:
        """Return the number of cubes of the largest body with these views."""
        return sum(map(sum, self.heights))

    def are_of_a_body(self) -> bool:
        """Return whether a body with these views exists."""
        return view_stacks(self.heights) == self


def view_stacks(heights: Sequence[Sequence[int]]) -> Views:
    """Return the views of stacks, given by their heights in rows from front to back."""
    above = tuple(tuple(int(height > 0) for height in row) for row in heights)
    return Views(tuple(map(max, zip(*heights, strict=True))), tuple(map(max, heights)), above)


def list_possible(views: Views, unseen: int) -> set[int]:
    """Return answers that are possible if one view is not seen.

    They are the right one, and those of bodies whose unseen view differs in one place.

    Args:
        views: The views of a body.
        unseen: 0 for the front, 1 for the right, 2 for the view from above.
    """
    others = _list_others(views, unseen)
    return {views.count_most(), *(other.count_most() for other in others if other.are_of_a_body())}


def _list_others(views: Views, unseen: int) -> Iterator[Views]:
    places = range(len(views.front))
    if unseen == 2:
        for y, x in product(places, repeat=2):
            rows = [[*row] for row in views.above]
            rows[y][x] = 1 - rows[y][x]
            yield views._replace(above=tuple(map(tuple, rows)))
        return
    profile = views.right if unseen else views.front
    for place, height in product(places, range(1, max(profile) + 1)):
        other = (*profile[:place], height, *profile[place + 1 :])
        yield views._replace(right=other) if unseen else views._replace(front=other)


@generator("body", version=1, templates=("most",), subject="mathematics")
def make(template: str, random: Random, difficulty: int) -> Draft:
    """Make a body on a field of 3 to 5 squares a side, up to 2 to 5 cubes high.

    Each view that is left out makes at least two answers possible.
    """
    size, highest = 3 + difficulty // 2, min(difficulty + 1, 5)
    while True:
        columns, rows = ([random.randint(1, highest) for _ in range(size)] for _ in range(2))
        heights = [
            [random.choice((0, min(x, y), random.randint(0, min(x, y)))) for x in columns]
            for y in rows
        ]
        views = view_stacks(heights)
        if min(*views.front, *views.right) and all(
            len(list_possible(views, unseen)) > 1 for unseen in range(3)
        ):
            break
    answer = views.count_most()
    sums = "; ".join(" + ".join(map(str, row)) for row in views.heights)
    pictures = [
        Drawing(draw_profile, ("front", views.front)),
        Drawing(draw_profile, ("right", views.right)),
        Drawing(draw_plan, (views.above,)),
    ]
    random.shuffle(pictures)
    return Draft(
        question=(
            "A body is made of stacks of equal cubes that stand on a square field. The pictures "
            "show it from the front, from the right and from above. In the view from the right, "
            "the front of the body is on the left; in the view from above, it is at the bottom. A "
            "square is grey where cubes are seen. What is the largest number of cubes that the "
            f"body can have?\n{list_marks(3)}"
        ),
        pictures=pictures,
        answer=str(answer),
        solution=(
            "Where the view from above shows a stack, it is at most as high as its column in the "
            "view from the front and as its column in the view from the right, and stacks of these "
            f"heights have these views. In rows from front to back: {sums}. Together {answer}."
        ),
    )


def draw_profile(name: str, profile: Profile) -> bytes:
    """Draw a view from a side, with room for one cube more; return a PNG."""
    top = max(5, *profile)
    rows = [[int(height >= level) for height in profile] for level in range(top, 0, -1)]
    return _draw_squares(f"from the {name}", rows)


def draw_plan(above: Plan) -> bytes:
    """Draw the view from above, the front at the bottom; return a PNG."""
    return _draw_squares("from above", above[::-1])


def _draw_squares(title: str, rows: Sequence[Sequence[int]]) -> bytes:
    width = max(_CELL * len(rows[0]), 3 * _CELL + 20)
    canvas = Canvas(width + 2 * _MARGIN, _CELL * len(rows) + 3 * _MARGIN)
    canvas.write(_MARGIN + width / 2, _MARGIN, title)
    left = _MARGIN + (width - _CELL * len(rows[0])) // 2
    for y, row in enumerate(rows):
        top = 2 * _MARGIN + _CELL * y
        for x, is_grey in enumerate(row):
            x0 = left + _CELL * x
            canvas.box(x0, top, x0 + _CELL, top + _CELL, fill=FAINT if is_grey else PAPER)
    return canvas.to_png()
