"""Grading with partial credit: the share of an answer's parts that is right (MathReal).

The protocol (appendix, "Extract and Evaluate Answers"): the reference is split into sub-answers,
those into components (alternatives, coordinates, points); the grade is correct components over all.
A unit can be missing, but not wrong; only a single option is right. The wording is ours.
"""

from __future__ import annotations

import re

from omibench.answers.judges.case import JudgeCase, clip, gold_section, question_section
from omibench.answers.judges.instrument import Instrument, register
from omibench.answers.judges.scales import last_line, last_value, middle
from omibench.text.fences import Section
from omibench.text.visible import drop_hidden_text

_SHARE = re.compile(r"(\d{1,3})\s*/\s*([1-9]\d{0,2})")
_TAG = re.compile(r".*<score>\s*([\d.]+)\s*</score>")
_DECIMAL = re.compile(r"0(?:\.\d{1,4})?|1(?:\.0{1,4})?")

INSTRUCTIONS = """\
You check the final answer of a mathematics problem against the official answer and say which \
share of it is right. Only values, expressions, options and conclusions count, not how they were \
reached or introduced.

Splitting. Each line, each piece between semicolons and each numbered part of the official answer \
is one sub-answer. Within a sub-answer count components: every alternative of "5 or -75" is one, \
every coordinate of a point is one, every point of a list is one.

Comparing, component by component:
- Equal value is equal, whatever the notation: 1/2, 0.5 and 5/10; 10 and 10.0; 1,887,800 and \
1887800; other spacing; another order of terms. A decimal stands for pi or a root only where the \
problem allows rounding.
- Signs, operators, exponents and bounds of intervals must agree exactly.
- A unit that the official answer has may be missing, but another unit is wrong. A fitting unit \
that the official answer lacks does no harm.
- An official answer that is one option is reached by that option alone: further options or \
another one give nothing.
- The same meaning in other words is right.
- An official answer that is a proof or a drawing counts as reached."""

CLOSING = """\
You may think first. The last line of your reply must have exactly this form, the number of right \
components over the number of all components of the official answer:
SCORE: right/all"""


def read(reply: str, case: JudgeCase) -> float | None:
    """The share on the last line, in [0, 1] and rounded to two decimals as published.

    It is 1 only where all components are right: 299/300 is 0.99, and no strict accuracy.
    """
    value = (last_value(reply, "score") or "").rstrip("*_` .")
    share = _SHARE.fullmatch(value)
    if share:
        right, every = int(share.group(1)), int(share.group(2))
        return _round_share(right / every) if right <= every else None
    return _round_share(float(value)) if _DECIMAL.fullmatch(value) else None


def _round_share(share: float) -> float:
    return share if share == 1 else min(round(share, 2), 0.99)


def read_tag(reply: str, case: JudgeCase) -> float | None:
    """The share in a tag `score` that ends a reply, as the paper's words ask for it."""
    tag = _TAG.fullmatch(last_line(reply) or "")
    return _round_share(float(tag.group(1))) if tag and _DECIMAL.fullmatch(tag.group(1)) else None


def _answer_section(case: JudgeCase) -> Section:
    return Section("MODEL ANSWER", clip(drop_hidden_text(case.answer or "")) or "(empty)")


GRADE: Instrument[float] = register(
    Instrument(
        name="grade",
        version=2,
        role="grader",
        instructions=INSTRUCTIONS,
        closing=CLOSING,
        sections=lambda case: (question_section(case), gold_section(case), _answer_section(case)),
        read=read,
        vote=middle,
        purpose="says which share of an answer's parts is right",
        source="MathReal, D: Extract and Evaluate Answers",
        read_printed=read_tag,
    )
)
