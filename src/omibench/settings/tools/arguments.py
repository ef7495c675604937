"""The arguments of each tool, as a model writes them, checked before anything is drawn.

Positions are fractions of a picture's width and height, so that they apply at every size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from omibench.schemas.request import ToolSpec
from omibench.text.lists import list_first

LONGEST = 8000
"""Maximum characters of the arguments of one call."""
LONGEST_TEXT = 80
_MOST_FAULTS = 3
"""Maximum errors of one call that are reported to the model."""

Share = Annotated[float, Field(ge=0, le=1)]
Point = Annotated[list[Share], Field(min_length=2, max_length=2, description="[x, y]")]
Colour = Literal["red", "blue", "green", "orange", "purple", "black", "white"]
Words = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Picture = Annotated[str, Field(max_length=40, description="name of a picture, such as image_1")]


def _wide(box: list[float]) -> list[float]:
    if box[0] >= box[2] or box[1] >= box[3]:
        raise ValueError("a box is [left, top, right, bottom], with left < right and top < bottom")
    return box


Box = Annotated[
    list[Share],
    Field(min_length=4, max_length=4, description="[left, top, right, bottom]"),
    AfterValidator(_wide),
]
Boxes = Annotated[list[Box], Field(min_length=1, max_length=8)]


class Arguments(BaseModel):
    """Arguments of a tool that looks at one picture. An unknown name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    image: Picture

    @property
    def sources(self) -> list[str]:
        """The names of its input pictures."""
        return [self.image]


class Look(Arguments):
    """Look at a picture again."""


class Crop(Arguments):
    """Cut a box out of a picture, at its full resolution."""

    box: Box


class Zoom(Arguments):
    """Cut a box out of a picture and enlarge it."""

    box: Box
    times: Annotated[float, Field(ge=1, le=8)] = 3


class DrawPoints(Arguments):
    """Mark points on a copy of a picture, each with its label if labels are given."""

    points: Annotated[list[Point], Field(min_length=1, max_length=40)]
    labels: Annotated[list[Words], Field(max_length=40)] = []
    color: Colour = "red"


class DrawLines(Arguments):
    """Draw straight lines on a copy of a picture, each from [x0, y0] to [x1, y1]."""

    lines: Annotated[
        list[
            Annotated[
                list[Share], Field(min_length=4, max_length=4, description="[x0, y0, x1, y1]")
            ]
        ],
        Field(min_length=1, max_length=40),
    ]
    color: Colour = "red"


class DrawShape(Arguments):
    """Draw an outline on a copy of a picture.

    A rectangle or ellipse takes two opposite corners of its box, a polygon its corners.
    """

    shape: Literal["rectangle", "ellipse", "polygon"]
    points: Annotated[list[Point], Field(min_length=2, max_length=40)]
    color: Colour = "red"

    @model_validator(mode="after")
    def _corners(self) -> Self:
        if self.shape == "polygon" and len(self.points) < 3:
            raise ValueError("a polygon has at least 3 points")
        if self.shape != "polygon" and len(self.points) != 2:
            raise ValueError(f"a {self.shape} takes 2 points, opposite corners of its box")
        return self


class DrawText(Arguments):
    """Write a short text on a copy of a picture; `at` is its upper left corner."""

    text: Words
    at: Point
    color: Colour = "red"


class Highlight(Arguments):
    """Fade everything but some boxes on a copy of a picture."""

    boxes: Boxes


class Blur(Arguments):
    """Blur boxes on a copy of a picture, so that they do not distract."""

    boxes: Boxes


class SideBySide(BaseModel):
    """Place pictures side by side on one canvas, each under its name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    images: Annotated[list[Picture], Field(min_length=2, max_length=6)]

    @property
    def sources(self) -> list[str]:
        """The names of its input pictures."""
        return list(self.images)


class Code(BaseModel):
    """Run Python code, as in a notebook without network.

    `images` has the pictures by name (of Pillow); `show(picture)` makes a picture, an array or a
    figure a result; what the code prints is returned. Variables last from call to call, and files
    that are written to the current folder; no other process or thread can start.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: Annotated[str, Field(min_length=1, max_length=LONGEST, description="Python code")]

    @property
    def sources(self) -> list[str]:
        """None: code can use every picture."""
        return []


class Detect(Arguments):
    """Find objects that are named in words: their boxes, on a copy of the picture and as shares."""

    objects: Annotated[list[Words], Field(min_length=1, max_length=8)]


class Segment(Arguments):
    """Mark the exact area of the object in each box, on a copy of a picture."""

    boxes: Boxes


class Depth(Arguments):
    """Estimate how near each place of a photograph is, as a grey picture."""


class ReadText(Arguments):
    """Read the printed text of a picture."""


ToolArguments = Arguments | SideBySide | Code
KINDS: dict[str, type[ToolArguments]] = {
    "look": Look,
    "crop": Crop,
    "zoom": Zoom,
    "draw_points": DrawPoints,
    "draw_lines": DrawLines,
    "draw_shape": DrawShape,
    "draw_text": DrawText,
    "highlight": Highlight,
    "blur": Blur,
    "side_by_side": SideBySide,
    "python": Code,
    "detect": Detect,
    "segment": Segment,
    "depth": Depth,
    "read_text": ReadText,
}
SAMPLES: dict[str, str] = {
    "python": '{"code": "0"}',
    "detect": '{"image": "image_1", "objects": ["line"]}',
    "segment": '{"image": "image_1", "boxes": [[0, 0, 1, 1]]}',
    "depth": '{"image": "image_1"}',
    "read_text": '{"image": "image_1"}',
}
"""Valid arguments of the tools that other blocks carry out, for plans."""


@lru_cache(maxsize=32)
def specs(offered: Sequence[str]) -> tuple[ToolSpec, ...]:
    """Return the tools as offered to a model, with schemas without titles."""
    return tuple(
        ToolSpec(
            name=name,
            description=" ".join((KINDS[name].__doc__ or "").split()),
            parameters=_schema(KINDS[name]),
        )
        for name in offered
    )


def read_arguments(name: str, text: str) -> ToolArguments:
    """Parse the arguments of a call from JSON text. Raises ValueError with the correction."""
    if len(text) > LONGEST:
        raise ValueError(f"the arguments have {len(text)} characters, and {LONGEST} are read")
    try:
        return KINDS[name].model_validate_json(text or "{}")
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        raise ValueError(list_first(list(map(_fault, faults)), _MOST_FAULTS, "; ")) from None


def _fault(fault: Any) -> str:
    place = ".".join(str(step)[:40] for step in fault["loc"])
    message = str(fault["msg"]).removeprefix("Value error, ")[:200]
    return f"{place}: {message}" if place else message


def _schema(kind: type[ToolArguments]) -> dict[str, Any]:
    schema = kind.model_json_schema()
    del schema["description"]
    return dict(_plain(schema))


def _plain(schema: Any) -> Any:
    """Return a JSON schema without titles, which only repeat the names."""
    if isinstance(schema, list):
        return [_plain(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: _plain(v) for k, v in schema.items() if k != "title" or isinstance(v, dict)}
