"""Simulated models in roles other than answering: judges, choosers, captioner, translator, reader.

Their comparison of a final answer with the gold answer is not a scorer (those are in
`omibench.answers.scorers`): it only recognises right and wrong answers well enough for the role's
configured error rates to apply to them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from math import sqrt
from random import Random
from statistics import NormalDist
from typing import NamedTuple, TypeVar

from omibench.errors import ModelError
from omibench.models.simulated.answers import (
    Oracle,
    OracleRow,
    answer_text,
    moved_number,
    pick,
    reasoning,
)
from omibench.params.models.providers import SimulatedModel
from omibench.schemas.problem import IMAGE_MARK
from omibench.schemas.request import Role
from omibench.schemas.verdict import QUALITY_MARKS
from omibench.text.boxes import find_literal_boxes
from omibench.text.fences import read_fenced

_MAX_BOXES = 50
_ANSWER = re.compile(
    r"(?:answer(?: is|:)|result is|option)\s*\**\s*[:(]?\s*([^\n]+?)"
    r"\)?(?: fits best)?[.*]*\s*(?:\n|$)",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\\\s?\\text\{[^{}]*\}$|\\text\{[^{}]*\}$")
_NOISE = re.compile(r"\\left|\\right|\\,|\\;|\\ |\\text\{([^{}]*)\}|[$\s{}()*]")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def final_answers(text: str, parts: int = 1) -> list[str]:
    """Return the possible final answers of a response: its last boxes, one per part of the gold.

    Without a box, the text after the last "answer is", else the last line.
    """
    boxes = find_literal_boxes(text)[:_MAX_BOXES]
    if boxes:
        joined = [", ".join(boxes)] if len(boxes) == parts > 1 else []
        return [boxes[-1], *joined]
    stated = _ANSWER.findall(text)
    return [str(stated[-1])] if stated else text.strip().splitlines()[-1:]


def is_right(text: str, gold: Sequence[str], letters: bool) -> bool:
    """Return whether a response ends in the gold answer; `letters` compares sets of options."""
    return any(same_answer(answer, gold, letters) for answer in final_answers(text, len(gold)))


def name_final_answer(text: str, parts: int = 1) -> str:
    """Return the last final answer of a response, normalised for comparison; it can be empty."""
    return next((_normal(answer) for answer in reversed(final_answers(text, parts))), "")


def same_answer(answer: str, gold: Sequence[str], letters: bool) -> bool:
    """Return whether a normalised final answer equals the gold; `letters` compares sets."""
    if letters:
        labels = re.findall(r"\b[A-Z]{1,4}\b", answer)
        return set("".join(labels)) == set("".join(gold)) if labels else False
    joined = ", ".join(gold)
    if _normal(answer) == _normal(joined):
        return True
    pairs = list(zip(_split(answer, len(gold)), gold, strict=False))
    return len(pairs) == len(gold) and all(_same_part(g, w) for g, w in pairs)


def _split(answer: str, parts: int) -> list[str]:
    return [answer] if parts == 1 else re.split(r"\s*[;,]\s+", answer)


def _same_part(answer: str, gold: str) -> bool:
    if _normal(answer) == _normal(gold):
        return True
    bare_answer, bare_gold = (_NUMBER.match(_normal(text)) for text in (answer, gold))
    if bare_answer and bare_gold and bare_gold.group() == _normal(gold):
        return math.isclose(float(bare_answer.group()), float(bare_gold.group()), rel_tol=1e-6)
    return False


def _normal(text: str) -> str:
    bare = _UNIT.sub("", text.strip(" $.\n"))
    return _NOISE.sub(lambda m: m.group(1) or "", bare).casefold()


# Simulated judges: each reads the sections of its prompt, and errs at its configured rates.
#
# `true_positive_rate` and `false_positive_rate` apply to judge and grader; `error_rate` applies to
# the others, whose flawed replies are wrong but well-formed.

MARKS = tuple(name.replace("_", "-") for name in QUALITY_MARKS)
_TYPE = re.compile(r"^- ([a-z][a-z0-9_]*): ", re.MULTILINE)
_SCALE = re.compile(r"N a (whole )?number from (-?[\d.]+) to (-?[\d.]+):\nMARK: N")
_UNSIGNED_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FILLERS = ("The picture is not sharp enough to read more.", "There may be further labels.")
_STEPS = 4
"""Minimum sentences of a simulated rationale that counts as detailed."""
T = TypeVar("T")


class RoleRequest(NamedTuple):
    """A request to a simulated model in another role than answering, and the known answer."""

    model: SimulatedModel
    row: OracleRow
    oracle: Oracle
    prompt: str
    rng: Random

    @property
    def closing(self) -> str:
        """The prompt after the last piece of material."""
        return self.prompt.rpartition("<<<END")[2]

    def is_response_right(self) -> bool:
        """Return whether the response in the prompt ends in the right answer."""
        text = read_section(self.prompt, "RESPONSE")
        return is_right(text, self.row.answer, bool(self.row.choices))

    def call_right(self, right: bool) -> bool:
        """Return whether to call a response right, at the two configured rates."""
        model = self.model
        rate = model.true_positive_rate if right else model.false_positive_rate
        return self.rng.random() < rate

    def draw_flaw(self) -> bool:
        """Return whether this reply has the flaw of its role."""
        return self.rng.random() < self.model.error_rate

    def write(self, text: str) -> str:
        """Return the text; a flaw misreads one number, or adds a remark if there is none."""
        if not self.draw_flaw():
            return text
        numbers = list(_UNSIGNED_NUMBER.finditer(text))
        if not numbers:
            return f"{text} {pick(_FILLERS, self.rng)}"
        number = numbers[int(self.rng.random() * len(numbers))]
        moved = moved_number(number.group(), self.rng)
        return text[: number.start()] + moved + text[number.end() :]

    def require(self, value: T | None, field: str) -> T:
        """Return a value of the row; ModelError with its `field` if it is missing."""
        if not value:
            raise ModelError(
                f"{self.oracle.source}: the line of {self.row.id!r} has no {field!r}, which a "
                "simulated model in this role needs"
            )
        return value


def judge(request: RoleRequest) -> str:
    """Return the line of GPTScore (OMIBench, C.2), right at the two configured rates."""
    right = request.call_right(request.is_response_right())
    return f"ANSWER: {'consistent' if right else 'inconsistent'}"


def grade(request: RoleRequest) -> str:
    """Return the share of parts that are right (MathReal): all of them at the configured rates.

    A right answer that is rejected scores nothing; a wrong one otherwise scores its right parts.
    """
    gold, letters = request.row.answer, bool(request.row.choices)
    answer = read_section(request.prompt, "MODEL ANSWER")
    parts = len(gold)
    right = same_answer(answer, gold, letters) or is_right(answer, gold, letters)
    if request.call_right(right):
        return f"SCORE: {parts}/{parts}"
    answer_parts = re.split(r"\s*[;,]\s+", answer)
    pairs = zip(answer_parts, gold, strict=False) if not (right or letters) else []
    right_count = sum(same_answer(part, [own], letters) for part, own in pairs)
    return f"SCORE: {min(right_count, parts - 1) if parts > 1 else 0}/{parts}"


def extract(request: RoleRequest) -> str:
    """Return the final answer of a response (MathReal); a flaw finds none."""
    text = read_section(request.prompt, "RESPONSE")
    answers = final_answers(text, max(1, len(request.row.answer)))
    answer = " ".join(answers[-1].split()) if answers else ""
    return f"EXTRACTED: {answer if answer and not request.draw_flaw() else 'null'}"


def rate(request: RoleRequest) -> str:
    """Return marks of a rationale (OMIBench, B.2): one less for a wrong answer or a brief text.

    A flaw draws all of them at random. For a transcript, the shares of the printed text that it
    keeps.
    """
    sections, rng = read_fenced(request.prompt), request.rng
    if "TRANSCRIPT" in sections:
        from rapidfuzz import fuzz

        near = round(fuzz.ratio(sections["PRINTED TEXT"], sections["TRANSCRIPT"]))
        share = int(rng.random() * 101) if request.draw_flaw() else near
        return json.dumps({"key-terms": share, "semantics": share})
    response = read_section(request.prompt, "RESPONSE")
    best = 5 - (not request.is_response_right())
    best -= response.count(". ") + response.count(".\n") < _STEPS
    if request.draw_flaw():
        return json.dumps({mark: 1 + int(rng.random() * 5) for mark in MARKS})
    return json.dumps({mark: best - int(rng.random() * 2) for mark in MARKS})


def align(request: RoleRequest) -> str:
    """Return the alignment with the reference (OMIBench, B.2): 4 or 5 if right, else 1 or 2.

    A flaw draws it at random.
    """
    rng = request.rng
    mark = (4 if request.is_response_right() else 1) + int(rng.random() * 2)
    return json.dumps({"score": 1 + int(rng.random() * 5) if request.draw_flaw() else mark})


def classify(request: RoleRequest) -> str:
    """Return one of the error types in the prompt, `no_error` if the answer is right.

    The type of a wrong answer is drawn from the others; a flaw draws from all.
    """
    types = tuple(_TYPE.findall(request.closing))
    if request.draw_flaw():
        return f"ERROR TYPE: {pick(types, request.rng)}"
    return (
        f"ERROR TYPE: {types[-1] if request.is_response_right() else pick(types[:-1], request.rng)}"
    )


def assess(request: RoleRequest) -> str:
    """Return a value of the scale at the end of the prompt: in the upper half for a right answer.

    For labels, the first for a right answer and the last for a wrong one; a flaw draws any.
    """
    right, flawed, rng = request.is_response_right(), request.draw_flaw(), request.rng
    if labels := tuple(_TYPE.findall(request.closing)):
        return f"LABEL: {pick(labels, rng) if flawed else labels[0 if right else -1]}"
    scale = _SCALE.search(request.closing)
    if scale is None:
        return "I cannot tell."
    lowest, highest = float(scale.group(2)), float(scale.group(3))
    share = rng.random()
    value = lowest + (share if flawed else (share + right) / 2) * (highest - lowest)
    return f"MARK: {round(value) if scale.group(1) else round(value, 2)}"


def read_section(prompt: str, name: str) -> str:
    """Return a section of the material, or the whole prompt if it has no sections."""
    return read_fenced(prompt).get(name, prompt)


# Simulated judges that choose among samples: scorer of best-of-N, comparison judge, reward head.
#
# Each has a view of a response on a normal scale: `discernment` for a right answer, a taste for the
# answer that is the same in every prompt, and a random part per prompt. Because the taste is
# constant, more candidates and more rounds help as little as with the reward models of EMMA (table
# 3).

Seeded = Callable[..., Random]
"""Creates a generator that depends only on the model and the given names."""
View = Callable[[str], float]
"""A judge's view of a response, in standard deviations around 0."""
_NORMAL = NormalDist()


