"""The input of a judge: one response with its problem, as sections of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.schemas.problem import Choice, Figure
from omibench.schemas.request import ImagePart, Part, TextPart
from omibench.text.fences import Section
from omibench.text.visible import drop_hidden_text

HEAD_CHARS, TAIL_CHARS = 4_000, 12_000
"""Characters shown of a long text: its start, and its end, where conclusions are."""
RESPONSE_CHARS = HEAD_CHARS + TAIL_CHARS
GOLD_CHARS = 4_000


class JudgeCase(NamedTuple):
    """One response to judge. `answer` is its extracted answer, `reference` a worked solution.

    `images` are shown after the text if the judge supports them; otherwise it sees only text.
    `statement` is the question with its options as shown to a respondent, with pictures in place;
    if given, it replaces `question` and `choices`. `rivals` are further responses to the same
    question that are judged with the first.
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


def list_pictures(figures: Iterable[Figure], folder: Path) -> tuple[ImagePart, ...]:
    """Return the pictures of a problem in its order, with paths below the dataset's folder."""
    return tuple(
        ImagePart(sha256=figure.sha256, path=(folder / figure.file).as_posix())
        for figure in figures
    )


def question_section(case: JudgeCase) -> Section:
    """Return the statement and its options; a picture is shown in place, or as its mark."""
    if case.statement:
        return _statement_section(case.statement)
    options = [f"{c.label}: {c.text or f'[IMAGE{c.image}]'}" for c in case.choices or []]
    text = "\n".join([case.question.strip(), *options]).strip()
    return Section("QUESTION", clip(text) or "(not given)")


def _statement_section(statement: Sequence[Part]) -> Section:
    """Return the parts of a statement in order; a too long one loses its middle, but no picture."""
    text, pictures = "", list[tuple[int, ImagePart]]()
    for part in statement:
        if isinstance(part, TextPart):
            text += part.text
        else:
            pictures.append((len(text), part))
    inserts = tuple((_place_in_clip(place, len(text)), picture) for place, picture in pictures)
    return Section("QUESTION", clip(text), inserts)


def _place_in_clip(place: int, length: int) -> int:
    """Map a position in a text to its position in the result of `clip`."""
    left_out = length - RESPONSE_CHARS
    if left_out <= 0 or place <= HEAD_CHARS:
        return place
    if place < HEAD_CHARS + left_out:
        return HEAD_CHARS
    return place - left_out + len(_left_out(left_out))


def gold_section(case: JudgeCase) -> Section:
    """Return the official answer, part by part."""
    return Section("OFFICIAL ANSWER", clip("; ".join(case.gold))[:GOLD_CHARS])


def reference_section(case: JudgeCase) -> Section:
    """Return the reference solution."""
    return Section("REFERENCE SOLUTION", clip((case.reference or "").strip()) or "(not given)")


def response_section(case: JudgeCase) -> Section:
    """Return the response without thinking, invisible characters or, if too long, its middle."""
    return Section("RESPONSE", clip(drop_hidden_text(case.response)) or "(empty)")


def show_question_and_response(case: JudgeCase) -> tuple[Section, Section]:
    """Return the material of a judge that needs neither the official answer nor a reference."""
    return question_section(case), response_section(case)


def clip(text: str) -> str:
    """Return at most 16,000 characters of a text: the start and the end of a longer one."""
    if len(text) <= RESPONSE_CHARS:
        return text
    left_out = _left_out(len(text) - RESPONSE_CHARS)
    return f"{text[:HEAD_CHARS]}{left_out}{text[-TAIL_CHARS:]}"


def _left_out(characters: int) -> str:
    return f"\n[{characters} characters left out]\n"
