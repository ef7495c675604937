"""What is judged: one response beside its problem, as sections of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.schemas.problem import Choice
from omibench.schemas.request import ImagePart
from omibench.text.fences import Section
from omibench.text.visible import drop_hidden_text

HEAD_CHARS, TAIL_CHARS = 4_000, 12_000
"""What is shown of a long text: its beginning and its end, where conclusions stand."""
RESPONSE_CHARS = HEAD_CHARS + TAIL_CHARS
GOLD_CHARS = 4_000


class JudgeCase(NamedTuple):
    """One response to judge. `answer` is what was extracted of it, `reference` a worked solution.

    `images` are shown after the text, where a judge is to see them; otherwise it sees text only.
    """

    id: str
    question: str
    gold: Sequence[str]
    response: str
    choices: Sequence[Choice] | None = None
    answer: str | None = None
    reference: str | None = None
    images: tuple[ImagePart, ...] = ()


def question_section(case: JudgeCase) -> Section:
    """The statement and its options; a picture is named by its mark."""
    options = [f"{c.label}: {c.text or f'[IMAGE{c.image}]'}" for c in case.choices or []]
    text = "\n".join([case.question.strip(), *options]).strip()
    return Section("QUESTION", clip(text) or "(not given)")


def gold_section(case: JudgeCase) -> Section:
    """The official answer, parts one by one."""
    return Section("OFFICIAL ANSWER", clip("; ".join(case.gold))[:GOLD_CHARS])


def reference_section(case: JudgeCase) -> Section:
    """The reference solution."""
    return Section("REFERENCE SOLUTION", clip((case.reference or "").strip()) or "(not given)")


def response_section(case: JudgeCase) -> Section:
    """The response as a reader sees it: without thinking, invisible characters or its middle."""
    return Section("RESPONSE", clip(drop_hidden_text(case.response)) or "(empty)")


def show_question_and_response(case: JudgeCase) -> tuple[Section, Section]:
    """What a judge is shown that needs neither the official answer nor a reference."""
    return question_section(case), response_section(case)


def clip(text: str) -> str:
    """A text of at most 16,000 characters: of a longer one the beginning and the end."""
    if len(text) <= RESPONSE_CHARS:
        return text
    left_out = len(text) - RESPONSE_CHARS
    return f"{text[:HEAD_CHARS]}\n[{left_out} characters left out]\n{text[-TAIL_CHARS:]}"
