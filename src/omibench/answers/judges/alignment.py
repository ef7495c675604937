"""Alignment of a rationale with a reference rationale, 1 to 5 (OMIBench, B.2)."""

from __future__ import annotations

from omibench.answers.judges.case import (
    JudgeCase,
    question_section,
    reference_section,
    response_section,
)
from omibench.answers.judges.instrument import Instrument, register
from omibench.answers.judges.registry import Columns, judge
from omibench.answers.judges.scales import last_object, middle, whole_number
from omibench.params.panel import JudgePanel

INSTRUCTIONS = """\
You compare the reasoning of a response with a reference solution to the same problem: the logic, \
the order of its steps and the evidence that it rests on. Style and length do not matter. Give one \
whole mark.

5: the same logic, evidence and steps; only the wording differs.
4: every key point of the reference, with harmless extras or a slightly different order.
3: the main conclusion and the main evidence, but a lesser step is missing or goes another way.
2: the right answer by different logic, or without evidence that the reference needs.
1: it contradicts the reference, reasons falsely, or misses the conditions that the reference \
states."""

CLOSING = """\
You may justify the mark first. The last line of your reply must be one JSON object and nothing \
else, N a whole number from 1 to 5:
{"score": N}"""


def read(reply: str, case: JudgeCase) -> float | None:
    """Read the mark of the JSON object that ends a reply; a justification can precede it."""
    mark = whole_number(last_object(reply, ("score",), ("justification",)).get("score"), 1, 5)
    return None if mark is None else float(mark)


ALIGNMENT: Instrument[float] = register(
    Instrument(
        name="alignment",
        version=1,
        role="aligner",
        instructions=INSTRUCTIONS,
        closing=CLOSING,
        sections=lambda case: (
            question_section(case),
            reference_section(case),
            response_section(case),
        ),
        read=read,
        vote=middle,
        purpose="marks how far a rationale is aligned with the reference",
        source="OMIBench, B.2",
    )
)


def fill_columns(mark: float | None, panel: JudgePanel) -> Columns:
    """Return its only mark."""
    return {"alignment": mark}


@judge("alignment", responses="with_reference", fill_columns=fill_columns)
def build_alignment(panel: JudgePanel) -> Instrument[float]:
    """Return the same judge for every panel."""
    return ALIGNMENT
