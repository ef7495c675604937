"""Mutated golds: wrong answers one digit, sign, truth value or part away, or two parts swapped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple


class Mutant(NamedTuple):
    """One wrong answer to one problem, and in which way it is wrong."""

    problem: str
    gold: list[str]
    kind: str
    text: str


def mutants(rows: Sequence[dict[str, Any]], seed: int) -> Iterator[Mutant]:
    """Every eligible mutant of every open gold, in file order."""
    random = Random(seed)
    for row in rows:
        gold = row["answer"]
        joined = ", ".join(gold)

        def mutant(kind: str, start: int, end: int, new: str, row: dict[str, Any] = row) -> Mutant:
            text = ", ".join(row["answer"])
            return Mutant(row["id"], row["answer"], kind, text[:start] + new + text[end:])

        for m in re.finditer(r"\d", joined):
            digit = random.choice([d for d in "123456789" if d != m.group()])
            yield mutant("digit", m.start(), m.end(), digit)
        for m in re.finditer(r"(?<!\{)[+-](?=[\s\\\w({])", joined):
            yield mutant("sign", m.start(), m.end(), "-" if m.group() == "+" else "+")
        for m in re.finditer(r"TRUE|FALSE", joined):
            flipped = "FALSE" if m.group() == "TRUE" else "TRUE"
            yield mutant("truth value", m.start(), m.end(), flipped)
        values = list(re.finditer(r"TRUE|FALSE", joined))
        for a, b in pairwise(values):
            if a.group() != b.group():
                swapped = b.group() + joined[a.end() : b.start()] + a.group()
                yield mutant("parts swapped", a.start(), b.end(), swapped)
        if len(gold) > 1:
            yield Mutant(row["id"], gold, "part dropped", ", ".join(gold[:-1]))
            yield from _swapped(row["id"], gold)
        other = random.choice(rows)["answer"]
        if other != gold:
            yield Mutant(row["id"], gold, "other gold", ", ".join(other))


def _swapped(problem: str, gold: Sequence[str]) -> Iterator[Mutant]:
    """Two neighbouring parts in each other's place, where their order says something.

    Lists of option letters are sets; a part that carries its own name may stand anywhere.
    """
    letters = all(re.fullmatch(r"[A-Z]", part) for part in gold) and set(gold) - {"T", "F"}
    named = any(re.search(r"[:=]|^\W{0,3}\w{1,3}[).-]|\w - ", part) for part in gold)
    if letters or named:
        return
    for i, (left, right) in enumerate(pairwise(gold)):
        if left != right:
            swapped = [*gold[:i], right, left, *gold[i + 2 :]]
            yield Mutant(problem, list(gold), "parts swapped", ", ".join(swapped))


def sample(rows: Sequence[dict[str, Any]], per_kind: int, seed: int) -> list[Mutant]:
    """At most `per_kind` mutants of every kind, drawn uniformly."""
    kinds: dict[str, list[Mutant]] = {}
    for mutant in mutants(rows, seed):
        kinds.setdefault(mutant.kind, []).append(mutant)
    random = Random(seed)
    return [m for every in kinds.values() for m in random.sample(every, min(per_kind, len(every)))]
