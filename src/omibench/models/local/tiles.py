"""Pictures as tiles: the input of models that see squares of one size, such as InternVL.

A picture is scaled to the grid of squares that fits its proportions best and cut; a small copy of
the whole picture follows if there are several tiles. The numbers of tiles, their side and the copy
are values of the checkpoint's configuration (model card of InternVL2, *Quick Start*).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of the colours of ImageNet, by which InternViT normalises."""
SIDE, LEAST, MOST = 448, 1, 12
"""Side of a tile in pixels, and tiles of a picture, if a configuration does not say."""


class Tiling(NamedTuple):
    """How a checkpoint wants pictures cut: side of a tile, fewest and most tiles, and whether a
    copy of the whole picture follows several tiles."""

    side: int
    least: int
    most: int
    thumbnail: bool


def read_tiling(config: Any, most: int | None) -> Tiling:
    """Return the tiling of a checkpoint's configuration; `most` replaces its number of tiles."""
    vision = getattr(config, "vision_config", None)
    side = getattr(config, "force_image_size", None) or getattr(vision, "image_size", None) or SIDE
    if not getattr(config, "dynamic_image_size", True):
        return Tiling(int(side), 1, 1, False)
    listed = most or getattr(config, "max_dynamic_patch", None) or MOST
    least = min(getattr(config, "min_dynamic_patch", None) or LEAST, listed)
    return Tiling(int(side), int(least), int(listed), bool(getattr(config, "use_thumbnail", True)))


def choose_grid(width: int, height: int, tiling: Tiling) -> tuple[int, int]:
    """Return columns and rows of the grid whose proportions are nearest to a picture's.

    Of equally near grids, small ones come first; a larger one is taken if the picture has more
    than half of its pixels.

    Args:
        width: Width of the picture in pixels.
        height: Its height.
        tiling: The tiling of the checkpoint.
    """
    numbers = range(1, tiling.most + 1)
    grids = sorted(
        {(i, j) for i in numbers for j in numbers if tiling.least <= i * j <= tiling.most},
        key=lambda grid: (grid[0] * grid[1], grid),
    )
    best, nearest = grids[0], float("inf")
    for columns, rows in grids:
        distance = abs(width / height - columns / rows)
        fills = width * height > tiling.side**2 * columns * rows / 2
        if distance < nearest or (distance == nearest and fills):
            best, nearest = (columns, rows), distance
    return best


def cut_tiles(picture: Image, tiling: Tiling) -> NDArray[np.float32]:
    """Return the normalised tiles of an RGB picture, of shape (tiles, 3, side, side)."""
    import numpy as np
    from PIL import Image

    side = tiling.side
    columns, rows = choose_grid(*picture.size, tiling)
    scaled = picture.resize((columns * side, rows * side), Image.Resampling.BICUBIC)
    corners = [(x * side, y * side) for y in range(rows) for x in range(columns)]
    tiles = [scaled.crop((x, y, x + side, y + side)) for x, y in corners]
    if tiling.thumbnail and len(tiles) > 1:
        tiles.append(picture.resize((side, side), Image.Resampling.BICUBIC))
    values = np.stack([np.asarray(tile, dtype=np.float32) for tile in tiles]) / 255
    mean, deviation = (np.array(colours, dtype=np.float32) for colours in (MEAN, DEVIATION))
    normalised = ((values - mean) / deviation).astype(np.float32)
    return np.ascontiguousarray(normalised.transpose(0, 3, 1, 2))
