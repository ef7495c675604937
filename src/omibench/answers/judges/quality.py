"""Rationale quality: five dimensions and an overall mark, 1 to 5 (OMIBench, B.2).

The rationale is marked, not the final answer; the gold answer is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.answers.judges.case import JudgeCase, show_question_and_response
from omibench.answers.judges.instrument import Instrument, register
from omibench.answers.judges.registry import Columns, judge
from omibench.answers.judges.scales import last_object, middle, whole_number
from omibench.params.panel import JudgePanel


class Quality(NamedTuple):
    """Marks from 1 to 5; those of several judges are medians."""

    correctness: float
    faithfulness: float
    information_usage: float
    clarity: float
    detail: float
    overall: float


KEYS = tuple(name.replace("_", "-") for name in Quality._fields)
"""Keys of the JSON object in a judge's reply."""

INSTRUCTIONS = """\
You mark the reasoning in a response to a problem, not its final answer: a wrong answer costs \
nothing where the reasoning holds together and uses what is given. Give whole marks from 1 (worst) \
to 5 (best).

- correctness: is each step valid? 5 every step, no contradiction; 4 minor slips that do not touch \
the conclusion; 3 some important steps hold, with clear gaps or errors; 2 mostly flawed; 1 \
illogical, self-contradictory or wrong throughout.
- faithfulness: does the reasoning lead to the answer that is given? 5 directly, with nothing \
invented; 4 with slight mismatches; 3 in part, the rest is beside the point; 2 loosely or by \
guessing; 1 not at all, or it contradicts the answer.
- information-usage: does it use what the problem supplies? 5 all that matters and nothing \
foreign; 4 most of it; 3 some, with important omissions or unsupported additions; 2 little, much \
invented; 1 almost nothing.
- clarity: can a careful reader follow? 5 at every step; 4 with small jumps; 3 with confusing \
stretches; 2 hardly; 1 not.
- detail: is it as detailed as the answer needs? 5 all key steps and no more; 4 a minor step \
missing or slightly wordy; 3 uneven; 2 far too short or far too long; 1 nothing is explained.
- overall: all of this together. 5 excellent, 4 good, 3 acceptable, 2 poor, 1 very poor."""

CLOSING = """\
Reply with one JSON object on one line and nothing else, each N a whole number from 1 to 5:
{"correctness": N, "faithfulness": N, "information-usage": N, "clarity": N, "detail": N, \
"overall": N}"""


def read(reply: str, case: JudgeCase) -> Quality | None:
    """Read the marks of the JSON object that ends a reply; None unless all six are valid."""
    fields = last_object(reply, KEYS)
    marks = [mark for key in KEYS if (mark := whole_number(fields.get(key), 1, 5)) is not None]
    return Quality(*marks) if len(marks) == len(KEYS) else None


def vote(votes: Sequence[Quality]) -> Quality | None:
    """Return the median of each mark."""
    marks = [mark for column in zip(*votes, strict=True) if (mark := middle(column)) is not None]
    return Quality(*marks) if marks else None


QUALITY: Instrument[Quality] = register(
    Instrument(
        name="quality",
        version=1,
        role="rater",
        instructions=INSTRUCTIONS,
        closing=CLOSING,
        sections=show_question_and_response,
        read=read,
        vote=vote,
        purpose="marks the quality of a rationale",
        source="OMIBench, B.2",
    )
)


def fill_columns(marks: Quality | None, panel: JudgePanel) -> Columns:
    """Return one column per mark."""
    return marks._asdict() if marks else {}


@judge("quality", fill_columns=fill_columns)
def build_quality(panel: JudgePanel) -> Instrument[Quality]:
    """Return the same judge for every panel."""
    return QUALITY
