"""Heat maps: red supports, blue speaks against, equal effects are equally strong."""

from __future__ import annotations

from PIL import Image

from omibench.stages.saliency.maps import LETTERS, PAD, Effect, overlay

TOP = LETTERS + 2 * PAD


def pixel(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    found = image.getpixel((x + PAD // 2, y + TOP))
    assert isinstance(found, tuple)
    return found


def test_colours_are_symmetric() -> None:
    grey = Image.new("RGB", (200, 120), (128, 128, 128))
    shown = [Effect((0, 0, 50), 0.8), Effect((100, 0, 50), -0.8)]
    heat = overlay(grey, shown, "a caption")
    red, blue = pixel(heat, 10, 10), pixel(heat, 110, 10)
    assert red[0] - red[2] > 50
    assert blue[2] - blue[0] > 50
    assert pixel(heat, 70, 60) == (128, 128, 128), "where nothing is shown the picture is as it was"
