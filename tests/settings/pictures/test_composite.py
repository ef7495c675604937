"""The composite: every picture whole, in order, under its label or none, on no longer a canvas."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.settings.pictures.drawn import drawn

from omibench.settings.pictures import LONGEST, compose, layout

SIZES = st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 3000)), min_size=1, max_size=11)


@settings(max_examples=60, deadline=None)
@given(SIZES, st.data())
def test_pictures_stand_apart_in_order_within_the_cap(
    sizes: list[tuple[int, int]], data: st.DataObject
) -> None:
    stem = data.draw(st.integers(0, len(sizes)))
    plan = layout(sizes, stem)
    assert max(plan.canvas) <= LONGEST
    for (x, y, wide, high), size in zip(plan.boxes, sizes, strict=True):
        assert 0 < x < x + wide < plan.canvas[0]
        assert plan.letters < y < y + high < plan.canvas[1], "its label is on the canvas"
        assert (wide, high) <= size, "never larger"
        assert max(wide, high) == max(size) or max(wide, high) >= 512, "small ones stay as they are"
    for (x0, y0, wide, _), (x1, y1, _, _) in pairwise(plan.boxes):
        assert (y1 == y0 and x1 > x0 + wide) or y1 > y0 + plan.letters, "reading order"
    if 0 < stem < len(sizes):
        assert plan.boxes[stem][1] > plan.boxes[stem - 1][1], "choices begin a row"


def test_pictures_are_on_it_pixel_for_pixel_when_they_fit() -> None:
    images = [drawn((120, 80), 10), drawn((60, 200), 200), drawn((300, 50), 90)]
    plan = layout([image.size for image in images], 2)
    canvas = compose(images, ["Image 1", "Image 2", "Choice A"], 2)
    assert canvas.size == plan.canvas
    for image, (x, y, wide, high) in zip(images, plan.boxes, strict=True):
        assert canvas.crop((x, y, x + wide, y + high)).tobytes() == image.tobytes()
        above = canvas.crop((x, y - 2 * plan.letters, x + 60, y - 4)).convert("L")
        assert min(above.tobytes()) < 100, "a label stands above"


def test_only_the_largest_are_made_smaller() -> None:
    plan = layout([(6000, 4000), (300, 200)], 2)
    assert plan.boxes[1][2:] == (300, 200)
    assert max(plan.boxes[0][2:]) < LONGEST
