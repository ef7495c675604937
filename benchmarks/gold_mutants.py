"""Wrong answers from gold answers: change a digit, sign or truth value, drop a part, swap golds.

Every eligible position of every open gold gives one mutant. What is left out is left out by a
listed rule alone (`excluded`), and is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

KINDS = ("digit", "sign", "truth value", "part dropped", "parts swapped", "other gold")
_DIGITS = ("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹", "₀₁₂₃₄₅₆₇₈₉")
_SIGNS = {"+": "-", "-": "+", "−": "+", "⁺": "⁻", "⁻": "⁺", "₊": "₋", "₋": "₊"}
_TRUTH = re.compile(r"TRUE|FALSE|True|False|(?<![A-Za-z])[TF](?![A-Za-z])")
_FLIPPED = {"TRUE": "FALSE", "True": "False", "T": "F"}
_FLIPPED |= {value: key for key, value in _FLIPPED.items()}
_TAG = re.compile(r"\\tag\{[^{}]*\}")
_LEFT = re.compile(r"[^=≈<>,;]{0,40}?(?:=|≈|\\approx)(?!.*(?:=|≈|\\approx))", re.DOTALL)


class Gold(NamedTuple):
    """A problem's gold as its entries."""

    problem: str
    entries: tuple[str, ...]


class Mutant(NamedTuple):
    """A wrong answer to one problem: in which way it is wrong, and where its entry differs."""

    gold: Gold
    kind: str
    entries: tuple[str, ...]
    place: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The answer as a model would write it."""
        return ", ".join(self.entries)


def mutants(golds: Sequence[Gold], seed: int) -> Iterator[Mutant]:
    """Every mutant of every gold, in order; the seed draws digits and other golds."""
    random = Random(seed)  # noqa: S311 (a sample, no secret)
    for gold in golds:
        for i, entry in enumerate(gold.entries):
            for kind, start, end, new in _changes(entry, random, truth=_is_truth(gold)):
                changed = entry[:start] + new + entry[end:]
                yield Mutant(
                    gold, kind, (*gold.entries[:i], changed, *gold.entries[i + 1 :]), (i, start)
                )
        yield from _structural(gold)
        other = random.choice(golds)
        if other.entries != gold.entries:
            yield Mutant(gold, "other gold", other.entries)


def _is_truth(gold: Gold) -> bool:
    """Whether a lone T or F is a truth value here: every entry is one, or has some with labels."""
    return all(_TRUTH.fullmatch(entry.strip()) for entry in gold.entries) or bool(
        re.search(r"[a-zA-Z]\s*[:)]\s*[TF]\s*;", gold.entries[0])
    )


def _changes(entry: str, random: Random, truth: bool) -> Iterator[tuple[str, int, int, str]]:
    """Kind, start, end and new text of every change within one entry."""
    for at, char in enumerate(entry):
        digits = next((family for family in _DIGITS if char in family), None)
        if digits:
            yield "digit", at, at + 1, random.choice([d for d in digits if d != char])
        elif char in _SIGNS and _is_sign(entry, at):
            yield "sign", at, at + 1, _SIGNS[char]
    for match in _TRUTH.finditer(entry):
        if truth or len(match.group()) > 1:
            yield "truth value", match.start(), match.end(), _FLIPPED[match.group()]


def _is_sign(entry: str, at: int) -> bool:
    """Whether a plus or minus is one: no hyphen of a name (para-H, I-B) or list (Phloem - a)."""
    before, after = entry[:at].rstrip(" "), entry[at + 1 :].lstrip(" ")
    if entry[at] not in "-−" or not after:
        return True
    if entry[at + 1 : at + 2] in ">-" or before.endswith("-"):
        return False  # an arrow, a table line
    hyphen = re.search(r"[^\W\d_]$", before) and re.match(r"[^\W_]", after)
    ranged = re.search(r"\d$", before) and re.match(r"[^\W\d_]{2}", after)
    return not (hyphen or ranged)


def _structural(gold: Gold) -> Iterator[Mutant]:
    """A part left out, and two neighbouring parts in each other's place where order counts."""
    entries = gold.entries
    if len(entries) < 2:
        return
    for i in range(len(entries)):
        yield Mutant(gold, "part dropped", (*entries[:i], *entries[i + 1 :]))
    letters = all(re.fullmatch(r"[A-Z]", part) for part in entries) and set(entries) - {"T", "F"}
    named = any(re.search(r"[:=]|^\W{0,3}\w{1,3}[).-]|\w - ", part) for part in entries)
    if letters or named:
        return
    for i, (left, right) in enumerate(pairwise(entries)):
        if left != right:
            yield Mutant(gold, "parts swapped", (*entries[:i], right, left, *entries[i + 2 :]))


def excluded(mutant: Mutant) -> str | None:
    """The listed rule by which a mutant is no wrong answer, or None."""
    if mutant.kind == "other gold" and _value(mutant.entries) == _value(mutant.gold.entries):
        return "still equivalent: the same value"
    if mutant.place is None or mutant.kind not in ("digit", "sign"):
        return None
    entry, at = mutant.gold.entries[mutant.place[0]], mutant.place[1]
    if any(tag.start() <= at < tag.end() for tag in _TAG.finditer(entry)):
        return "still equivalent: the number of an equation"
    left = _LEFT.match(entry)
    if left and at < left.end() and not re.search(r"(?<![_^])[+*/]|\\frac", left.group()):
        return "in a left-hand side"
    return None


def _value(entries: Sequence[str]) -> str:
    """What an answer says, without dress and without the name of what it gives: v = 5 says 5."""
    plain = re.sub(r"[\s$.]|\\[()\[\],;!]", "", ",".join(entries)).casefold()
    return plain.rpartition("=")[2]


def sample(golds: Sequence[Gold], pairs: int, seed: int) -> list[Mutant]:
    """`pairs` mutants drawn uniformly from all of them (all, where there are fewer)."""
    every = list(mutants(golds, seed))
    return Random(seed).sample(every, min(pairs, len(every)))  # noqa: S311
