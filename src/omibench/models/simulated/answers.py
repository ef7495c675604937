"""Answers of a simulated model, and the solved problems that it answers from."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

from omibench.errors import ModelError, reason_of
from omibench.models.synthetic.items import chance, clean_items, items, make_random
from omibench.models.synthetic.profiles import Made, parse_address
from omibench.params.models.providers import SimulatedModel, Slips
from omibench.schemas.problem import AnswerType
from omibench.schemas.request import Outcome, Request, Response, Usage
from omibench.schemas.tables import read_jsonl

_ONLY_IN_ANSWERS = {"solution", "attributes"}


class OracleRow(BaseModel):
    """The known answer of one problem, or the text of one page of a scan (`<source>#p<page>`).

    `choices` are the labels of the options; `difficulty` is on the (logit) scale of ability;
    `captions` follow the order of the images; `page_text` is the printed text of a page.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    answer: list[str] = []
    answer_type: AnswerType = "open"
    choices: list[str] | None = None
    difficulty: float = 0.0
    n_images: int = 2
    subject: str = "other"
    topic: str | None = None
    captions: list[str] = []
    translation: str | None = None
    rationale: str | None = None
    statement: str | None = None
    page_text: str | None = None
    spared: Annotated[list[str], Field(exclude_if=lambda spared: not spared)] = []
    """Settings that do not affect it: `captions` if the text contains all that the pictures
    show."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_answer(cls, row: Any) -> Any:
        """Convert a frozen answer or a problem as read, valid lines too.

        The id determines the difficulty.
        """
        if not isinstance(row, dict) or not _ONLY_IN_ANSWERS & row.keys():
            return row
        choices = row.get("choices") or []
        name = str(row.get("id"))
        figures = row.get("n_images") or len(row.get("images") or [])
        return {
            "difficulty": round(make_random("difficulty", name).gauss(0.0, 1.0), 4),
            "rationale": row.get("solution"),
            "statement": row.get("question") or f"The statement of {name}.",
            "captions": [f"Figure {n + 1} of {name}." for n in range(figures)],
            **row,
            "answer": row.get("answer") or [],
            "n_images": figures,
            "topic": row.get("topic") or f"topic {make_random('topic', name).randint(1, 3)}",
            "choices": [c["label"] if isinstance(c, dict) else c for c in choices] or None,
        }


class Oracle:
    """All rows of an `oracle` file by id, with topics and words for plausible mistakes."""

    def __init__(self, rows: list[OracleRow], source: str = "oracle") -> None:
        self.source = source
        text = "\n".join(sorted(row.model_dump_json() for row in rows))
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.rows = {row.id: row for row in rows}
        self._topics: dict[str, set[str]] = defaultdict(set)
        self._answers: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            if row.topic:
                self._topics[row.subject].add(row.topic)
            if row.answer_type == "open":
                self._answers[row.subject].update(row.answer)

    def row(self, problem: str) -> OracleRow:
        """Return the row of a problem. Raises ModelError with the problem and the file."""
        try:
            return self.rows[problem]
        except KeyError:
            raise ModelError(
                f"{self.source}: no line for {problem!r}, which the simulated models need; add "
                "one, or limit them to the problems in the file"
            ) from None

    def topics(self, subject: str) -> list[str]:
        """Return every topic of a subject, sorted."""
        return sorted(self._topics[subject])

    def answers(self, subject: str) -> list[str]:
        """Return every open answer of a subject, sorted: candidates for wrong answers."""
        return sorted(self._answers[subject])


def load_oracle(path: str) -> Oracle:
    """Read an `oracle` file, once per version of it; or that of synthetic problems.

    `synthetic:<study>` refers to those problems (`omibench.models.synthetic.profiles`). Raises
    ModelError if the file is missing, FileFormatError if a line is invalid, and ParamsError for an
    unknown synthetic study.
    """
    if address := parse_address(path):
        return _make_oracle(address)
    try:
        state = Path(path).stat()
    except OSError as error:
        raise ModelError(
            f"{path}: the `oracle` file of a simulated model cannot be read: {reason_of(error)}"
        ) from None
    return _load(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _make_oracle(address: Made) -> Oracle:
    rows = [
        OracleRow(
            id=item.id,
            answer=item.answer,
            answer_type=item.answer_type,
            choices=[option.label for option in item.options] or None,
            difficulty=item.difficulty,
            n_images=len(item.drawings),
            subject=item.subject,
            topic=item.attributes.get("category"),
            captions=[drawing.caption for drawing in item.drawings],
            translation=item.question,
            rationale=item.solution,
            statement=item.question,
        )
        for item in (*items(*address), *clean_items(*address))
    ]
    return Oracle(rows, str(address))


@lru_cache(maxsize=8)
def _load(path: str, modified_ns: int, size: int) -> Oracle:
    return Oracle(read_jsonl(Path(path), OracleRow), path)


# The words of simulated respondents: reasoning sentences, endings and the shapes of slips.
#
# No sentence of reasoning states an answer, names an option or holds a box, so that what a scorer
# extracts is what the ending says.

OPENERS = (
    "Let me work through this step by step.\n\n",
    "To solve this, we first read what each figure shows.\n\n",
    "### Step 1: Understanding the problem\n",
    "I will start by collecting the data from the images.\n\n",
    "We need to combine the figures here.\n\n",
    "Okay, let's look at what is given.\n\n",
)
STEPS = (
    "From Figure {i} we read the quantities that are marked on the drawing.",
    "Figure {j} supplies the missing relation, which the text does not state.",
    "Comparing Figure {i} with Figure {j}, the two scales have to be brought to the same unit.",
    "The curve in Figure {i} is close to linear over the range of interest, about {n} divisions.",
    "Note that the labels in Figure {j} are not in the order in which the text mentions them.",
    "Substituting what we read from Figure {i} gives an expression in one unknown.",
    "There are {n} features to keep track of, and only some of them matter here.",
    "By conservation, whatever leaves one side has to appear on the other.",
    "We check the limiting case: when the quantity in Figure {i} is zero, the effect vanishes.",
    "**Step {n}:** eliminate the intermediate variable between the two equations.",
    "The arrow in Figure {j} points in the opposite direction, so the sign has to be reversed.",
    "Counting carefully in Figure {i}, I find {n} of them on the outer edge.",
    "This is consistent with the trend in Figure {j}, where the values fall off after {n} steps.",
    "A quick estimate of the order of magnitude supports this reading.",
    "If instead we had used Figure {i} alone, the problem would be underdetermined.",
    "Rearranging the terms leaves a simple ratio of the two readings.",
)
BRIDGES = (
    "Putting both readings together settles the question.",
    "With this, everything that is needed is known.",
    "The remaining steps are arithmetic.",
    "All conditions of the problem are now satisfied.",
)
BOXED = (
    "Therefore, the final answer is\n\n\\[\n\\boxed{{{a}}}\n\\]",
    "Thus, the answer is \\boxed{{{a}}}.",
    "### Final Answer\n\n\\boxed{{{a}}}",
    "**Final Answer:** $\\boxed{{{a}}}$",
    "So the result is $\\boxed{{{a}}}$.",
)
UNBOXED = (
    "Therefore, the final answer is {a}.",
    "Thus, the answer is {a}.",
    "Hence the correct answer is {a}.",
)
LETTER_SENTENCES = (
    "Only one of the curves has this slope, so option ({a}) fits best.",
    "The other drawings contradict one of the figures, so option ({a}) fits best.",
    "Both readings agree with this, so option ({a}) fits best.",
)
REFUSALS = (
    "I'm sorry, but I can't help with solving this problem from the images.",
    "I'm sorry, but I am unable to view the images, so I cannot answer this question.",
    "I cannot assist with this request.",
)
INTERMEDIATE = (
    "This gives an intermediate value of \\boxed{{{a}}}, which still has to be converted.",
    "As a first result we get $\\boxed{{{a}}}$ for the quantity in Figure 1.",
)
UNITS = {
    "physics": ("m", "m/s", "N", "J"),
    "chemistry": ("mol", "g", "mL"),
    "biology": ("cells", "mm", "h"),
    "mathematics": ("units", "cm"),
}


class Style(NamedTuple):
    """The format that a prompt requests: a box or a bare answer, with reasoning or without."""

    boxed: bool
    brief: bool


def read_style(prompt: str) -> Style:
    """Read the requested format from the words of the prompt."""
    lowered = prompt.lower()
    brief = (
        "only the final answer" in lowered
        or "only contains the final answer" in lowered
        or ("without rationale" in lowered and "step by step" not in lowered)
    )
    return Style("boxed" in lowered, brief)


def pick(options: tuple[str, ...], rng: Random) -> str:
    """Pick one of the options."""
    return options[int(rng.random() * len(options))]


def reasoning(n_images: int, rng: Random) -> str:
    """Return three to eight sentences about the figures, without any answer."""
    figures = max(n_images, 1)
    # An odd stride through the sixteen sentences repeats none of them.
    at, stride = int(rng.random() * len(STEPS)), 1 + 2 * int(rng.random() * 8)
    steps = []
    for step in range(3 + int(rng.random() * 6)):
        first = 1 + int(rng.random() * figures)
        sentence = STEPS[(at + step * stride) % len(STEPS)]
        steps.append(sentence.format(i=first, j=first % figures + 1, n=2 + int(rng.random() * 5)))
    steps.append(pick(BRIDGES, rng))
    gap = " " if rng.random() < 0.5 else "\n\n"
    return pick(OPENERS, rng) + gap.join(steps)


def boxed_ending(answer: str, style: Style, rng: Random) -> str:
    """Return the ending that the prompt requests: a box, or the bare answer."""
    if not style.boxed:
        return answer
    return f"\\boxed{{{answer}}}" if style.brief else pick(BOXED, rng).format(a=answer)


def plain(answer: str) -> str:
    """Format an answer for a sentence: formulas between dollar signs."""
    formula = ("\\" in answer or "^" in answer or "_" in answer) and "$" not in answer
    return f"${answer}$" if formula else answer


def repetition(rng: Random) -> str:
    """Repeat one sentence, like a model caught in a loop."""
    sentence = pick(STEPS, rng).format(i=1, j=2, n=3)
    return " ".join([sentence] * (60 + int(rng.random() * 60)))


# Plausible wrong answers: each differs from the right one.

_LABEL = re.compile(r"^[\s$]*(?:\([a-z0-9]{1,3}\)\s*|[a-z0-9][.)]\s+)", re.IGNORECASE)
_TRUTH = re.compile(r"\b(true|false|yes|no|correct|incorrect)\b", re.IGNORECASE)
_TRUTH_LETTERS = re.compile(r"[TF](?:[\s,;]+[TF])*")
_OPPOSITE = {
    "true": "false", "false": "true", "yes": "no", "no": "yes",
    "correct": "incorrect", "incorrect": "correct", "t": "f", "f": "t",
}  # fmt: skip
_NUMBER = re.compile(r"(?<![\d_])(?<!_\{)\d+(?:\.\d+)?")
"""A number that is not an index: a changed index is another name, easily taken for a slip."""
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_LETTERS = re.compile(r"[A-J](?:\s*,?\s*[A-J])*")
_FRACTION = re.compile(r"\\frac\{([^{}]+)\}\{([^{}]+)\}")
_FACTORS = (0.5, 2.0, 0.8, 1.25, 1.5, 3.0, 0.1, 10.0)


def wrong_letters(answer: Sequence[str], labels: Sequence[str], rng: Random) -> list[str]:
    """Return wrong options: one of the right ones exchanged, or one letter dropped."""
    right = set("".join(answer))
    wrong_labels = [label for label in labels if label not in right]
    chosen = sorted(right)
    if wrong_labels:
        chosen[rng.randrange(len(chosen))] = wrong_labels[rng.randrange(len(wrong_labels))]
    elif len(chosen) > 1:
        chosen.pop(rng.randrange(len(chosen)))
    else:
        chosen = ["none of the options"]
    return sorted(chosen)


def wrong_parts(answer: Sequence[str], decoys: Sequence[str], rng: Random) -> list[str]:
    """Return the parts of an open answer with one wrong; `decoys` supply words for a wrong text."""
    at = rng.randrange(len(answer))
    return [wrong_part(part, decoys, rng) if i == at else part for i, part in enumerate(answer)]


def wrong_part(part: str, decoys: Sequence[str], rng: Random) -> str:
    """Return a wrong part: a flipped truth value, a changed number, form or word."""
    label = _LABEL.match(part)
    head, body = (label.group(), part[label.end() :]) if label else ("", part)
    words = _WORD.findall(_COMMAND.sub(" ", body))
    short = _TRUTH_LETTERS.fullmatch(body.strip())
    truths = list(re.finditer("[TF]", body) if short else _TRUTH.finditer(body))
    if truths and all(w.lower() in _OPPOSITE for w in words):
        return head + _flip(body, truths[rng.randrange(len(truths))])
    if _LETTERS.fullmatch(body.strip()) and len(body.strip()) > 1:
        letters = re.findall("[A-J]", body)
        return head + ", ".join(wrong_letters(letters, "ABCDEFGHIJ", rng))
    if not words or _NUMBER.search(body):
        number = _NUMBER.search(body)
        if number:
            moved = moved_number(number.group(), rng)
            return head + body[: number.start()] + moved + body[number.end() :]
        return head + _other_form(body, rng)
    pool = [text for text in decoys if text.strip().casefold() != part.strip().casefold()]
    pool = [text for text in pool if _WORD.search(text) and not _NUMBER.search(text)]
    return head + (pool[rng.randrange(len(pool))] if pool else "it cannot be decided")


def moved_number(digits: str, rng: Random) -> str:
    """Return another number with the same decimals, at least 5 % away: `"2.50"` gives `"5.00"`."""
    value, decimals = float(digits), len(digits.partition(".")[2])
    start = rng.randrange(len(_FACTORS))
    for step in range(len(_FACTORS)):
        moved = f"{value * _FACTORS[(start + step) % len(_FACTORS)]:.{decimals}f}"
        if abs(float(moved) - value) > 0.05 * value and float(moved) > 0:
            return moved
    return f"{value + 1:.{decimals}f}"


def _flip(text: str, truth: re.Match[str]) -> str:
    word = truth.group()
    opposite = _OPPOSITE[word.lower()]
    cased = opposite.upper() if word.isupper() else opposite.title() if word.istitle() else opposite
    return text[: truth.start()] + cased + text[truth.end() :]


def _other_form(body: str, rng: Random) -> str:
    """Return another symbolic form: an inverted fraction, a changed sign, an added factor."""
    fraction = _FRACTION.search(body)
    if fraction and fraction.group(1) != fraction.group(2) and rng.random() < 0.5:
        turned = f"\\frac{{{fraction.group(2)}}}{{{fraction.group(1)}}}"
        return body[: fraction.start()] + turned + body[fraction.end() :]
    left, equals, right = body.rpartition("=")
    bare = right.strip().strip("$")
    factor = ("2", "3", "\\frac{1}{2}")[rng.randrange(3)]
    changed = f"{factor}\\left({bare}\\right)" if re.search(r"[-+\s]", bare) else f"{factor}{bare}"
    return f"{left}{equals} {changed}".strip().replace("$", "")


# A simulated respondent: whether it is right (item-response theory), and its text.

Slip = Literal[
    "no_box", "letter_in_sentence", "units", "two_boxes", "refusal", "truncation", "repetition"
]
SLIPS: tuple[Slip, ...] = (
    "no_box", "letter_in_sentence", "units", "two_boxes", "refusal", "truncation", "repetition",
)  # fmt: skip
CHARACTERS_PER_TOKEN = 4
_OUTCOMES: dict[str, Outcome] = {"length": "truncated", "refusal": "refused"}
_NORMAL = NormalDist()
_SMALLEST = 2.0**-54
"""Replaces a draw of 0, whose normal quantile is infinite."""
_BARE_NUMBER = re.compile(r"\s*[-+]?\d+(?:\.\d+)?\s*")


def probability_correct(model: SimulatedModel, row: OracleRow, setting: str) -> float:
    """Return P(correct) as defined by `SimulatedModel`, without slips."""
    guess = 1 / len(row.choices) if row.choices else 0.0
    effect = 0.0 if setting in row.spared else model.setting_effects.get(setting, 0.0)
    logit = model.ability + effect - model.image_penalty * (row.n_images - 2) - row.difficulty
    return chance(logit, guess)


def draw_slip(slips: Slips, row: OracleRow, rng: Random) -> Slip | None:
    """Draw at most one slip. One that a problem cannot show (a unit on a letter) is skipped."""
    drawn, bound = rng.random(), 0.0
    for slip in SLIPS:
        bound += getattr(slips, slip)
        if drawn < bound:
            return slip if can_slip(slip, row) else None
    return None


def can_slip(slip: Slip, row: OracleRow) -> bool:
    """Return whether a problem can show a slip: letters need choices, units a bare number."""
    if slip == "letter_in_sentence":
        return bool(row.choices)
    if slip == "units":
        return not row.choices and len(row.answer) == 1 and is_bare_number(row.answer[0])
    return True


def is_bare_number(text: str) -> bool:
    """Return whether an answer is a plain decimal number."""
    return _BARE_NUMBER.fullmatch(text) is not None


def is_sample_right(
    chance_right: float, lasting_share: float, lasting_draw: float, sample_draw: float
) -> bool:
    """Return whether one of several samples is right.

    The residual of the logit follows the distribution function of a standard normal variable (a
    Gaussian copula), so that the mean over models and samples is `chance_right` at any share.

    Args:
        chance_right: P(correct) of the model on the problem.
        lasting_share: Share of the normal variable's variance that all samples have in common.
        lasting_draw: The common draw, uniform in [0, 1).
        sample_draw: The draw of this sample, uniform in [0, 1).
    """
    lasting, passing = (_NORMAL.inv_cdf(max(_SMALLEST, u)) for u in (lasting_draw, sample_draw))
    residual = sqrt(lasting_share) * lasting + sqrt(1 - lasting_share) * passing
    return _NORMAL.cdf(residual) < chance_right


def respond(
    model: SimulatedModel, oracle: Oracle, request: Request, lasting: Random, rng: Random
) -> Response:
    """Return one response of a simulated respondent.

    Args:
        model: Its block of params.
        oracle: The known answers.
        request: The request.
        lasting: The generator of the part common to all samples of the problem.
        rng: The generator of this sample.
    """
    row, prompt = oracle.row(request.tags.problem), request.conversation.text
    max_tokens = request.decoding.max_tokens
    chance_right = probability_correct(model, row, request.tags.setting)
    right = is_sample_right(chance_right, model.lasting_share, lasting.random(), rng.random())
    slip = draw_slip(model.slips, row, rng)
    is_usual = not right and rng.random() < model.usual_mistake
    answer = answer_text(row, right, oracle, lasting if is_usual else rng)
    style = read_style(prompt)
    body = "" if style.brief else reasoning(row.n_images, rng)
    if slip == "refusal":
        return _refusal(prompt, rng)
    if slip == "repetition":
        return _finish(f"{body}\n\n{repetition(rng)}".strip(), "stop", prompt, max_tokens)
    if slip == "truncation":
        body = body or reasoning(row.n_images, rng)
        return _finish(_cut(body, rng), "length", prompt, max_tokens)
    text = f"{body}\n\n{_ending(slip, answer, row, style, rng)}".strip()
    return _finish(text, "stop", prompt, max_tokens)


def answer_text(row: OracleRow, right: bool, oracle: Oracle, rng: Random) -> str:
    """Return the right answer, or a plausible wrong one, as it goes into a box."""
    parts = row.answer
    if not right and row.choices:
        parts = wrong_letters(row.answer, row.choices, rng)
    elif not right:
        parts = wrong_parts(row.answer, oracle.answers(row.subject), rng)
    return ", ".join(_without_dollars(part) for part in parts)


def _ending(slip: Slip | None, answer: str, row: OracleRow, style: Style, rng: Random) -> str:
    if slip == "no_box":
        return pick(UNBOXED, rng).format(a=plain(answer))
    if slip == "letter_in_sentence":
        return pick(LETTER_SENTENCES, rng).format(a=answer)
    if slip == "units":
        unit = pick(UNITS.get(row.subject, ("units",)), rng)
        return boxed_ending(f"{answer}\\ \\text{{{unit}}}", style, rng)
    ending = boxed_ending(answer, style, rng)
    if slip == "two_boxes" and style.boxed:
        first = moved_number(str(2 + int(rng.random() * 90)), rng)
        return f"{pick(INTERMEDIATE, rng).format(a=first)}\n\n{ending}"
    return ending


def _refusal(prompt: str, rng: Random) -> Response:
    # Some providers mark a refusal; others return it as an ordinary reply.
    marked = rng.random() < 0.5
    text = pick(REFUSALS, rng)
    return write_response(text, prompt, "refusal") if marked else write_response(text, prompt)


def _finish(text: str, finish_reason: str, prompt: str, max_tokens: int) -> Response:
    room = max_tokens * CHARACTERS_PER_TOKEN
    if len(text) > room:
        text, finish_reason = text[:room], "length"
    return write_response(text, prompt, finish_reason)


def write_response(text: str, prompt: str, finish_reason: str = "stop") -> Response:
    """Return a response without cost; its outcome follows the finish reason."""
    return Response(
        text=text,
        outcome=_OUTCOMES.get(finish_reason, "answered"),
        finish_reason=finish_reason,
        usage=Usage(
            input_tokens=len(prompt) // CHARACTERS_PER_TOKEN,
            output_tokens=len(text) // CHARACTERS_PER_TOKEN,
        ),
        cost_usd=0.0,
        simulated=True,
    )


def _cut(text: str, rng: Random) -> str:
    """Cut inside the last words, so that the text ends in mid-sentence."""
    return text[: len(text) - 5 - int(rng.random() * min(40, len(text) // 4))].rstrip(" .\n")


def _without_dollars(text: str) -> str:
    stripped = text.strip()
    inner = stripped[1:-1]
    wrapped = len(stripped) > 2 and stripped[0] == stripped[-1] == "$" and "$" not in inner
    return inner if wrapped else stripped
