"""GPTScore: does a response reach the official answer by sound reasoning? (OMIBench, C.2)

True = consistent = 1. Equation 8 prints the opposite (0 for "ANSWER: consistent"), against its own
use in C.3 ("GPTScore=1 as correct"), C.4 and the main table; docs/scoring.md has the evidence.
"""

from __future__ import annotations

import re

from omibench.judges.case import JudgeCase, gold_section, question_section, response_section
from omibench.judges.instrument import Instrument
from omibench.judges.reply import last_line
from omibench.judges.votes import most

_TOKEN = re.compile(r"(?:answer\s*:[*_`\s]*)?(consistent|inconsistent)[*_`\s.]*", re.IGNORECASE)

INSTRUCTIONS = """\
You grade answers to olympiad problems. You get the problem, the official answer and one \
candidate response. Decide whether the response reaches the official answer.

- Compare final conclusions. A conclusion that differs from the official answer is inconsistent.
- Where the official answer has several parts, every part must be reached.
- The same conclusion from reasoning with a plain error, or from none that supports it where \
reasoning is given, is inconsistent; a response that gives only its final answer is judged by it.
- Other wording, notation, order of steps or a different sound method is consistent."""

CLOSING = """\
You may think first. The last line of your reply must be exactly one of
ANSWER: consistent
ANSWER: inconsistent"""


def read(reply: str, case: JudgeCase) -> bool | None:
    """Whether the last line says consistent; None unless it is exactly one token."""
    match = _TOKEN.fullmatch(last_line(reply) or "")
    return None if match is None else match.group(1).lower() == "consistent"


GPTSCORE: Instrument[bool] = Instrument(
    name="gptscore",
    version=2,
    role="judge",
    instructions=INSTRUCTIONS,
    closing=CLOSING,
    sections=lambda case: (question_section(case), gold_section(case), response_section(case)),
    read=read,
    vote=most,
)
