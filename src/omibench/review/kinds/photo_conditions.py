"""Conditions of a photograph: 14 in three groups, each with a grade (MathReal, stage two)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from omibench.review.kinds.declaration import Field, Kind, Option
from omibench.review.kinds.parts import FACTS, IMAGES
from omibench.schemas.attributes import Value

QUALITY: Final = "Image quality degradation"
PERSPECTIVE: Final = "Image perspective variation"
INTERFERENCE: Final = "Irrelevant content"


class Condition(NamedTuple):
    """One condition: the field, the attribute that MathReal's release has for it, its grades."""

    name: str
    attribute: str
    title: str
    key: str
    help: str
    highest: int = 3


_QUALITY: Final = (
    Condition("blur", "blur", "Blur", "b", "From sharp to letters and lines that cannot be told."),
    Condition(
        "exposure",
        "underexposure/overexposure",
        "Too dark or too bright",
        "e",
        "From well lit to black or white.",
    ),
    Condition(
        "shadow",
        "shadow coverage",
        "Shadow",
        "s",
        "By the share of the question that lies in shadow; 3 is more than 60 %.",
    ),
    Condition("glare", "glare", "Glare", "g", "From none to spots that hide what is needed."),
)
_PERSPECTIVE: Final = (
    Condition(
        "tilt",
        "in-plane tilt",
        "Tilt in the plane",
        "l",
        "The angle of the lines of text, quarter turns left out; 3 is more than 30°.",
    ),
    Condition(
        "slant",
        "non-planar capture",
        "Taken at a slant",
        "n",
        "From straight above to a page that is plainly a trapezium.",
    ),
    Condition(
        "bending",
        "background distortion",
        "Bent or creased paper",
        "d",
        "From flat to bends that deform what is printed.",
    ),
)
_INTERFERENCE: Final = (
    Condition(
        "handwritten_question",
        "handwritten questions",
        "Handwritten question",
        "h",
        "0 is printed; else from neat to illegible.",
    ),
    Condition(
        "reverse_side",
        "reverse side content",
        "Other side shines through",
        "r",
        "From nothing to print that mixes with the question.",
    ),
    Condition(
        "question_marking",
        "question marking",
        "Marks on the text",
        "q",
        "Underlined, circled or crossed out: from nothing to most of it.",
    ),
    Condition(
        "figure_marking",
        "figure marking",
        "Marks on the figure",
        "f",
        "From nothing to marks that hide its lines.",
    ),
    Condition(
        "handwritten_answer",
        "handwritten answer for multiple-choice questions",
        "Handwritten answer in a blank or at an option",
        "a",
        "0 is none, 1 is one.",
        highest=1,
    ),
    Condition(
        "handwritten_process",
        "handwritten process for constructed-response questions",
        "Handwritten solution",
        "p",
        "By its lines; 3 is four or more.",
    ),
)
ROTATION: Final = Field(
    "rotation",
    "Rotation",
    "choice",
    options=(
        Option("Upright", "Upright", "t"),
        Option("Clockwise90°", "90° clockwise", "y"),
        Option("Counterclockwise90°", "90° counterclockwise", "u"),
        Option("180°", "180°", "i"),
    ),
    critical=True,
    help="How the page lies in the photograph, against one that can be read.",
    group=PERSPECTIVE,
    attribute="rotation",
)


def _ask(condition: Condition, group: str) -> Field:
    return Field(
        condition.name,
        condition.title,
        "rating",
        scale=(0, condition.highest),
        tolerance=min(1, condition.highest - 1),
        key=condition.key,
        help=condition.help,
        group=group,
        attribute=condition.attribute,
    )


CONDITIONS: Final = Kind(
    name="photo_conditions",
    title="Conditions of a photograph",
    instruction=(
        "Grade each condition from 0 (not there) to 3 (what is needed cannot be read or told for "
        "it). Look at the question and its figure alone, not at the rest of the page. Two people "
        "grade; grades that are two apart go to a senior."
    ),
    parts=(IMAGES, FACTS),
    fields=(
        *(_ask(condition, QUALITY) for condition in _QUALITY),
        ROTATION,
        *(_ask(condition, PERSPECTIVE) for condition in _PERSPECTIVE),
        *(_ask(condition, INTERFERENCE) for condition in _INTERFERENCE),
    ),
    source="MathReal, C (stage two)",
)
NOISE_LISTS: Final = ("noise", "noise groups")
"""The attributes that list the conditions of a photograph, and their groups."""
_NOISE_GROUPS: Final = {
    "image quality degradation": tuple(c.attribute for c in _QUALITY),
    "image perspective variation": ("rotation", *(c.attribute for c in _PERSPECTIVE)),
    "content interference": tuple(c.attribute for c in _INTERFERENCE),
}
_ABSENT: Final = (None, "0", "Upright")


def list_noise(attributes: Mapping[str, Value]) -> dict[str, Value]:
    """The conditions that a photograph has, and their groups (MathReal, section 3.4).

    Args:
        attributes: Of a problem, with the grades of its conditions.

    Returns:
        `noise` and `noise groups`, by the names of MathReal's release; each left out where it is
        empty. A condition is there from grade 1, and where the picture is not upright.
    """
    noise = {
        group: sorted(name for name in names if attributes.get(name) not in _ABSENT)
        for group, names in _NOISE_GROUPS.items()
    }
    lists: dict[str, Value] = {
        "noise": [name for names in noise.values() for name in names],
        "noise groups": [group for group, names in noise.items() if names],
    }
    return {name: labels for name, labels in lists.items() if labels}
