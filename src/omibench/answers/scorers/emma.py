"""Scorer `emma`: EMMA's released extraction and equality (its evaluation code), bugs included.

Extraction, first match: a leading choice letter A to H with a colon or stop; a response that is
a number; the last `\\boxed{}` and inside it the last `\\text{}`; the text after the last "final
answer is", "correct answer is", "answer should be", "answer is" or "answer:", in lower case, up
to the first line end or full stop. Equality with the gold letter or the gold option's text, both
in lower case: the same string; number words anywhere in the answer; numbers equal when rounded
to two decimals (its symbolic comparison is only reached by numbers, so it adds nothing).

Known weaknesses, reproduced: letters with other markup are missed ("D: 1.12", `\\text{(A)}`,
"**d**"), 3e-7 equals 7.5e-6, "one of them" is the number 1, the letter e is 2.718. LaTeX is
parsed by latex2sympy2_extended in a worker with limits; EMMA uses latex2sympy2 without limits.
"""

from __future__ import annotations

from collections.abc import Iterator

from glyphtex import lazy_re as re
from omibench.answers.extraction.failures import failure
from omibench.answers.formulas.symbolic import numeric_value
from omibench.answers.scorers.outcome import find_finish_reason, make_failed_verdict, passes_through
from omibench.answers.scorers.registry import scorer
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.text.boxes import find_literal_boxes

NAME = "emma"
VERSION = 1

_LETTERS = "ABCDEFGH"
_FLAGS = ("final answer is", "correct answer is", "answer should be", "answer is", "answer:")
_TEXT = re.compile(r"\\text{(.*?)}")
_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {w: i for i, w in enumerate(_UNITS)} | {w: 10 * i for i, w in enumerate(_TENS, 2)} | {
    "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000,
}  # fmt: skip


@scorer(NAME, VERSION)
def score(item: ScoredItem) -> Verdict:
    """Score one response by EMMA's rules."""
    blocked = passes_through(item, NAME, VERSION)
    if blocked:
        return blocked
    extracted, method = fast_extract(item.prediction)
    if extracted == "":
        outcome = failure(item.prediction, find_finish_reason(item)) or "unparsed"
        return make_failed_verdict(outcome, method, NAME, VERSION)
    right = any(is_equal(extracted, gold) for gold in _golds(item))
    return Verdict(
        extracted=extracted, method=method, verdict=float(right), rules=NAME, version=VERSION
    )


def _golds(item: ScoredItem) -> Iterator[str]:
    gold = ", ".join(item.gold)
    yield gold
    for choice in item.choices or []:
        if choice.label.upper() == gold.strip().upper() and choice.text is not None:
            yield choice.text


def fast_extract(response: str) -> tuple[str, str]:
    """Return the answer ("" if not found) and EMMA's pattern that matched."""
    response = response.strip()
    for letter in _LETTERS:
        if response.upper() == letter or response.startswith((f"{letter}:", f"{letter}.")):
            return letter, "lead letter"
    if _is_float(response):
        return response, "number"
    boxes = find_literal_boxes(response)
    if boxes:
        inner = _inner_texts(boxes[-1])
        return (inner[-1].strip(), "box text") if inner else (boxes[-1].strip(), "box")
    lower = response.lower()
    for flag in _FLAGS:
        if flag in lower:
            return lower.rsplit(flag, 1)[1].strip().split("\n")[0].split(".")[0], "phrase"
    return "", "none"


def _inner_texts(box: str) -> list[str]:
    r"""Return the content of each `\text{...}`, up to the next brace, which must close on its line.

    The published pattern is applied to each line up to its last brace only: after it nothing can
    match, and trying would take quadratic time in the line.
    """
    lines = (line[: line.rfind("}") + 1] for line in box.split("\n"))
    return [text for line in lines for text in _TEXT.findall(line)]


def is_equal(answer: str, gold: str) -> bool:
    """Return EMMA's equality of an extracted answer and one gold text."""
    answer, gold = answer.lower(), gold.lower()
    if answer.strip() == gold.strip():
        return True
    words = words_to_number(answer)
    if words is not None and str(words) == gold.strip():
        return True
    gold_value = _value(gold)
    answer_value = _value(answer) if gold_value is not None else None
    if gold_value is None or answer_value is None:
        return False
    return round(answer_value, 2) == round(gold_value, 2)


def words_to_number(text: str) -> int | None:
    """Return the number formed by the number words of a text, anywhere in it."""
    words = [w for w in text.replace("-", " ").split() if w in _WORDS]
    if not words or any(words.count(big) > 1 for big in ("thousand", "million", "billion")):
        return None
    total = group = 0
    for word in words:
        number = _WORDS[word]
        if number >= 1_000:
            total, group = total + max(group, 1) * number, 0
        elif number == 100:
            group = max(group, 1) * 100
        else:
            group += number
    return total + group


def _value(text: str) -> float | None:
    if _is_float(text) and re.search(r"\d", text):
        value = float(text)
        return value if abs(value) < float("inf") else None
    plain = text.strip()
    return numeric_value(plain) if re.search(r"\d|\\pi|^e$", plain) else None


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