def make_view(model: SimulatedModel, row: OracleRow, seeded: Seeded, rng: Random) -> View:
    """Return the view of a judge of responses to one problem, in one prompt.

    Args:
        model: The judge's block of params.
        row: The problem.
        seeded: Creates the generator of its taste for an answer.
        rng: The generator of the prompt.
    """

    def view(text: str) -> float:
        right = is_right(text, row.answer, bool(row.choices))
        answer = "right" if right else f"wrong {name_final_answer(text, len(row.answer))}"
        taste = seeded("taste", row.id, answer).gauss(0.0, 1.0)
        passing = rng.gauss(0.0, 1.0)
        share = model.lasting_taste
        spread = sqrt(share) * taste + sqrt(1 - share) * passing
        return spread + model.discernment * (right - 0.5)

    return view


def mark(prompt: str, view: View) -> str:
    """Return a mark from 0 to 100 for best-of-N: the normal quantile of the view.

    If the prompt contains several responses, return a mark for each.
    """
    rivals = [text for name, text in read_fenced(prompt).items() if name.startswith("RESPONSE ")]
    marks = [
        round(100 * _NORMAL.cdf(view(text)))
        for text in rivals or [read_section(prompt, "RESPONSE")]
    ]
    return f"MARKS: {', '.join(map(str, marks))}" if rivals else f"MARK: {marks[0]}"


