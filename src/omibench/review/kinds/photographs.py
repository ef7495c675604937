"""Screening and transcription of photographs of problems (MathReal, stages one and three)."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import Field, Kind, Option, Part
from omibench.review.kinds.parts import ANSWER, FACTS, IMAGES, QUESTION

DESCRIPTION: Final = Part("description", "Description of the figure", "text")


def _ask(name: str, title: str, yes: str, no: str, help_: str) -> Field:
    options = (Option("yes", "Yes", yes), Option("no", "No: discard it", no, drops=True))
    return Field(name, title, "choice", options=options, critical=True, help=help_)


SCREENING: Final = Kind(
    name="photo_screening",
    title="Screening of a photograph",
    instruction=(
        "Decide whether the photograph can become an item. It is kept only if all three conditions "
        "are met."
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
    title="Question of a photograph",
    instruction=(
        "Transcribe the printed question exactly, without handwriting. "
        "Solve it and check the answer. Describe the figure so that a reader who cannot see it "
        "could draw it, without using the text. Write formulas between dollar signs."
    ),
    parts=(IMAGES, QUESTION, ANSWER, DESCRIPTION, FACTS),
    fields=(
        Field("question", "Printed question", "text", prefill="question"),
        Field(
            "table",
            "Does the question contain a table?",
            "choice",
            options=(Option("1", "Yes", "y"), Option("0", "No", "n")),
            critical=True,
            attribute="table",
        ),
        Field(
            "stage",
            "Educational stage",
            "choice",
            options=(
                Option("Primary", "Primary school", "1"),
                Option("Middle", "Middle school", "2"),
                Option("High", "High school", "3"),
            ),
            critical=True,
            attribute="stage",
        ),
        Field(
            "question_type",
            "Type of question",
            "choice",
            options=(
                Option("MultipleChoice", "Multiple choice", "m"),
                Option("FillInTheBlank", "Fill in the blank", "b"),
                Option("ConstructedResponse", "Constructed response", "r"),
            ),
            critical=True,
            attribute="type",
        ),
        Field(
            "category",
            "Category",
            "choice",
            options=(
                Option("Plane Geometry", "Plane geometry", "p"),
                Option("Solid Geometry", "Solid geometry", "s"),
                Option("Logical Reasoning", "Logical reasoning", "l"),
                Option("Function Graphs", "Function graphs", "f"),
                Option("Statistical Charts", "Statistical charts", "c"),
            ),
            critical=True,
            attribute="category",
        ),
        Field("answer", "Answer", "text", prefill="answer", help="One part per line."),
        Field("description", "Description of the figure", "text", prefill="description"),
        Field(
            "clean_image",
            "Clean picture of the same figure",
            "choice",
            options=(
                Option("fits", "The adjacent picture matches", "g"),
                Option("wrong", "The adjacent picture shows another figure", "w"),
                Option("none", "No clean picture", "x"),
            ),
            critical=True,
        ),
    ),
    source="MathReal, C (stage three)",
)
