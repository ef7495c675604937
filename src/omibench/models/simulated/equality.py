"""A quick comparison of a final answer with the gold answer, for simulated judges.

It is not a scorer (those are in `omibench.scorers`): it only recognises right and wrong answers
well enough for the judge's configured error rates to apply to them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from omibench.text.boxes import find_literal_boxes

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
