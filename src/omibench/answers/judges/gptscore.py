"""GPTScore: does a response reach the official answer by sound reasoning? (OMIBench, C.2)

True = consistent = 1. Equation 8 prints the opposite (0 for "ANSWER: consistent"), against its own
use in C.3 ("GPTScore=1 as correct"), C.4 and the main table; see docs/reference/judges.md.

The two variants differ in one point. C.2 calls an answer inconsistent if its reasoning does not
justify it, which includes an answer without any: `justified`. `bare-answers` judges a response with
only a final answer by that answer.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from omibench.answers.judges.case import JudgeCase, gold_section, question_section, response_section
from omibench.answers.judges.instrument import Instrument, build_prompt, register
from omibench.answers.judges.scales import last_line, most
from omibench.params.stages.score import GptscoreVariant

_TOKEN = re.compile(r"(?:answer\s*:[*_`\s]*)?(consistent|inconsistent)[*_`\s.]*", re.IGNORECASE)

INSTRUCTIONS = """\
You grade answers to olympiad problems. You get the problem, the official answer and one \
candidate response. Decide whether the response reaches the official answer and justifies it.

- Compare final conclusions. A conclusion that differs from the official answer is inconsistent.
- Where the official answer has several parts, every part must be reached.
- The same conclusion is consistent where the reasoning before it is sound and enough to justify \
it. Where that reasoning has a plain error, leaves the conclusion without support or is missing, \
so that the final answer stands alone, it is inconsistent.
- Other wording, notation, order of steps or a different sound method make no difference."""

BARE_ANSWERS_INSTRUCTIONS = """\
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
    """Return whether the last line says consistent; None unless it is exactly one token."""
    match = _TOKEN.fullmatch(last_line(reply) or "")
    return None if match is None else match.group(1).lower() == "consistent"


GPTSCORE: Instrument[bool] = register(
    Instrument(
        name="gptscore",
        version=3,
        role="judge",
        instructions=INSTRUCTIONS,
        closing=CLOSING,
        sections=lambda case: (question_section(case), gold_section(case), response_section(case)),
        read=read,
        vote=most,
        purpose="says whether a response reaches the official answer",
        source="OMIBench, C.2",
    )
)

VARIANTS: dict[GptscoreVariant, Instrument[bool]] = {
    "justified": GPTSCORE,
    "bare-answers": register(
        name="gptscore-bare-answers",
        instrument=replace(
            GPTSCORE,
            version=2,
            instructions=BARE_ANSWERS_INSTRUCTIONS,
            purpose="the same, where a response that gives its answer alone is judged by it",
            source="",
        ),
    ),
}


def find_variant(prompt_sha256: str | None) -> GptscoreVariant | None:
    """Return the variant with this hash of its wording; None for a custom wording."""
    return next((name for name in VARIANTS if _hash_prompt(name) == prompt_sha256), None)


@cache
def _hash_prompt(variant: GptscoreVariant) -> str:
    return build_prompt(VARIANTS[variant]).sha256
