"""Answer extraction by a model, for responses without a box (MathReal).

The order of the protocol: the text after a word that announces an answer, else the last paragraph
or sentence; several answers separated by semicolons. The judge sees only the response, as in the
protocol. An answer in another notation than the response's (1/2 for \\frac{1}{2}) counts, as in the
protocol; `is_verbatim` distinguishes such an answer, and an invented one, from a copy.
"""

from __future__ import annotations

import re

from omibench.answers.judges.case import JudgeCase, response_section
from omibench.answers.judges.instrument import Instrument, register
from omibench.answers.judges.scales import last_value, most
from omibench.text.visible import drop_hidden_text

NO_ANSWER = ""
_ANSWER_CHARS = 2_000
_NOISE = re.compile(r"\\(?:left|right|[()\[\],;! ]|(?:text|mathrm|boxed)\b)|[\s$*_`{}()\[\].,]")

INSTRUCTIONS = """\
You copy the final answer out of a response to a problem. You neither solve the problem nor judge \
the answer, right or wrong.

1. Look for words that announce it: "final answer", "the answer is", "the result is", or \
"therefore", "so", "in conclusion" before an answer; their like in the response's language. Copy \
what follows.
2. Where there are none, copy the most likely answer from the last paragraph or sentence.

Copy the answer alone, as it is written, on one line. Put semicolons between several answers. \
Where no answer can be told, write null."""

CLOSING = """\
The last line of your reply must have exactly this form, with the answer or null:
EXTRACTED: answer"""


def read(reply: str, case: JudgeCase) -> str | None:
    """Return the answer on the last line, `NO_ANSWER` for null; None if the line is missing."""
    return _check_answer(last_value(reply, "extracted"), case)


def read_bare(reply: str, case: JudgeCase) -> str | None:
    """Read a reply that is only the answer or null, as the paper's wording requests it."""
    answer = reply.strip()
    return None if "\n" in answer else _check_answer(answer, case)


def _check_answer(answer: str | None, case: JudgeCase) -> str | None:
    if not answer or len(answer) > _ANSWER_CHARS:
        return None
    if answer.casefold().strip(" .") == "null":
        return NO_ANSWER
    return answer if _split_parts(answer) else None


def is_verbatim(answer: str, response: str) -> bool:
    """Return whether each part of an extracted answer occurs in the response.

    Args:
        answer: The judge's answer, its parts separated by semicolons.
        response: The response; spaces, emphasis, brackets and mathematical marks are ignored.

    Returns:
        False if the judge wrote a part differently, or invented it.
    """
    text = _bare(drop_hidden_text(response))
    return all(part in text for part in _split_parts(answer))


def _split_parts(answer: str) -> list[str]:
    return [bare for part in re.split(r"[;；]", answer) if (bare := _bare(part))]


def _bare(text: str) -> str:
    """Return a text without spaces, emphasis, brackets and mathematical marks."""
    return _NOISE.sub("", drop_hidden_text(text)).casefold()


EXTRACTION: Instrument[str] = register(
    Instrument(
        name="extraction",
        version=2,
        role="extractor",
        instructions=INSTRUCTIONS,
        closing=CLOSING,
        sections=lambda case: (response_section(case),),
        read=read,
        vote=most,
        purpose="copies the final answer out of a response",
        source="MathReal, D: Extract and Evaluate Answers",
        read_printed=read_bare,
        optional=(),
    )
)