def reward(response: str, view: View) -> str:
    """Return a reward head's number: the view itself."""
    return repr(round(view(response), 6))


def compare(prompt: str, view: View) -> str:
    """Return the better of two responses."""
    first, second = (view(read_section(prompt, name)) for name in ("RESPONSE A", "RESPONSE B"))
    return f"BETTER: {'A' if first >= second else 'B'}"


CHOOSERS: dict[Role, Callable[[str, View], str]] = {"marker": mark, "referee": compare}


# Simulated captioner, perceiver, translator, voter, labeller, page reader, writer; and judges.
#
# Each uses the known answers; `error_rate` of the replies have a flaw typical of the role.

REFERENCES = ("Reference Solution", "Official answer:")
_LISTED = re.compile(r"^- (.+)$", re.MULTILINE)
_FIGURES = "Describe the figures"
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_OWN_WORDS, _SKILLS, _PICK = "main topic first", "Decide which skills", "Copy exactly one"
_DESCRIBED = "without its\ndescription"
"""Phrases by which the labeller's prompts are distinguished."""
_WORD = re.compile(r"[a-z]{4,}")
_POINT = re.compile(r'"(\w+)": true or false')
_ASKS_SUBJECT = '{"subject": "'
"""Phrase of a vote prompt that starts the reply with a subject."""


