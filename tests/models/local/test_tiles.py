"""Pictures are cut into squares of one size, in the grid that fits their proportions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from omibench.models.local.chat import DEVIATION, MEAN, Tiling, choose_grid, cut_tiles, read_tiling

INTERNVL = Tiling(448, 1, 12, True)


@pytest.mark.parametrize(
    ("size", "grid"),
    [
        ((448, 448), (1, 1)),
        ((700, 700), (2, 2)),  # more than half of the pixels of four tiles, not of nine
        ((2000, 2000), (3, 3)),
        ((1600, 400), (4, 1)),
        ((400, 1600), (1, 4)),
        ((1234, 630), (2, 1)),
        ((1300, 650), (4, 2)),
        ((9000, 10), (12, 1)),
        ((1200, 800), (3, 2)),
    ],
)
def test_the_grid_is_of_the_pictures_proportions(
    size: tuple[int, int], grid: tuple[int, int]
) -> None:
    assert choose_grid(*size, INTERNVL) == grid


def test_tiles_are_in_reading_order_and_a_copy_of_the_whole_follows() -> None:
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    picture = Image.new("RGB", (300, 100))
    for n, colour in enumerate(colours):
        picture.paste(colour, (100 * n, 0, 100 * n + 100, 100))
    tiles = cut_tiles(picture, Tiling(28, 1, 4, True))
    assert tiles.shape == (4, 3, 28, 28)
    assert tiles.dtype == np.float32
    centres = tiles[:3, :, 14, 14] * np.array(DEVIATION) + np.array(MEAN)
    np.testing.assert_allclose(centres * 255, colours, atol=1e-3)
    whole = (tiles[3, :, 14, [4, 14, 23]] * np.array(DEVIATION) + np.array(MEAN)) * 255
    np.testing.assert_allclose(whole, colours, atol=1)


def test_one_tile_has_no_copy() -> None:
    assert cut_tiles(Image.new("RGB", (30, 30)), Tiling(28, 1, 4, True)).shape[0] == 1
    assert cut_tiles(Image.new("RGB", (90, 30)), Tiling(28, 1, 4, False)).shape[0] == 3


def test_the_configuration_says_how() -> None:
    vision = SimpleNamespace(image_size=448)
    listed = SimpleNamespace(
        vision_config=vision, force_image_size=336, max_dynamic_patch=6, min_dynamic_patch=2,
        use_thumbnail=False, dynamic_image_size=True,
    )  # fmt: skip
    assert read_tiling(listed, None) == Tiling(336, 2, 6, False)
    assert read_tiling(listed, 1) == Tiling(336, 1, 1, False)
    assert read_tiling(SimpleNamespace(vision_config=vision), None) == INTERNVL
    still = SimpleNamespace(vision_config=vision, dynamic_image_size=False)
    assert read_tiling(still, None) == Tiling(448, 1, 1, False)
