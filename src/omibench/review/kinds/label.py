"""The subject, subfield and topic of an item."""

from __future__ import annotations

from typing import Final

from omibench.review.kinds.declaration import AUDITOR, Field, Kind, Option, Part
from omibench.review.kinds.parts import PROBLEM

SUBJECTS: Final = (
    Option("biology", "Biology", "b"),
    Option("chemistry", "Chemistry", "c"),
    Option("mathematics", "Mathematics", "m"),
    Option("physics", "Physics", "p"),
    Option("coding", "Coding", "g"),
    Option("other", "Another one", "o"),
)
LABELS: Final = tuple(
    Part(name, title, "text", hidden_from=AUDITOR, hashed=False)
    for name, title in (
        ("subject", "Current subject"),
        ("subfield", "Current subfield"),
        ("topic", "Current topic"),
        ("reason", "The labeller's reason"),
    )
)
SUBFIELDS: Final = Part("subfields", "Known subfields", "facts", hashed=False)

LABEL: Final = Kind(
    name="label",
    title="Label",
    instruction=(
        "Label the item by the method and concept of its solution, not by its story, and take the "
        "pictures into account. Keep the label, change the topic within "
        "its subject, or change subject and topic. If several items fit none of the subfields, "
        "propose a new one."
    ),
    parts=(*PROBLEM, *LABELS, SUBFIELDS),
    fields=(
        Field(
            "subject",
            "Subject",
            "choice",
            options=SUBJECTS,
            prefill="subject",
            critical=True,
        ),
        Field(
            "subfield",
            "Subfield",
            "choice",
            options=(Option("none", "None of these", "0"),),
            options_from="subfields",
            prefill="subfield",
            critical=True,
            attribute="subfield",
        ),
        Field(
            "topic",
            "Topic",
            "text",
            prefill="topic",
            help="As specific as possible; separate several topics with `#`.",
        ),
        Field(
            "proposal",
            "Proposed change to the subfields",
            "text",
            required=False,
            help="A subfield to add, rename or merge, and why.",
        ),
    ),
    source="OMIBench, A.5 (manual verification and correction)",
)
