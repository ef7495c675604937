"""The picture edits of the tools: pure functions of pictures and checked arguments.

Every result is an RGB picture of at most `MOST_PIXELS`. The same arguments on the same pictures
give the same pixels; text is drawn in Pillow's built-in typeface.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.params.setting import Tools
from omibench.schemas.request import (
    STOPPED,
    Conversation,
    ImagePart,
    Message,
    Response,
    TextPart,
    ToolCall,
)
from omibench.settings.pictures import Recipe, make, read_size
from omibench.settings.tools import (
    Arguments,
    Code,
    Crop,
    SideBySide,
    ToolArguments,
    Zoom,
    read_arguments,
)

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

MOST_PIXELS = 2**20
_CANVAS = 560
"""Height in pixels of pictures placed side by side."""


def apply_edit(
    name: str, arguments: ToolArguments, names: Sequence[str], images: Sequence[Image]
) -> Image:
    """Return the picture that a tool makes of others, given in the order of its arguments."""
    return shrink_to_limit(_EDITS[name](arguments, names, images))


def scale_box(size: tuple[int, int], box: Sequence[float]) -> tuple[int, int, int, int]:
    """Return a box in whole pixels: left, top, right, bottom; never empty."""
    left, top = (min(int(at * side), side - 1) for at, side in zip(box, size, strict=False))
    right, bottom = (ceil(at * side) for at, side in zip(box[2:], size, strict=True))
    return left, top, max(right, left + 1), max(bottom, top + 1)


def shrink_to_limit(image: Image) -> Image:
    """Scale the picture down to `MOST_PIXELS`."""
    scale = sqrt(MOST_PIXELS / (image.width * image.height))
    return _scale(image, scale) if scale < 1 else image


def _scale(image: Image, scale: float) -> Image:
    from PIL import Image

    size = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)


def _crop(arguments: Any, _: Sequence[str], images: Sequence[Image]) -> Image:
    return _cut(images[0], arguments.box)


def _zoom(arguments: Any, _: Sequence[str], images: Sequence[Image]) -> Image:
    part = _cut(images[0], arguments.box)
    largest_scale = sqrt(MOST_PIXELS / (part.width * part.height))
    return _scale(part, min(arguments.times, largest_scale))


def _draw_points(arguments: Any, _: Sequence[str], images: Sequence[Image]) -> Image:
    image, draw, unit = _sheet(images[0])
    labels = [*arguments.labels, *[""] * len(arguments.points)]
    for (x, y), label in zip(_places(image, arguments.points), labels, strict=False):
        draw.ellipse(_around(x, y, 2 * unit), fill="white")
        draw.ellipse(_around(x, y, 1.5 * unit), fill=arguments.color)
        if label:
            _write(draw, (x + 3 * unit, y - 3 * unit), label, arguments.color, image)
    return image


def _draw_lines(arguments: Any, _: Sequence[str], images: Sequence[Image]) -> Image:
    image, draw, unit = _sheet(images[0])
    for line in arguments.lines:
        draw.line(_places(image, [line[:2], line[2:]]), fill=arguments.color, width=unit)
    return image


def _draw_shape(arguments: Any, _: Sequence[str], images: Sequence[Image]) -> Image:
    image, draw, unit = _sheet(images[0])
    places = _places(image, arguments.points)
    if arguments.shape == "polygon":
        draw.line([*places, places[0], places[1]], fill=arguments.color, width=unit, joint="curve")
        return image
    (x0, x1), (y0, y1) = (sorted(pair) for pair in zip(*places, strict=True))
    outline = draw.rectangle if arguments.shape == "rectangle" else draw.ellipse
    outline((x0, y0, x1, y1), outline=arguments.color, width=unit)
    return image


def _draw_text(arguments: Any, _: Sequence[str], images: Sequence[Image]) -> Image:
    image, draw, _unit = _sheet(images[0])
    (at,) = _places(image, [arguments.at])
    _write(draw, at, arguments.text, arguments.color, image)
    return image


def _highlight(arguments: Any, _: Sequence[str], images: Sequence[Image]) -> Image:
    from PIL import Image, ImageDraw

    image = shrink_to_limit(images[0])
    faded = Image.blend(image, Image.new("RGB", image.size, "white"), 0.7)
    frame = ImageDraw.Draw(faded)
    for box in arguments.boxes:
        left, top, right, bottom = scale_box(image.size, box)
        frame.rectangle((left - 2, top - 2, right + 1, bottom + 1), fill="orange")
    for box in arguments.boxes:
        pixels = scale_box(image.size, box)
        faded.paste(image.crop(pixels), pixels[:2])
    return faded


def _blur(arguments: Any, _: Sequence[str], images: Sequence[Image]) -> Image:
    from PIL import ImageFilter

    image = shrink_to_limit(images[0]).copy()
    blurred = image.filter(ImageFilter.GaussianBlur(max(image.size) / 50))
    for box in arguments.boxes:
        pixels = scale_box(image.size, box)
        image.paste(blurred.crop(pixels), pixels[:2])
    return image


def _side_by_side(_: Any, names: Sequence[str], images: Sequence[Image]) -> Image:
    from PIL import Image, ImageDraw

    gap, head = 12, 30
    # At most four times as wide as high: a longer strip would be scaled to nothing.
    parts = [_scale(i, min(_CANVAS / i.height, 4 * _CANVAS / i.width)) for i in images]
    width = sum(part.width for part in parts) + gap * (len(parts) + 1)
    height = max(part.height for part in parts) + head + gap
    canvas = Image.new("RGB", (width, height), "white")
    draw, x = ImageDraw.Draw(canvas), gap
    for name, part in zip(names, parts, strict=True):
        draw.text((x, 5), name, fill="black", font=_font(18))
        canvas.paste(part, (x, head))
        draw.rectangle((x - 1, head - 1, x + part.width, head + part.height), outline="gray")
        x += part.width + gap
    return canvas


_EDITS: dict[str, Callable[[Any, Sequence[str], Sequence[Any]], Any]] = {
    "crop": _crop,
    "zoom": _zoom,
    "draw_points": _draw_points,
    "draw_lines": _draw_lines,
    "draw_shape": _draw_shape,
    "draw_text": _draw_text,
    "highlight": _highlight,
    "blur": _blur,
    "side_by_side": _side_by_side,
}


def _cut(image: Image, box: Sequence[float]) -> Image:
    return image.crop(scale_box(image.size, box))


def _sheet(image: Image) -> tuple[Image, ImageDraw, int]:
    """Return a copy to draw on, and its stroke width in pixels."""
    from PIL import ImageDraw

    copy = shrink_to_limit(image).copy()
    return copy, ImageDraw.Draw(copy), max(2, round(max(copy.size) / 220))


def _write(draw: ImageDraw, at: tuple[float, float], text: str, color: str, image: Image) -> None:
    """Write on a plate of contrasting tone, inside the picture if it fits."""
    line = "".join(c for c in text if unicodedata.category(c)[0] != "C")
    font = _font(max(12, round(max(image.size) / 32)))
    _, _, width, height = draw.textbbox((0, 0), line, font=font)
    x = max(0, min(at[0], image.width - width - 4))
    y = max(0, min(at[1], image.height - height - 4))
    plate = "black" if color == "white" else "white"
    draw.rectangle((x, y, x + width + 4, y + height + 4), fill=plate)
    draw.text((x + 2, y + 1), line, fill=color, font=font)


def _font(size: int) -> FreeTypeFont | ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _places(image: Image, points: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    return [(round(x * (image.width - 1)), round(y * (image.height - 1))) for x, y in points]


def _around(x: float, y: float, radius: float) -> tuple[float, float, float, float]:
    return x - radius, y - radius, x + radius, y + radius


# The bench: pictures by name, and the results of the calls on them.
#
# A call never fails: if it cannot be run, its text states why. Its result depends only on the bytes
# of its pictures and on its arguments, and is kept (`settings.pictures`), so a repeated loop finds
# the same pictures.

LEAST_SIDE = 8
"""Minimum side in pixels of a crop."""
LONGEST_ERROR, LONGEST_OUTPUT = 2000, 24_000
"""Maximum characters of an error and of the output of a tool that a model is shown."""


upright_size = cache(read_size)


class CallError(Exception):
    """A call that cannot be run, with a message for the model."""


class Result(NamedTuple):
    """The result of a call: text, and its pictures, if any."""

    text: str
    images: tuple[ImagePart, ...] = ()


class Errand(NamedTuple):
    """What a call needs first: the response of the model block that carries out its tool."""

    conversation: Conversation
    model: str


class Bench:
    """The pictures of one loop. `shown_count` counts those in its conversation.

    `replies` are the responses of the loop; the next one is that of the next errand.
    """

    def __init__(
        self,
        tools: Tools,
        pictures: Sequence[ImagePart],
        folder: Path,
        shown_count: int,
        replies: Iterator[Response],
    ):
        self.tools, self.folder, self.shown_count = tools, folder, shown_count
        self.named = {f"image_{n}": image for n, image in enumerate(pictures, start=1)}
        self._replies = replies
        self._result_count = 0
        self._cells: tuple[Message, ...] = ()
        self._new = dict(self.named)
        """The pictures that no code has seen."""

    @property
    def inventory(self) -> str:
        """`image_1 (640 x 480 pixels), image_2 (...)`."""
        return ", ".join(_describe_picture(name, image) for name, image in self.named.items())

    def run(self, call: ToolCall) -> Result | Errand:
        """Run a call. Raises as `make` does if the file of a picture cannot be used."""
        try:
            return self._run(call)
        except CallError as error:
            return Result(f"Error: {error}"[:LONGEST_ERROR])

    def _run(self, call: ToolCall) -> Result | Errand:
        name = self._tool(call)
        try:
            arguments = read_arguments(name, call.arguments)
        except ValueError as error:
            raise CallError(f"the arguments of {name} are wrong: {error}") from None
        if isinstance(arguments, Code):
            return self._run_code(arguments.code)
        sources = tuple(map(self._picture, arguments.sources))
        if name in self.tools.by:
            return self._ask_expert(name, arguments, sources[0])
        self._check_room()
        if name == "look":
            self.shown_count += 1
            return Result(
                f"{_describe_picture(arguments.sources[0], sources[0])}, again.", sources[:1]
            )
        _check_size(arguments, sources[0])
        image = _draw_picture(name, arguments, sources, self.folder)
        label = self._add(image)
        return Result(f"{label}: {name} of {', '.join(arguments.sources)}.", (image,))

    def _run_code(self, code: str) -> Result | Errand:
        parts = [part for n, i in self._new.items() for part in (TextPart(text=n), i)]
        cell = Message(role="user", parts=(*parts, TextPart(text=code)))
        response = next(self._replies, None)
        if response is None:
            return Errand(Conversation(messages=(*self._cells, cell)), self.tools.by["python"])
        if response.finish_reason != STOPPED:
            self._cells, self._new = (*self._cells, cell), {}
        return self._take(response)

    def _ask_expert(self, name: str, arguments: ToolArguments, image: ImagePart) -> Result | Errand:
        response = next(self._replies, None)
        if response is not None:
            return self._take(response)
        values = arguments.model_dump(mode="json", exclude={"image"})
        text = json.dumps({"tool": name, "arguments": values}, sort_keys=True)
        message = Message(role="user", parts=(TextPart(text=text), image))
        carrier = next(carrier for tool, carrier in self.tools.by.items() if tool == name)
        return Errand(Conversation(messages=(message,)), carrier)

    def _take(self, response: Response) -> Result:
        """Return the result of a tool that another block carried out, its pictures named."""
        room = max(0, self.tools.images - self.shown_count)
        images = response.drawn[:room]
        lines = [response.text[:LONGEST_OUTPUT], *(f"{self._add(image)}." for image in images)]
        if left_out := len(response.drawn[room:]):
            lines.append(f"{left_out} more pictures cannot be shown.")
        return Result("\n".join(lines), images)

    def _add(self, image: ImagePart) -> str:
        """Name a result, and return its name and size."""
        self.shown_count += 1
        self._result_count += 1
        name = f"result_{self._result_count}"
        self.named[name] = self._new[name] = image
        return _describe_picture(name, image)

    def _check_room(self) -> None:
        if self.shown_count >= self.tools.images:
            raise CallError(
                f"no more pictures can be shown, since {self.shown_count} have been; "
                "answer from these"
            )

    def _tool(self, call: ToolCall) -> str:
        if not call.name:
            raise CallError(f"the call cannot be read: {call.arguments}")
        if call.name in self.tools.names:
            return call.name
        names = ", ".join(self.tools.names)
        raise CallError(f"there is no tool {call.name[:40]!r}; there are: {names}")

    def _picture(self, name: str) -> ImagePart:
        image = self.named.get(name)
        if image is None:
            names = ", ".join(self.named)
            raise CallError(f"there is no picture {name!r}; there are: {names}")
        return image


def _check_size(arguments: ToolArguments, image: ImagePart) -> None:
    # Checked before anything is drawn, so that planning, which draws nothing, has the same result.
    size = upright_size(image.path)
    if size is None or not isinstance(arguments, Crop | Zoom):
        return
    left, top, right, bottom = scale_box(size, arguments.box)
    if min(right - left, bottom - top) < min(LEAST_SIDE, *size):
        raise CallError(f"the box has {right - left} x {bottom - top} pixels: take a larger one")


def _describe_picture(name: str, image: ImagePart) -> str:
    size = upright_size(image.path)
    return f"{name} ({size[0]} x {size[1]} pixels)" if size else name


def _draw_picture(
    name: str, arguments: Arguments | SideBySide, sources: tuple[ImagePart, ...], folder: Path
) -> ImagePart:
    parameters = {"tool": name, **arguments.model_dump(mode="json")}

    def draw(images: Sequence[Image]) -> Image:
        return apply_edit(name, arguments, arguments.sources, images)

    return make(Recipe(folder, name, parameters), sources, draw)
