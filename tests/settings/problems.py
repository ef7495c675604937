"""Six problems of different shapes, solved ones to show before them, and the built-in settings."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

from PIL import Image

from omibench.params.presentation import Take
from omibench.params.setting import Setting
from omibench.schemas.problem import Choice, Example, Figure, Question

NAMES = ("lamp", "graph", "cell-a", "cell-b", "map", "scale", "photo", "flask", "tube", "plot")
EXAMPLE_NAMES = tuple(f"example-{n}" for n in range(9))


def png(name: str) -> bytes:
    """A picture of its own for each name."""
    shade = hashlib.sha256(name.encode()).digest()
    file = io.BytesIO()
    Image.new("RGB", (40, 30), (shade[0], shade[1], shade[2])).save(file, "PNG")
    return file.getvalue()


def figure(name: str, caption: str | None = None) -> Figure:
    """A figure under `images/`, by the bytes of its picture."""
    sha256 = hashlib.sha256(png(name)).hexdigest()
    return Figure(file=f"images/{name}.png", sha256=sha256, caption=caption)


def write_pictures(folder: Path) -> None:
    """Every picture of the problems and examples."""
    (folder / "images").mkdir(parents=True)
    for name in (*NAMES, *EXAMPLE_NAMES):
        (folder / "images" / f"{name}.png").write_bytes(png(name))


def letters(*texts: str) -> list[Choice]:
    """Choices that are texts."""
    return [Choice(label=label, text=text) for label, text in zip("ABCDE", texts, strict=False)]


PROBLEMS = (
    Question(
        id="two-marked",
        question="The lamp of [IMAGE0] is used in [IMAGE1]. What is its power?",
        images=[figure("lamp", "A lamp of 12 V."), figure("graph", "Current rises with voltage.")],
        choices=letters("6 W", "12 W", "18 W", "24 W"),
        subject="physics",
        subset="local",
    ),
    Question(
        id="picture-choices",
        question="Which cell is dividing?",
        images=[figure("cell-a", "A round cell."), figure("cell-b", "A cell in two halves.")],
        choices=[
            Choice(label="A", image=0),
            Choice(label="B", image=1),
            Choice(label="C", text="none"),
        ],
        subject="biology",
        subset="national",
    ),
    Question(
        id="no-picture",
        question="Give (a) the sum and (b) the product of 3 and 4.",
        subject="mathematics",
        subset="local",
    ),
    Question(
        id="marked-nowhere",
        question="How far is the hut from the lake, in km?",
        images=[figure("map", "A hut and a lake."), figure("scale", "A bar of 2 km.")],
        subject="other",
        group="hike",
        subset="national",
    ),
    Question(
        id="photograph",
        question="[IMAGE0]\n如图，求三角形的面积。",
        images=[figure("photo", "一个直角三角形，两条直角边分别为3和4。")],
        subject="mathematics",
        language="zh",
        subset="local",
    ),
    Question(
        id="mark-in-choice",
        question="Water stands in [IMAGE1]. What does the pupil see after heating?",
        images=[
            figure("plot", "A line that falls."),
            figure("flask", "A flask."),
            figure("tube", "A tube."),
        ],
        choices=letters("the line of [IMAGE0]", "a [IMAGE2] that is empty", "steam", "ice"),
        subject="chemistry",
        subset="national",
    ),
)  # fmt: skip


def solved(number: int, take: Take, subset: str) -> Example:
    """An example: every second one has choices, the third has no solution."""
    name = EXAMPLE_NAMES[number]
    return Example(
        take=take,
        question=Question(
            id=name,
            question=f"Example {number}: what shows [IMAGE0]?",
            images=[figure(name)],
            choices=letters("a cat", "a dog") if number % 2 else None,
            subset=subset,
        ),
        answer=["B"] if number % 2 else [f"{number} m"],
        solution=None if number == 3 else f"Look at the picture {number}.",
    )


EXAMPLES = (
    *(solved(n, "sampled", "local") for n in range(4)),
    *(solved(n, "window", "local") for n in range(4, 6)),
    *(solved(n, "window", "national") for n in range(6, 9)),
)

DEGRADED = {"show": "degraded", "by": ["rotation", "blur"]}
READER = {"given": "I+QM+DM", "by": "reader"}
BLOCKS: dict[str, dict[str, Any]] = {
    **{
        f"prompt-{name}": {"prompt": name}
        for name in (
            "cot", "least-to-most", "plan-and-solve", "visualization-of-thought", "direct",
            "emma-cot", "emma-direct", "emma-captions", "usnco-v", "usnco-v-cot", "mathreal",
            "mathreal-iuer",
        )
    },
    "images-first": {"images": "first"},
    "images-first-2": {"images": {"show": "first", "k": 2}},
    "images-none": {"images": "none"},
    "images-captions": {"images": {"show": "captions", "model": "captioner"}},
    "images-shuffled": {"images": "shuffled"},
    "images-composite": {"images": "composite"},
    "images-labelled-composite": {"images": "labelled-composite"},
    "images-degraded": {"images": DEGRADED},
    "images-occluded": {"images": "occluded"},
    "without-choices": {"prompt": "usnco-v", "without": ["choices"]},
    "examples-none": {"prompt": "in-context", "examples": {"k": 2}},
    "examples-one": {"prompt": "in-context", "examples": {"k": 2, "images": "one"}},
    "examples-all": {"prompt": "in-context", "examples": {"k": 2, "images": "all"}},
    "examples-0": {"prompt": "in-context", "examples": {"k": 0}},
    **{
        f"tools-{manner}": {"tools": {"manner": manner}}
        for manner in ("free", "sketch", "slow", "flow")
    },
    "tools-text": {"tools": {"style": "text"}},
    "examples-window": {
        "prompt": "usnco-v",
        "examples": {"k": 2, "take": "window", "images": "all", "reply": "answer"},
    },
}  # fmt: skip
WITH_PICTURES: dict[str, dict[str, Any]] = {
    "without-question": {"prompt": "usnco-v", "without": ["question"]},
    "mathreal-i": {"prompt": "mathreal", "perception": "I"},
    "mathreal-iuer": {"prompt": "mathreal-iuer", "perception": "I"},
    "mathreal-i-qm": {"prompt": "mathreal", "perception": "I+QM"},
    "mathreal-i-qm-dm": {"prompt": "mathreal", "perception": "I+QM+DM"},
    "mathreal-i-qm-dm-by": {"prompt": "mathreal", "perception": READER},
    "mathreal-i-qg": {"prompt": "mathreal", "perception": "I+QG"},
    "mathreal-i-qg-dg": {"prompt": "mathreal", "perception": "I+QG+DG"},
}
"""Settings under which a problem without a picture would have nothing to show."""
WITH_PICTURES |= {
    "perceiver-with": {"perceiver": "eyes"},
    "perceiver-instead": {
        "perceiver": {"model": "eyes", "put": "instead", "bare": True, "until": " says"},
    },
    "perceiver-format": {"perceiver": {"model": "eyes", "format": "lines and circles"}},
    "tools-python": {"tools": {"by": {"python": "sandbox"}, "offered": ["crop"]}},
}
SETTINGS = {name: Setting.model_validate(b) for name, b in (BLOCKS | WITH_PICTURES).items()}


def problems_of(setting: str) -> list[Question]:
    """The problems that may be asked under a setting."""
    return [q for q in PROBLEMS if q.images or setting not in WITH_PICTURES]
