"""The bench: pictures by name, and what becomes of the calls that work on them.

A call never fails: one that cannot be carried out has a text that says why. What a call makes
depends on the bytes of its pictures and on its arguments alone, and is kept (`pictures.made`), so
that a loop that is gone through again finds the same pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.cost.tokens import image_size
from omibench.files.intake import open_regular
from omibench.files.intake.picture import READERS
from omibench.params.tool import ToolName, Tools
from omibench.schemas.request import ImagePart, ToolCall
from omibench.settings.pictures.made import Recipe, make
from omibench.settings.tools.arguments import Crop, Taken, Zoom, read_arguments
from omibench.settings.tools.edits import apply_edit, pixels_of

if TYPE_CHECKING:
    from PIL.Image import Image


LEAST_SIDE = 8
"""Pixels of the smallest side of what may be cut out."""
_TURNED = {5, 6, 7, 8}
"""EXIF's orientations that lay a picture on its side."""


class CallError(Exception):
    """A call that cannot be carried out, in words for the model."""


class Result(NamedTuple):
    """What a call gave: words, and the picture that they speak of if there is one."""

    text: str
    image: ImagePart | None = None


class Bench:
    """The pictures of one loop. `shown` counts those that stand in its conversation."""

    def __init__(self, tools: Tools, pictures: Sequence[ImagePart], folder: Path, shown: int):
        self.tools, self.folder, self.shown = tools, folder, shown
        self.named = {f"image_{n}": image for n, image in enumerate(pictures, start=1)}
        self._made = 0

    @property
    def inventory(self) -> str:
        """`image_1 (640 x 480 pixels), image_2 (...)`."""
        return ", ".join(_sized(name, image) for name, image in self.named.items())

    def run(self, call: ToolCall) -> Result:
        """Carry out a call. Raises as `make` does when the file of a picture cannot be used."""
        try:
            return self._run(call)
        except CallError as error:
            return Result(f"Error: {error}")

    def _run(self, call: ToolCall) -> Result:
        name = self._tool(call)
        try:
            taken = read_arguments(name, call.arguments)
        except ValueError as error:
            raise CallError(f"the arguments of {name} are wrong: {error}") from None
        sources = tuple(map(self._picture, taken.sources))
        if self.shown >= self.tools.images:
            raise CallError(
                f"no more pictures can be shown, since {self.shown} have been; answer from these"
            )
        if name == "look":
            self.shown += 1
            return Result(f"{_sized(taken.sources[0], sources[0])}, again.", sources[0])
        _check_room(taken, sources[0])
        image = _made(name, taken, sources, self.folder)
        self.shown += 1
        self._made += 1
        own = f"result_{self._made}"
        self.named[own] = image
        return Result(f"{_sized(own, image)}: {name} of {', '.join(taken.sources)}.", image)

    def _tool(self, call: ToolCall) -> ToolName:
        if not call.name:
            raise CallError(f"the call cannot be read: {call.arguments}")
        for name in self.tools.offered:
            if name == call.name:
                return name
        there = ", ".join(self.tools.offered)
        raise CallError(f"there is no tool {call.name[:40]!r}; there are: {there}")

    def _picture(self, name: str) -> ImagePart:
        image = self.named.get(name)
        if image is None:
            there = ", ".join(self.named)
            raise CallError(f"there is no picture {name!r}; there are: {there}")
        return image


def _check_room(taken: Taken, image: ImagePart) -> None:
    # Before anything is drawn, so that looking ahead, which draws nothing, comes to the same.
    size = upright_size(image.path)
    if size is None or not isinstance(taken, Crop | Zoom):
        return
    left, top, right, bottom = pixels_of(size, taken.box)
    if min(right - left, bottom - top) < min(LEAST_SIDE, *size):
        raise CallError(f"the box has {right - left} x {bottom - top} pixels: take a larger one")


@cache
def upright_size(path: str) -> tuple[int, int] | None:
    """Width and height in pixels of a picture as it is shown; None when it has none to read."""
    from PIL import Image

    size = image_size(path)
    if size is None:
        return None
    with open_regular(path) as file, Image.open(file, formats=READERS) as image:
        turned = image.format in ("JPEG", "MPO") and image.getexif().get(0x0112) in _TURNED
    return size[::-1] if turned else size


def _sized(name: str, image: ImagePart) -> str:
    size = upright_size(image.path)
    return f"{name} ({size[0]} x {size[1]} pixels)" if size else name


def _made(name: ToolName, taken: Taken, sources: tuple[ImagePart, ...], folder: Path) -> ImagePart:
    how = {"tool": name, **taken.model_dump(mode="json")}

    def draw(images: Sequence[Image]) -> Image:
        return apply_edit(name, taken, taken.sources, images)

    return make(Recipe(folder, name, how), sources, draw)