def caption(request: RoleRequest) -> str:
    """Return the captions of the figures in the prompt, or of all; a flaw changes a number.

    Text in fences is skipped: it is the problem, with all its image marks.
    """
    captions = request.require(request.row.captions, "captions")
    named = [int(n) for n in IMAGE_MARK.findall(request.closing) if int(n) < len(captions)]
    numbers = dict.fromkeys(named) or range(len(captions))
    return request.write("\n".join(captions[n] for n in numbers))


def perceive(request: RoleRequest) -> str:
    """Return the question's text, or the content of its figures if the prompt requests that.

    A flaw changes a number. For an unknown problem the reply states that nothing was read.
    """
    row = request.row
    figures = _FIGURES in request.prompt
    read = "\n".join(row.captions) if figures else row.statement or row.translation
    return request.write(read or f"(SIMULATED: nothing was read of {row.id})")


def translate(request: RoleRequest) -> str:
    """Return the translated statement; a flaw changes a number.

    If the prompt contains the question and its choices in fences, all of them are returned under
    their names, with each image mark once and decimal points in the choices.
    """
    text = request.require(request.row.translation or request.row.statement, "translation")
    sections = read_fenced(request.prompt)
    marks = dict.fromkeys(IMAGE_MARK.findall(sections.pop("QUESTION", "")))
    text += "".join(f"\n\n[IMAGE{n}]" for n in marks if f"[IMAGE{n}]" not in text)
    text = request.write(text)
    if not sections and "QUESTION:" not in request.prompt:
        return text
    choices = (
        f"\n{name}:\n{_DECIMAL_COMMA.sub('.', section)}" for name, section in sections.items()
    )
    return f"QUESTION:\n{text}{''.join(choices)}"


def vote(request: RoleRequest) -> str:
    """Answer yes to each point in the prompt; a flaw answers no to one of them.

    If the prompt requests a subject, it is the known one.
    """
    points = _POINT.findall(request.closing)
    against = pick(tuple(points), request.rng) if points and request.draw_flaw() else None
    subject = {"subject": request.row.subject} if _ASKS_SUBJECT in request.prompt else {}
    return json.dumps(subject | {point: point != against for point in points})


def label(request: RoleRequest) -> str:
    """Return `{CLASS: topic}` (OMIBench, A.5); a flaw returns another of the labels in the prompt.

    If the prompt lists none, the known topics of the subject are used. Free topics combine the
    topic with a word of the captions; skills and classes are drawn from the list, skills with a
    reason.
    """
    prompt, row, rng = request.prompt, request.row, request.rng
    listed = _LISTED.findall(prompt)
    if _SKILLS in prompt or _DESCRIBED in prompt:
        reason = "(SIMULATED: no reason is known.)\n" if _SKILLS in prompt else ""
        names = tuple(line.partition(":")[0] for line in listed)
        return f"{reason}{{CLASS: {pick(names, rng)}}}"
    topic = request.require(row.topic, "topic")
    names = tuple(name for name in listed or request.oracle.topics(row.subject) if name != topic)
    if _PICK in prompt and topic not in listed and names:
        topic = (get_close_matches(topic, names, n=1, cutoff=0.0) or names)[0]
    elif names and request.draw_flaw():
        topic = pick(names, rng)
    if _OWN_WORDS in prompt:
        topic = f"{topic} of {_find_long_word(row)}"
    return f"{{CLASS: {topic}}}"


def _find_long_word(row: OracleRow) -> str:
    """Return the longest word of the captions, the first in alphabetical order among equals."""
    words = _WORD.findall(" ".join(row.captions).lower())
    return min(words, key=lambda word: (-len(word), word), default="figures")


def read_page(request: RoleRequest) -> str:
    """Return the text of a page; a flaw misreads one number of it."""
    return request.write(request.require(request.row.page_text, "page_text"))


def write_rationale(request: RoleRequest) -> str:
    """Return `Reasoning: ... Final Answer: ...` (OMIBench, A.3.1); a flaw ends in a wrong answer.

    A writer that is shown the reference ends in the right answer.
    """
    row, rng = request.row, request.rng
    right = any(word in request.prompt for word in REFERENCES) or not request.draw_flaw()
    steps = row.rationale if right and row.rationale else reasoning(row.n_images, rng)
    answer = answer_text(row, right, request.oracle, rng)
    return f"Reasoning: {steps}\nFinal Answer: \\boxed{{{answer}}}"


WRITERS: dict[Role, Callable[[RoleRequest], str]] = {
    "judge": judge,
    "grader": grade,
    "extractor": extract,
    "rater": rate,
    "aligner": align,
    "classifier": classify,
    "assessor": assess,
    "captioner": caption,
    "perceiver": perceive,
    "translator": translate,
    "voter": vote,
    "labeller": label,
    "page_reader": read_page,
    "rationale_writer": write_rationale,
}
