"""Opening: every mode as a viewer shows it."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from tests.settings.pictures.drawn import drawn

from omibench.settings.pictures import decode_picture


def as_file(image: Image.Image, kind: str = "PNG", **how: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **how)
    return file.getvalue()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA"])
def test_every_mode_becomes_rgb(mode: str) -> None:
    image = drawn((30, 20), mode=mode)
    opened = decode_picture(as_file(image), "x.png")
    assert not opened.jpeg
    assert opened.image.tobytes() == image.convert("RGB").tobytes()


def test_what_is_transparent_is_white() -> None:
    clear = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    assert decode_picture(as_file(clear), "x").image.getpixel((1, 1)) == (255, 255, 255)


def test_sixteen_bits_are_scaled_not_clipped() -> None:
    deep = Image.new("I;16", (4, 4), 256 * 100)
    assert decode_picture(as_file(deep), "x").image.getpixel((1, 1)) == (100, 100, 100)


def test_a_photograph_is_turned_as_its_camera_says() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    opened = decode_picture(as_file(drawn((30, 20)), "JPEG", exif=exif), "x.jpg")
    assert opened.jpeg
    assert opened.image.size == (20, 30)
