"""Plausible wrong answers: each differs from the right one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

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
