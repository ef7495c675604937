"""Every tool draws what it says, within its bounds, and the same each time."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageDraw

from omibench.params.setting import ToolName
from omibench.settings.tool_edits import MOST_PIXELS, apply_edit
from omibench.settings.tools import KINDS, read_arguments


def picture(width: int = 200, height: int = 100) -> Image.Image:
    """A black cross on grey, red in its lower right quarter."""
    image = Image.new("RGB", (width, height), "gray")
    draw = ImageDraw.Draw(image)
    draw.rectangle((width // 2, height // 2, width, height), fill="red")
    draw.line((0, height // 2, width, height // 2), fill="black", width=3)
    draw.line((width // 2, 0, width // 2, height), fill="black", width=3)
    return image


def used(name: ToolName, on: Image.Image | None = None, /, **arguments: object) -> Image.Image:
    """What a tool makes of one picture, or of two where it takes several."""
    taken = read_arguments(name, json.dumps(arguments))
    own = on or picture()
    return apply_edit(name, taken, taken.sources, [own] * len(taken.sources))


def changed(one: Image.Image, other: Image.Image) -> tuple[int, int, int, int] | None:
    """The box of the pixels in which two pictures of one size differ."""
    assert one.size == other.size
    found = ImageChops.difference(one, other).getbbox()
    return found if found is None else (found[0], found[1], found[2], found[3])


def test_a_crop_has_the_pixels_of_its_box() -> None:
    part = used("crop", image="i", box=[0.5, 0.5, 1, 1])
    assert part.size == (100, 50)
    assert part.getpixel((50, 30)) == (255, 0, 0)


def test_a_zoom_enlarges_and_stays_within_the_cap() -> None:
    assert used("zoom", image="i", box=[0.5, 0.5, 1, 1], times=3).size == (300, 150)
    large = used("zoom", picture(3000, 2000), image="i", box=[0, 0, 1, 1], times=8)
    assert MOST_PIXELS * 0.99 < large.width * large.height <= MOST_PIXELS


def test_drawings_change_the_places_that_they_name() -> None:
    line = used("draw_lines", image="i", lines=[[0.1, 0.2, 0.3, 0.2]], color="blue")
    assert changed(line, picture()) == (20, 20, 61, 22)
    point = used("draw_points", image="i", points=[[0.25, 0.25]], color="green")
    left, top, right, bottom = changed(point, picture()) or (0, 0, 0, 0)
    assert (left + right) // 2 == pytest.approx(50, abs=1)
    assert (top + bottom) // 2 == pytest.approx(25, abs=1)
    box = used("draw_shape", image="i", shape="rectangle", points=[[0.4, 0.4], [0.1, 0.1]])
    assert changed(box, picture()) == (20, 10, 81, 41)
    round_ = used("draw_shape", image="i", shape="ellipse", points=[[0.1, 0.1], [0.4, 0.4]])
    assert changed(round_, picture()) == (20, 10, 81, 41)
    corners = [[0.1, 0.1], [0.4, 0.1], [0.1, 0.4]]
    assert changed(used("draw_shape", image="i", shape="polygon", points=corners), picture())


def test_text_stays_inside_the_picture_and_is_legible_on_any_ground() -> None:
    image = Image.new("RGB", (200, 100), "red")
    written = used("draw_text", image, image="i", text="A\nB\x07", at=[1, 1], color="red")
    left, top, right, bottom = changed(written, image) or (0, 0, 0, 0)
    assert right <= 200
    assert bottom <= 100
    assert right - left > 10
    assert bottom - top > 8
    assert (255, 255, 255) in {colour for _, colour in written.getcolors(10_000) or []}


def test_labels_stand_beside_their_points() -> None:
    bare = used("draw_points", image="i", points=[[0.2, 0.5]])
    labelled = used("draw_points", image="i", points=[[0.2, 0.5]], labels=["P"])
    assert changed(bare, labelled)


def test_highlight_keeps_its_boxes_and_fades_the_rest() -> None:
    image = used("highlight", image="i", boxes=[[0.5, 0.5, 1, 1]])
    assert image.getpixel((150, 75)) == (255, 0, 0)
    assert image.getpixel((20, 20)) == pytest.approx((217, 217, 217), abs=2)


def test_blur_touches_its_boxes_alone() -> None:
    image = used("blur", image="i", boxes=[[0.4, 0.4, 0.6, 0.6]])
    assert changed(image, picture())
    left, top, right, bottom = changed(image, picture()) or (0, 0, 0, 0)
    assert left >= 80
    assert top >= 40
    assert right <= 120
    assert bottom <= 60


def test_pictures_stand_side_by_side_under_their_names() -> None:
    strip = used("side_by_side", images=["a", "b"])
    assert strip.width > 2 * strip.height
    six = used("side_by_side", picture(4000, 50), images=["a"] * 6)
    assert six.width * six.height <= MOST_PIXELS


@pytest.mark.parametrize("size", [(1, 1), (1, 900), (900, 1), (2500, 1800)])
def test_pictures_of_any_size_can_be_worked_on(size: tuple[int, int]) -> None:
    for name, more in {
        "crop": {"box": [0, 0, 1, 1]},
        "zoom": {"box": [0, 0, 1, 1]},
        "draw_points": {"points": [[0, 0], [1, 1]], "labels": ["x"]},
        "draw_lines": {"lines": [[0, 0, 1, 1]]},
        "draw_shape": {"shape": "ellipse", "points": [[0, 0], [1, 1]]},
        "draw_text": {"text": "x", "at": [0.5, 0.5]},
        "highlight": {"boxes": [[0, 0, 1, 1]]},
        "blur": {"boxes": [[0.2, 0.2, 0.3, 0.3]]},
    }.items():
        made = used(name, Image.new("RGB", size), image="i", **more)  # type: ignore[arg-type]
        assert 1 <= made.width * made.height <= MOST_PIXELS, name


share = st.floats(0, 1) | st.sampled_from([0, 1, 0.5, 5e-324, 0.9999999999999999])
point = st.lists(share, min_size=2, max_size=2)
box = st.lists(share, min_size=4, max_size=4)
some = {
    "image": st.just("i"), "box": box, "times": st.floats(1, 8),
    "points": st.lists(point, min_size=1, max_size=4), "labels": st.lists(st.text(max_size=80)),
    "lines": st.lists(box, min_size=1, max_size=4), "color": st.sampled_from(["red", "white"]),
    "shape": st.sampled_from(["rectangle", "ellipse", "polygon"]), "at": point,
    "text": st.text(max_size=80), "boxes": st.lists(box, min_size=1, max_size=3),
    "images": st.lists(st.just("i"), min_size=2, max_size=3),
}  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(get_args(ToolName)), st.integers(1, 60), st.integers(1, 60))
def test_checked_arguments_never_break_a_tool(
    data: st.DataObject, name: ToolName, width: int, height: int
) -> None:
    if name == "look":
        return
    fields = KINDS[name].model_fields
    text = json.dumps({field: data.draw(some[field]) for field in fields})
    try:
        taken = read_arguments(name, text)
    except ValueError:
        return
    images = [picture(width, height)] * len(taken.sources)
    made = apply_edit(name, taken, taken.sources, images)
    assert 1 <= made.width * made.height <= MOST_PIXELS
    assert made.mode == "RGB"
    assert made.tobytes() == apply_edit(name, taken, taken.sources, images).tobytes()
