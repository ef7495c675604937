"""Pictures of synthetic problems: small, distinct PNG files."""

from __future__ import annotations

import hashlib
from io import BytesIO

from omibench.synthetic.items import Drawing

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
