"""The bench: pictures by name, and the results of the calls on them.

A call never fails: if it cannot be run, its text states why. Its result depends only on the bytes
of its pictures and on its arguments, and is kept (`pictures.made`), so that a repeated loop finds
the same pictures.
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
from omibench.settings.tools.arguments import Crop, ToolArguments, Zoom, read_arguments
from omibench.settings.tools.edits import apply_edit, scale_box

if TYPE_CHECKING:
    from PIL.Image import Image


LEAST_SIDE = 8
"""Minimum side in pixels of a crop."""
_TURNED = {5, 6, 7, 8}
"""EXIF orientations that lay a picture on its side."""


class CallError(Exception):
    """A call that cannot be run, with a message for the model."""


class Result(NamedTuple):
    """The result of a call: text, and its picture, if any."""

    text: str
    image: ImagePart | None = None


class Bench:
    """The pictures of one loop. `shown_count` counts those in its conversation."""

    def __init__(self, tools: Tools, pictures: Sequence[ImagePart], folder: Path, shown_count: int):
        self.tools, self.folder, self.shown_count = tools, folder, shown_count
        self.named = {f"image_{n}": image for n, image in enumerate(pictures, start=1)}
        self._result_count = 0

    @property
    def inventory(self) -> str:
        """`image_1 (640 x 480 pixels), image_2 (...)`."""
        return ", ".join(_describe_picture(name, image) for name, image in self.named.items())

    def run(self, call: ToolCall) -> Result:
        """Run a call. Raises as `make` does if the file of a picture cannot be used."""
        try:
            return self._run(call)
        except CallError as error:
            return Result(f"Error: {error}")

    def _run(self, call: ToolCall) -> Result:
        name = self._tool(call)
        try:
            arguments = read_arguments(name, call.arguments)
        except ValueError as error:
            raise CallError(f"the arguments of {name} are wrong: {error}") from None
        sources = tuple(map(self._picture, arguments.sources))
        if self.shown_count >= self.tools.images:
            raise CallError(
                f"no more pictures can be shown, since {self.shown_count} have been; "
                "answer from these"
            )
        if name == "look":
            self.shown_count += 1
            return Result(
                f"{_describe_picture(arguments.sources[0], sources[0])}, again.", sources[0]
            )
        _check_room(arguments, sources[0])
        image = _draw_picture(name, arguments, sources, self.folder)
        self.shown_count += 1
        self._result_count += 1
        result_name = f"result_{self._result_count}"
        self.named[result_name] = image
        return Result(
            f"{_describe_picture(result_name, image)}: {name} of {', '.join(arguments.sources)}.",
            image,
        )

    def _tool(self, call: ToolCall) -> ToolName:
        if not call.name:
            raise CallError(f"the call cannot be read: {call.arguments}")
        for name in self.tools.offered:
            if name == call.name:
                return name
        names = ", ".join(self.tools.offered)
        raise CallError(f"there is no tool {call.name[:40]!r}; there are: {names}")

    def _picture(self, name: str) -> ImagePart:
        image = self.named.get(name)
        if image is None:
            names = ", ".join(self.named)
            raise CallError(f"there is no picture {name!r}; there are: {names}")
        return image


def _check_room(arguments: ToolArguments, image: ImagePart) -> None:
    # Checked before anything is drawn, so that planning, which draws nothing, has the same result.
    size = upright_size(image.path)
    if size is None or not isinstance(arguments, Crop | Zoom):
        return
    left, top, right, bottom = scale_box(size, arguments.box)
    if min(right - left, bottom - top) < min(LEAST_SIDE, *size):
        raise CallError(f"the box has {right - left} x {bottom - top} pixels: take a larger one")


@cache
def upright_size(path: str) -> tuple[int, int] | None:
    """Return width and height in pixels of a picture as shown; None if they cannot be read."""
    from PIL import Image

    size = image_size(path)
    if size is None:
        return None
    with open_regular(path) as file, Image.open(file, formats=READERS) as image:
        turned = image.format in ("JPEG", "MPO") and image.getexif().get(0x0112) in _TURNED
    return size[::-1] if turned else size


def _describe_picture(name: str, image: ImagePart) -> str:
    size = upright_size(image.path)
    return f"{name} ({size[0]} x {size[1]} pixels)" if size else name


def _draw_picture(
    name: ToolName, arguments: ToolArguments, sources: tuple[ImagePart, ...], folder: Path
) -> ImagePart:
    parameters = {"tool": name, **arguments.model_dump(mode="json")}

    def draw(images: Sequence[Image]) -> Image:
        return apply_edit(name, arguments, arguments.sources, images)

    return make(Recipe(folder, name, parameters), sources, draw)
