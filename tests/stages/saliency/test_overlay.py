"""Heat maps: red supports, blue speaks against, equal effects are equally strong."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from omibench.schemas.columns import map_file
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


def test_without_any_effect_the_picture_stays() -> None:
    heat = overlay(Image.new("RGB", (80, 60), "white"), [Effect((0, 0, 56), 0.0)], "nothing")
    assert pixel(heat, 5, 5) == (255, 255, 255)


def test_a_problem_names_no_path() -> None:
    assert map_file(Path("maps"), "../etc/p 1", 0, "A/B").as_posix() == "maps/..-etc-p-1-0-A-B.png"
