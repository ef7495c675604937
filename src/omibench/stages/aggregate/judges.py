"""The judges that choose a sample: marks for best-of-N, comparisons for tournaments.

The gold is not shown: a reward model knows no more than the model that it chooses for.
"""

from __future__ import annotations

import re

from omibench.judges.case import JudgeCase, clip, question_section, response_section
from omibench.judges.instrument import Instrument
from omibench.judges.reply import last_value
from omibench.judges.votes import middle, most
from omibench.text.fences import Section
from omibench.text.visible import drop_hidden_text

_MARK = re.compile(r"\d{1,2}|100")

MARKING = """\
You are shown a problem and one response to it. Say how likely it is that the final answer of the \
response is right. Solve the problem yourself where you can; check each step and each figure that \
the response relies on. Style and length are worth nothing."""

COMPARING = """\
You are shown a problem and two responses to it. Say which of them is more likely to reach the \
right final answer. Solve the problem yourself where you can; check each step and each figure that \
the responses rely on. Style, length and the order in which they are shown are worth nothing."""


def read_mark(reply: str, case: JudgeCase) -> float | None:
    """The mark from 0 to 100 on the last line; None unless it is exactly that."""
    mark = (last_value(reply, "mark") or "").strip("*_` .")
    return float(mark) if _MARK.fullmatch(mark) else None


def read_better(reply: str, case: JudgeCase) -> bool | None:
    """Whether the last line says that the first response is the better one."""
    letter = (last_value(reply, "better") or "").strip("*_` .").upper()
    return {"A": True, "B": False}.get(letter)


def _two_responses(case: JudgeCase) -> tuple[Section, ...]:
    first, second = (
        Section(name, clip(drop_hidden_text(text)) or "(empty)")
        for name, text in (("RESPONSE A", case.response), ("RESPONSE B", case.reference or ""))
    )
    return question_section(case), first, second


MARKS: Instrument[float] = Instrument(
    name="mark",
    version=1,
    role="marker",
    instructions=MARKING,
    closing="The last line of your reply must have exactly this form, N a whole number from 0 "
    "(certainly wrong) to 100 (certainly right):\nMARK: N",
    sections=lambda case: (question_section(case), response_section(case)),
    read=read_mark,
    vote=middle,
)

COMPARISON: Instrument[bool] = Instrument(
    name="comparison",
    version=1,
    role="referee",
    instructions=COMPARING,
    closing="The last line of your reply must be exactly one of\nBETTER: A\nBETTER: B",
    sections=_two_responses,  # the second response stands where others have a reference
    read=read_better,
    vote=most,
)
