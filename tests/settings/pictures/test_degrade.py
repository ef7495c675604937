"""Degrading: graded, seeded, and more of the same at each higher grade."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from tests.settings.pictures.drawn import drawn

from omibench.params.setting import DEGRADATIONS, Degradation
from omibench.settings.pictures import degrade

PICTURE = drawn((180, 120))


def changed(image: Image.Image) -> float:
    """Mean difference to the picture itself, from 0 to 255; the size must be the same."""
    return float(np.abs(np.asarray(image, int) - np.asarray(PICTURE, int)).mean())


@pytest.mark.parametrize("kind", DEGRADATIONS)
@pytest.mark.parametrize("grade", [1, 2, 3])
def test_the_same_seed_gives_the_same_pixels(kind: Degradation, grade: int) -> None:
    one, other = (degrade(PICTURE, [kind], grade, 5, "ab") for _ in range(2))
    assert one.tobytes() == other.tobytes()
    assert (one.size, one.tobytes()) != (PICTURE.size, PICTURE.tobytes())


@pytest.mark.parametrize("kind", ["shadow", "glare", "exposure", "blur"])
@pytest.mark.parametrize("seed", range(4))
def test_a_higher_grade_is_more_of_it(kind: Degradation, seed: int) -> None:
    grades = [changed(degrade(PICTURE, [kind], grade, seed, "ab")) for grade in range(4)]
    assert grades == sorted(grades)
    assert grades[0] == 0 < grades[1] < grades[3]


def test_a_tilted_picture_keeps_its_corners_on_paper_of_its_colour() -> None:
    grey = drawn((180, 120)).point(lambda value: min(value, 200))
    tilted = degrade(grey, ["tilt"], 3, 0, "ab")
    assert min(a - b for a, b in zip(tilted.size, grey.size, strict=True)) > 0
    assert tilted.getpixel((0, 0)) == (200, 200, 200)


@pytest.mark.parametrize(("grade", "share"), [(1, 0.2), (2, 0.4), (3, 0.7)])
def test_a_shadow_covers_its_share(grade: int, share: float) -> None:
    white = Image.new("RGB", (300, 200), "white")
    shaded = np.asarray(degrade(white, ["shadow"], grade, 3, "ab").convert("L"))
    middle = (int(shaded.min()) + 255) / 2
    assert (shaded < middle).mean() == pytest.approx(share, abs=0.03)


def test_the_order_of_the_list_does_not_count() -> None:
    one = degrade(PICTURE, ["blur", "tilt"], 1, 0, "ab")
    assert one.tobytes() == degrade(PICTURE, ["tilt", "blur"], 1, 0, "ab").tobytes()


@pytest.mark.parametrize("size", [(1, 1), (1, 400), (400, 2)])
@pytest.mark.parametrize("kind", DEGRADATIONS)
def test_no_picture_is_too_small(kind: Degradation, size: tuple[int, int]) -> None:
    assert degrade(Image.new("RGB", size, "white"), [kind], 3, 0, "ab").size >= (1, 1)
