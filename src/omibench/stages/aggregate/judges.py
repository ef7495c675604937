"""Judges that select a sample: marks and rewards for best-of-N, comparisons for tournaments.

The gold answer is not shown: a reward model knows no more than the model that it selects for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count, product
from math import isfinite
from string import ascii_uppercase

from omibench.judges.case import JudgeCase, clip, question_section, response_section
from omibench.judges.instrument import Instrument, register
from omibench.judges.reply import last_value
from omibench.judges.votes import middle, most
from omibench.schemas.request import Conversation, Message, TextPart
from omibench.text.fences import Section
from omibench.text.visible import drop_hidden_text

_MARK = re.compile(r"\d{1,2}|100")

MARKING = """\
You are shown a problem and one response to it. Say how likely it is that the final answer of the \
response is right. Solve the problem yourself where you can; check each step and each figure that \
the response relies on. Style and length are worth nothing."""

JOINT_MARKING = """\
You are shown a problem and several responses to it. Say of each how likely it is that its final \
answer is right. Solve the problem yourself where you can; where responses disagree, find the step \
at which they part and decide who is right there. Style, length and the order in which they are \
shown are worth nothing, and so is how many of them agree."""

COMPARING = """\
You are shown a problem and two responses to it. Say which of them is more likely to reach the \
right final answer. Solve the problem yourself where you can; check each step and each figure that \
the responses rely on. Style, length and the order in which they are shown are worth nothing."""


def read_mark(reply: str, case: JudgeCase) -> float | None:
    """Return the mark from 0 to 100 on the last line; None for any other form."""
    mark = (last_value(reply, "mark") or "").strip("*_` .")
    return float(mark) if _MARK.fullmatch(mark) else None


def read_better(reply: str, case: JudgeCase) -> bool | None:
    """Return whether the last line prefers the first response."""
    letter = (last_value(reply, "better") or "").strip("*_` .").upper()
    return {"A": True, "B": False}.get(letter)


def read_joint_marks(reply: str, case: JudgeCase) -> tuple[float, ...] | None:
    """Return a mark from 0 to 100 of each response, on the last line; None for any other form."""
    listed = (last_value(reply, "marks") or "").strip("*_` .").split(",")
    marks = [mark.strip() for mark in listed]
    if len(marks) != 1 + len(case.rivals) or not all(map(_MARK.fullmatch, marks)):
        return None
    return tuple(map(float, marks))


def read_reward(reply: str, case: JudgeCase) -> float | None:
    """Return the number of a reward head; None if it is not finite."""
    try:
        reward = float(reply)
    except ValueError:
        return None
    return reward if isfinite(reward) else None


def vote_on_each(votes: Sequence[tuple[float, ...]]) -> tuple[float, ...] | None:
    """Return the median mark of each response; None without votes."""
    marks = [mark for column in zip(*votes, strict=True) if (mark := middle(column)) is not None]
    return tuple(marks) or None


def converse_with_head(case: JudgeCase) -> Conversation:
    """Return the problem as user turn and the response as assistant turn, for reward heads."""
    question = case.statement or (TextPart(text=question_section(case).text),)
    response = TextPart(text=response_section(case).text)
    return Conversation(
        messages=(
            Message(role="user", parts=question),
            Message(role="assistant", parts=(response,)),
        )
    )


def _several_responses(case: JudgeCase) -> tuple[Section, ...]:
    responses = [case.response, *case.rivals]
    return question_section(case), *(
        Section(f"RESPONSE {letters}", clip(drop_hidden_text(text)) or "(empty)")
        for letters, text in zip(_name_in_letters(), responses, strict=False)
    )


def _name_in_letters() -> Iterator[str]:
    """Return A, B, ..., Z, AA, AB, ...: names of sections have no digits."""
    for length in count(1):
        yield from map("".join, product(ascii_uppercase, repeat=length))


MARKS: Instrument[float] = register(
    Instrument(
        name="mark",
        version=2,
        role="marker",
        instructions=MARKING,
        closing="The last line of your reply must have exactly this form, N a whole number from 0 "
        "(certainly wrong) to 100 (certainly right):\nMARK: N",
        sections=lambda case: (question_section(case), response_section(case)),
        read=read_mark,
        vote=middle,
        purpose="marks how likely a response is right, for best-of-N",
    )
)

JOINT_MARKS: Instrument[tuple[float, ...]] = register(
    Instrument(
        name="joint_marks",
        version=1,
        role="marker",
        instructions=JOINT_MARKING,
        closing="The last line of your reply must have exactly this form, with a whole number N "
        "from 0 (certainly wrong) to 100 (certainly right) for each response, in the order in "
        "which they are shown:\nMARKS: N, N, ...",
        sections=_several_responses,
        read=read_joint_marks,
        vote=vote_on_each,
        purpose="marks all candidates of a problem together, for best-of-N",
        gathered="responses",
    )
)

REWARD: Instrument[float] = Instrument(
    name="reward",
    version=1,
    role="marker",
    instructions="",
    closing="",
    sections=lambda case: (question_section(case), response_section(case)),
    read=read_reward,
    vote=middle,
    converse=converse_with_head,
)

COMPARISON: Instrument[bool] = register(
    Instrument(
        name="comparison",
        version=2,
        role="referee",
        instructions=COMPARING,
        closing="The last line of your reply must be exactly one of\nBETTER: A\nBETTER: B",
        sections=_several_responses,
        read=read_better,
        vote=most,
        purpose="says which of two responses is better, for tournaments",
    )
)
