"""Simulated captioner, perceiver, translator, voter, labeller, page reader, writer; and judges.

Each uses the known answers; `error_rate` of the replies have a flaw typical of the role.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from difflib import get_close_matches
from random import Random
from typing import TypeVar

from omibench.errors import ModelError
from omibench.models.simulated import judging
from omibench.models.simulated.oracle import Oracle, OracleRow
from omibench.models.simulated.prose import pick, reasoning
from omibench.models.simulated.respond import answer_text
from omibench.models.simulated.wrong_answers import moved_number
from omibench.params.models.simulated import SimulatedModel
from omibench.schemas.image_marks import IMAGE_MARK
from omibench.schemas.request import Role
from omibench.text.fences import read_fenced

REFERENCES = ("Reference Solution", "Official answer:")
_LISTED = re.compile(r"^- (.+)$", re.MULTILINE)
_FIGURES = "Describe the figures"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_OWN_WORDS, _SKILLS, _PICK = "main topic first", "Decide which skills", "belongs. Its topic"
"""Phrases by which the labeller's prompts are distinguished."""
_WORD = re.compile(r"[a-z]{4,}")
_POINT = re.compile(r'"(\w+)": true or false')
_ASKS_SUBJECT = '{"subject": "'
"""Phrase of a vote prompt that starts the reply with a subject."""
T = TypeVar("T")
_FILLERS = ("The picture is not sharp enough to read more.", "There may be further labels.")


def caption(model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random) -> str:
    """Return the captions of the figures in the prompt, or of all; a flaw changes a number.

    Text in fences is skipped: it is the problem, with all its image marks.
    """
    captions = _require(row.captions, row, "captions", oracle)
    numbers = IMAGE_MARK.findall(prompt.rpartition("<<<END")[2])
    named = [int(n) for n in numbers if int(n) < len(captions)]
    text = "\n".join(captions[n] for n in dict.fromkeys(named)) if named else "\n".join(captions)
    return _misread_number(text, rng) if _is_flawed(model, rng) else text


def perceive(
    model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random
) -> str:
    """Return the question's text, or the content of its figures if the prompt requests that.

    A flaw changes a number. For an unknown problem the reply states that nothing was read.
    """
    read = "\n".join(row.captions) if _FIGURES in prompt else row.statement or row.translation
    text = read or f"(SIMULATED: nothing was read of {row.id})"
    return _misread_number(text, rng) if _is_flawed(model, rng) else text


def translate(
    model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random
) -> str:
    """Return the translated statement; a flaw changes a number.

    If the prompt contains the question and its choices in fences, all of them are returned under
    their names, with each image mark once and decimal points in the choices.
    """
    text = _require(row.translation or row.statement, row, "translation", oracle)
    sections = read_fenced(prompt)
    marks = dict.fromkeys(IMAGE_MARK.findall(sections.pop("QUESTION", "")))
    text += "".join(f"\n\n[IMAGE{n}]" for n in marks if f"[IMAGE{n}]" not in text)
    text = _misread_number(text, rng) if _is_flawed(model, rng) else text
    if not sections and "QUESTION:" not in prompt:
        return text
    choices = (
        f"\n{name}:\n{_DECIMAL_COMMA.sub('.', section)}" for name, section in sections.items()
    )
    return f"QUESTION:\n{text}{''.join(choices)}"


def vote(model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random) -> str:
    """Answer yes to each point in the prompt; a flaw answers no to one of them.

    If the prompt requests a subject, it is the known one.
    """
    points = _POINT.findall(prompt.rpartition("<<<END")[2])
    against = pick(tuple(points), rng) if points and _is_flawed(model, rng) else None
    subject = {"subject": row.subject} if _ASKS_SUBJECT in prompt else {}
    return json.dumps(subject | {point: point != against for point in points})


def label(model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random) -> str:
    """Return `{CLASS: topic}` (OMIBench, A.5); a flaw returns another of the labels in the prompt.

    If the prompt lists none, the known topics of the subject are used. Free topics combine the
    topic with a word of the captions; skills are drawn from the list, with a reason.
    """
    listed = _LISTED.findall(prompt)
    if _SKILLS in prompt:
        names = tuple(line.partition(":")[0] for line in listed)
        return f"(SIMULATED: no reason is known.)\n{{CLASS: {pick(names, rng)}}}"
    topic = _require(row.topic, row, "topic", oracle)
    names = tuple(name for name in listed or oracle.topics(row.subject) if name != topic)
    if _PICK in prompt and topic not in listed and names:
        topic = (get_close_matches(topic, names, n=1, cutoff=0.0) or names)[0]
    elif names and _is_flawed(model, rng):
        topic = pick(names, rng)
    if _OWN_WORDS in prompt:
        topic = f"{topic} of {_find_long_word(row)}"
    return f"{{CLASS: {topic}}}"


def _find_long_word(row: OracleRow) -> str:
    """Return the longest word of the captions, the first in alphabetical order among equals."""
    words = _WORD.findall(" ".join(row.captions).lower())
    return min(words, key=lambda word: (-len(word), word), default="figures")


def read_page(
    model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random
) -> str:
    """Return the text of a page; a flaw misreads one number of it."""
    text = _require(row.page_text, row, "page_text", oracle)
    return _misread_number(text, rng) if _is_flawed(model, rng) else text


def write_rationale(
    model: SimulatedModel, row: OracleRow, oracle: Oracle, prompt: str, rng: Random
) -> str:
    """Return `Reasoning: ... Final Answer: ...` (OMIBench, A.3.1); a flaw ends in a wrong answer.

    A writer that is shown the reference ends in the right answer.
    """
    right = any(word in prompt for word in REFERENCES) or not _is_flawed(model, rng)
    steps = row.rationale if right and row.rationale else reasoning(row.n_images, rng)
    answer = answer_text(row, right, oracle, rng)
    return f"Reasoning: {steps}\nFinal Answer: \\boxed{{{answer}}}"


WRITERS: dict[Role, Callable[[SimulatedModel, OracleRow, Oracle, str, Random], str]] = {
    "judge": judging.judge,
    "grader": judging.grade,
    "extractor": judging.extract,
    "rater": judging.rate,
    "aligner": judging.align,
    "classifier": judging.classify,
    "assessor": judging.assess,
    "captioner": caption,
    "perceiver": perceive,
    "translator": translate,
    "voter": vote,
    "labeller": label,
    "page_reader": read_page,
    "rationale_writer": write_rationale,
}


def _is_flawed(model: SimulatedModel, rng: Random) -> bool:
    return rng.random() < model.error_rate


def _misread_number(text: str, rng: Random) -> str:
    """Return the text with one number misread, or with a remark if it contains none."""
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return f"{text} {pick(_FILLERS, rng)}"
    number = numbers[int(rng.random() * len(numbers))]
    return text[: number.start()] + moved_number(number.group(), rng) + text[number.end() :]


def _require(value: T | None, row: OracleRow, field: str, oracle: Oracle) -> T:
    if not value:
        raise ModelError(
            f"{oracle.source}: the line of {row.id!r} has no {field!r}, which a simulated model "
            "in this role needs"
        )
    return value
