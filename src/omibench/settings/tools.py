"""Thinking with images: the arguments of tools, checked, and their instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from omibench.params.setting import Manner, Tools
from omibench.schemas.request import NOT_YET, ToolSpec, write_call
from omibench.settings.prompts import (
    PromptEntry,
    Slot,
    add_prompt,
    fill_text,
    read_wording,
)
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


# The instructions for tools, and the stages of each manner.
#
# `sketch` follows the idea of Visual Sketchpad as OMIBench uses it over several images (I.1);
# `slow` and `flow` follow the ideas of SlowPerception (perceive a figure stroke by stroke before
# anything else) and CogFlow (perceive, turn the perceptions into statements, then reason from
# these), which OMIBench tests as frameworks (6.4). All wording is ours, and none of the three
# implements those systems.

MOST_CALLS = 8
"""Maximum calls of one turn that are run."""


class Way(NamedTuple):
    """How a model should proceed: rules, and the task of each stage before the last.

    `stages[0]` follows the problem; each later one is sent when the stage before it has ended.
    """

    rules: str = ""
    stages: tuple[str, ...] = ("",)
    rules_of_one: str = ""
    """The rules for a problem with one picture, if they differ."""


_SKETCH = (
    "Work as with a sketchpad, in rounds of three: say what you need to see or check next, "
    "make the one sketch that shows it (an auxiliary line, marked points, a part enlarged, "
    "what distracts blurred{across}), and say what the sketch tells you. "
)
_SOLVE = "in the format that was asked for at the beginning"
WAYS: dict[Manner, Way] = {
    "free": Way(),
    "sketch": Way(
        _SKETCH.format(across=", two pictures side by side")
        + "Take every picture of the problem into account, not one alone; mark what belongs "
        "together in several pictures in the same colour; make no sketch that would tell you "
        "nothing new. ",
        rules_of_one=_SKETCH.format(across="") + "Make no sketch that would tell you nothing new. ",
    ),
    "slow": Way(
        "Perceive first and solve later. ",
        (
            f"For now, {NOT_YET}. First read its pictures slowly, one after the other. "
            "Begin each with its simplest parts, and go along every line, curve or bond stroke by "
            "stroke, a long one in short stretches: where it begins, which way it goes, how long "
            "it is against what you have read already, where it ends or meets another. Then read "
            "the labels, numbers, units and axes, and say which part each belongs to. Look closer "
            "wherever you are not sure, and correct what you then see otherwise. End with the "
            "complete reading of every picture, and no answer.",
            "Now solve the problem from your reading. Where the pictures have to be taken "
            f"together, say how. Give the final answer {_SOLVE}.",
        ),
    ),
    "flow": Way(
        "Work in three steps: perceive, make it your own, reason. ",
        (
            f"Step 1, perceive; {NOT_YET}. List what each picture shows that "
            "the problem may need, one short line for each object, relation, label and value, "
            "with the picture that it is in. Look closer where you are not sure.",
            "Step 2, make it your own. Turn these lines into statements to reason with: "
            "equations, inequalities, orders, facts of the subject that they bring in, and what "
            "is the same thing in several pictures. Number the statements, strike out any that "
            f"no line of step 1 supports, and {NOT_YET}.",
            "Step 3, reason. Solve the problem from the numbered statements alone, and name the "
            "statement that each step rests on. If one is missing, go back to the picture for it. "
            f"Give the final answer {_SOLVE}.",
        ),
    ),
}


def _describe(name: str, purpose: str, text: str, *slots: Slot) -> PromptEntry:
    owner = f"respondent ({name})"
    return PromptEntry(name, purpose, text, slots, owner=owner, is_fragment=True)


_ENTRIES = (
    add_prompt(_describe(
        "tools",
        "says what the tools are for, before the problem",
        "You can look closer at the pictures of the problem, and draw on copies of them, with "
        "tools. {calls}The pictures are called, in the order in which they stand in the problem: "
        "{pictures}. What a tool makes is a new picture (result_1, result_2, ...), which later "
        "calls can use too. Places are shares of a picture's width and height: [0, 0] is its "
        "upper left corner and [1, 1] its lower right one. At most {most_calls} calls of a turn "
        "are carried out, and you have {turns} with calls. {manner}Once you need no more tools, go "
        "on without calling any.",
        Slot("calls", "how tools are called, from tools-native or tools-text"),
        Slot("pictures", "the names of the pictures, in their order"),
        Slot("most_calls", "how many calls of a turn are carried out", required=False),
        Slot("turns", "how many turns may call", required=False),
        Slot("manner", "the rules of the setting's manner, such as tools-sketch", required=False),
    )),
    add_prompt(_describe(
        "tools-native",
        "says how tools of the provider's interface are called",
        "You call them as tools. ",
    )),
    add_prompt(_describe(
        "tools-text",
        "says how tools are called in blocks of text",
        "To call one, end your message with a block like this:\n\n{example}\n\n"
        "Several blocks may follow each other; write nothing after them, since the results come "
        "in the next message. The tools are:\n\n{tools}\n\n",
        Slot("example", "a call as it is to be written"),
        Slot("tools", "every tool with its arguments, one a line"),
    )),
    add_prompt(_describe(
        "tools-end",
        "asks for the answer after the last turn with calls",
        f"You cannot call tools any more: give the final answer {_SOLVE}.",
    )),
    add_prompt(_describe(
        "tools-end-step",
        "ends a stage after the last turn with calls",
        "You cannot call tools any more: end this step in words.",
    )),
    add_prompt(_describe(
        "tools-left-out",
        "says that calls were too many",
        "Only the first {most_calls} of your {calls} calls were carried out.",
        Slot("most_calls", "how many calls were carried out", required=False),
        Slot("calls", "how many there were", required=False),
    )),
    add_prompt(_describe("tools-sketch", "rules of the manner `sketch`", WAYS["sketch"].rules)),
    add_prompt(_describe(
        "tools-sketch-one",
        "rules of the manner `sketch` for a problem with one picture",
        WAYS["sketch"].rules_of_one,
    )),
    add_prompt(_describe("tools-slow", "rules of the manner `slow`", WAYS["slow"].rules)),
    add_prompt(_describe(
        "tools-slow-1", "stage 1 of the manner `slow`", WAYS["slow"].stages[0]
    )),
    add_prompt(_describe(
        "tools-slow-2", "stage 2 of the manner `slow`", WAYS["slow"].stages[1]
    )),
    add_prompt(_describe("tools-flow", "rules of the manner `flow`", WAYS["flow"].rules)),
    add_prompt(_describe(
        "tools-flow-1", "stage 1 of the manner `flow`", WAYS["flow"].stages[0]
    )),
    add_prompt(_describe(
        "tools-flow-2", "stage 2 of the manner `flow`", WAYS["flow"].stages[1]
    )),
    add_prompt(_describe(
        "tools-flow-3", "stage 3 of the manner `flow`", WAYS["flow"].stages[2]
    )),
)  # fmt: skip
ENTRIES = {entry.name: entry for entry in _ENTRIES}


class ToolWords(NamedTuple):
    """The instructions for tools: ours, or those of files by prompt name."""

    tools: Tools
    files: Mapping[str, str] = {}

    @property
    def stages(self) -> list[str]:
        """The task of each stage; the first one can be empty."""
        manner, stages = self.tools.manner, WAYS[self.tools.manner].stages
        return [
            self._read(f"tools-{manner}-{number}") if stage else ""
            for number, stage in enumerate(stages, 1)
        ]

    def write_instructions(self, inventory: str, pictures: int = 2) -> str:
        """Return the text before the problem: purpose of the tools, its pictures, manner."""
        calls = self._read(f"tools-{self.tools.style}")
        if self.tools.style == "text":
            calls = fill_text(calls, _show_tools(self.tools))
        manner: str = self.tools.manner
        rules = WAYS[self.tools.manner].rules
        if pictures == 1 and WAYS[self.tools.manner].rules_of_one:
            manner = f"{manner}-one"
        values = {
            "calls": calls,
            "pictures": inventory,
            "most_calls": str(MOST_CALLS),
            "turns": _turns(self.tools.max_turns - 1),
            "manner": self._read(f"tools-{manner}") if rules else "",
        }
        return fill_text(self._read("tools"), values)

    def forbid_calls(self, last: bool) -> str:
        """Return the text after the results of the last turn with calls."""
        return self._read("tools-end" if last else "tools-end-step")

    def describe_left_out(self, calls: int) -> str:
        """Return the text after a turn with more calls than are run."""
        values = {"most_calls": str(MOST_CALLS), "calls": str(calls)}
        return fill_text(self._read("tools-left-out"), values)

    def _read(self, name: str) -> str:
        """Read the wording of a prompt; a file gets the same ending as ours."""
        entry = ENTRIES[name]
        if name not in self.files:
            return entry.text
        end = entry.text[len(entry.text.rstrip()) :]
        return f"{read_wording(self.files[name], entry).text}{end}"


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def _show_tools(tools: Tools) -> dict[str, str]:
    """Return the text protocol: an example, and each tool with the schema of its arguments."""
    lines = [
        f"- {spec.name}: {spec.description} Arguments: {_signature(spec.parameters)}."
        for spec in specs(tools.names)
    ]
    call = write_call("crop", '{"image": "image_1", "box": [0.1, 0.2, 0.6, 0.5]}')
    return {"example": call, "tools": "\n".join(lines)}


def _signature(schema: Any) -> str:
    """`image: name of a picture, such as image_1; box: [left, top, right, bottom]`."""
    needed = schema["required"]
    return "; ".join(
        f"{name}{'' if name in needed else ' (may be left out)'}: {_kind(of)}"
        for name, of in schema["properties"].items()
    )


def _kind(schema: Any) -> str:
    if "description" in schema:
        return str(schema["description"])
    if schema["type"] == "array":
        return f"a list of {_kind(schema['items'])}"
    if "enum" in schema:
        return " or ".join(schema["enum"])
    if schema["type"] == "number":
        return f"a number from {schema['minimum']} to {schema['maximum']}"
    return f"a text of at most {schema['maxLength']} characters"
