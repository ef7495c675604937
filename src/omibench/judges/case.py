"""What is judged: one response beside its problem, as sections of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from omibench.schemas.problem import Choice
from omibench.schemas.request import ImagePart, Part, TextPart
from omibench.text.fences import Section
from omibench.text.visible import drop_hidden_text

HEAD_CHARS, TAIL_CHARS = 4_000, 12_000
"""What is shown of a long text: its beginning and its end, where conclusions stand."""
RESPONSE_CHARS = HEAD_CHARS + TAIL_CHARS
GOLD_CHARS = 4_000


class JudgeCase(NamedTuple):
    """One response to judge. `answer` is what was extracted of it, `reference` a worked solution.

    `images` are shown after the text, where a judge is to see them; otherwise it sees text only.
    `statement` is the question with its options as a respondent was shown it, pictures in their
    places; where it is given, it stands for `question` and `choices`. `rivals` are further
    responses to the same question that are judged beside the first.
    """

    id: str
    question: str
    gold: Sequence[str]
    response: str
    choices: Sequence[Choice] | None = None
    answer: str | None = None
    reference: str | None = None
    images: tuple[ImagePart, ...] = ()
    statement: tuple[Part, ...] = ()
    rivals: tuple[str, ...] = ()


def question_section(case: JudgeCase) -> Section:
    """The statement and its options; a picture is named by its mark, or shown in its place."""
    if case.statement:
        return _statement_section(case.statement)
    options = [f"{c.label}: {c.text or f'[IMAGE{c.image}]'}" for c in case.choices or []]
    text = "\n".join([case.question.strip(), *options]).strip()
    return Section("QUESTION", clip(text) or "(not given)")


def _statement_section(statement: Sequence[Part]) -> Section:
    """The parts of a statement in order; of one that is too long the middle goes, no picture."""
    text, pictures = "", list[tuple[int, ImagePart]]()
    for part in statement:
        if isinstance(part, TextPart):
            text += part.text
        else:
            pictures.append((len(text), part))
    inserts = tuple((_place_in_clip(place, len(text)), picture) for place, picture in pictures)
    return Section("QUESTION", clip(text), inserts)


def _place_in_clip(place: int, length: int) -> int:
    """Where a place in a text of some length is found in what `clip` leaves of it."""
    left_out = length - RESPONSE_CHARS
    if left_out <= 0 or place <= HEAD_CHARS:
        return place
    if place < HEAD_CHARS + left_out:
        return HEAD_CHARS
    return place - left_out + len(_left_out(left_out))


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
    left_out = _left_out(len(text) - RESPONSE_CHARS)
    return f"{text[:HEAD_CHARS]}{left_out}{text[-TAIL_CHARS:]}"


def _left_out(characters: int) -> str:
    return f"\n[{characters} characters left out]\n"
