"""Screening and transcription of photographs of problems (MathReal, stages one and three)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from omibench.review.kinds.declaration import (
    ANSWER,
    FACTS,
    IMAGES,
    QUESTION,
    Field,
    Kind,
    Option,
    Part,
    ask_one,
)
from omibench.schemas.problem import Value

DESCRIPTION: Final = Part("description", "Description of the figure", "text")


def _ask(name: str, title: str, yes: str, no: str, help_: str) -> Field:
    options = (Option("yes", "Yes", yes), Option("no", "No: discard it", no, drops=True))
    return ask_one(name, title, *options, help=help_)


SCREENING: Final = Kind(
    name="photo_screening",
    title="Screening of a photograph",
    instruction=(
        "Decide whether the photograph can become a problem. It is kept only if all three "
        "conditions are met."
    ),
    parts=(IMAGES, FACTS),
    fields=(
        _ask(
            "single_question",
            "Does it show one complete question?",
            "q",
            "w",
            "Parts of neighbouring questions are acceptable.",
        ),
        _ask(
            "complete",
            "Is all of it in the picture?",
            "a",
            "s",
            "All text and the entire figure, with no required part cut off.",
        ),
        _ask(
            "figure_needed",
            "Is the figure needed to solve it?",
            "z",
            "x",
            "A purely illustrative figure is not.",
        ),
    ),
    source="MathReal, C (stage one)",
)

FIELDS: Final = Kind(
    name="photo_fields",
    title="Problem of a photograph",
    instruction=(
        "Transcribe the printed question exactly, without handwriting. "
        "Solve it and check the answer. Describe the figure so that a reader who cannot see it "
        "could draw it, without using the text. Write formulas between dollar signs."
    ),
    parts=(IMAGES, QUESTION, ANSWER, DESCRIPTION, FACTS),
    fields=(
        Field("question", "Printed question", "text", prefill="question"),
        ask_one(
            "table",
            "Does the question contain a table?",
            Option("1", "Yes", "y"),
            Option("0", "No", "n"),
            attribute="table",
        ),
        ask_one(
            "stage",
            "Educational stage",
            Option("Primary", "Primary school", "1"),
            Option("Middle", "Middle school", "2"),
            Option("High", "High school", "3"),
            attribute="stage",
        ),
        ask_one(
            "question_type",
            "Type of question",
            Option("MultipleChoice", "Multiple choice", "m"),
            Option("FillInTheBlank", "Fill in the blank", "b"),
            Option("ConstructedResponse", "Constructed response", "r"),
            attribute="type",
        ),
        ask_one(
            "category",
            "Category",
            Option("Plane Geometry", "Plane geometry", "p"),
            Option("Solid Geometry", "Solid geometry", "s"),
            Option("Logical Reasoning", "Logical reasoning", "l"),
            Option("Function Graphs", "Function graphs", "f"),
            Option("Statistical Charts", "Statistical charts", "c"),
            attribute="category",
        ),
        Field("answer", "Answer", "text", prefill="answer", help="One part per line."),
        Field("description", "Description of the figure", "text", prefill="description"),
        ask_one(
            "clean_image",
            "Clean picture of the same figure",
            Option("fits", "The adjacent picture matches", "g"),
            Option("wrong", "The adjacent picture shows another figure", "w"),
            Option("none", "No clean picture", "x"),
        ),
    ),
    source="MathReal, C (stage three)",
)


# Conditions of a photograph: 14 in three groups, each with a grade (MathReal, stage two).

QUALITY: Final = "Image quality degradation"
PERSPECTIVE: Final = "Image perspective variation"
INTERFERENCE: Final = "Irrelevant content"


class Condition(NamedTuple):
    """One condition: the field, its attribute in MathReal's release, and its grades."""

    name: str
    attribute: str
    title: str
    key: str
    help: str
    highest: int = 3


_QUALITY: Final = (
    Condition(
        "blur", "blur", "Blur", "b", "From sharp to letters and lines that cannot be recognized."
    ),
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
        "By the share of the question in shadow; 3 is more than 60 %.",
    ),
    Condition("glare", "glare", "Glare", "g", "From none to spots that hide required parts."),
)
_PERSPECTIVE: Final = (
    Condition(
        "tilt",
        "in-plane tilt",
        "Tilt in the plane",
        "l",
        "The angle of the text lines, ignoring quarter turns; 3 is more than 30°.",
    ),
    Condition(
        "slant",
        "non-planar capture",
        "Taken at a slant",
        "n",
        "From straight above to a clear trapezoid.",
    ),
    Condition(
        "bending",
        "background distortion",
        "Bent or creased paper",
        "d",
        "From flat to bends that deform the print.",
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
        "From none to print that overlaps the question.",
    ),
    Condition(
        "question_marking",
        "question marking",
        "Marks on the text",
        "q",
        "Underlined, circled or crossed out: from none to most of it.",
    ),
    Condition(
        "figure_marking",
        "figure marking",
        "Marks on the figure",
        "f",
        "From none to marks that hide its lines.",
    ),
    Condition(
        "handwritten_answer",
        "handwritten answer for multiple-choice questions",
        "Handwritten answer in a blank or next to an option",
        "a",
        "0 is none, 1 is present.",
        highest=1,
    ),
    Condition(
        "handwritten_process",
        "handwritten process for constructed-response questions",
        "Handwritten solution",
        "p",
        "By number of lines; 3 is four or more.",
    ),
)
ROTATION: Final = ask_one(
    "rotation",
    "Rotation",
    Option("Upright", "Upright", "t"),
    Option("Clockwise90°", "90° clockwise", "y"),
    Option("Counterclockwise90°", "90° counterclockwise", "u"),
    Option("180°", "180°", "i"),
    help="Rotation of the page in the photograph, relative to a readable page.",
    group=PERSPECTIVE,
    attribute="rotation",
)


def _ask_condition(condition: Condition, group: str) -> Field:
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
        "Grade each condition from 0 (absent) to 3 (required parts cannot be read because of it). "
        "Consider only the question and its figure, not the rest of the page. Two people grade; "
        "grades that differ by two or more go to a senior."
    ),
    parts=(IMAGES, FACTS),
    fields=(
        *(_ask_condition(condition, QUALITY) for condition in _QUALITY),
        ROTATION,
        *(_ask_condition(condition, PERSPECTIVE) for condition in _PERSPECTIVE),
        *(_ask_condition(condition, INTERFERENCE) for condition in _INTERFERENCE),
    ),
    source="MathReal, C (stage two)",
)
NOISE_LISTS: Final = ("noise", "noise groups")
"""The attributes that list the conditions of a photograph and their groups."""
_NOISE_GROUPS: Final = {
    "image quality degradation": tuple(c.attribute for c in _QUALITY),
    "image perspective variation": ("rotation", *(c.attribute for c in _PERSPECTIVE)),
    "content interference": tuple(c.attribute for c in _INTERFERENCE),
}
_ABSENT: Final = (None, "0", "Upright")


def list_noise(attributes: Mapping[str, Value]) -> dict[str, Value]:
    """Return the conditions of a photograph and their groups (MathReal, section 3.4).

    Args:
        attributes: Attributes of a problem, with the grades of its conditions.

    Returns:
        `noise` and `noise groups`, with the names of MathReal's release; empty ones are omitted. A
        condition is present from grade 1, or if the picture is not upright.
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
