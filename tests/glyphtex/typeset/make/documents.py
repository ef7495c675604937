"""Papers before they are typeset: problems, choices and keys with formulas in their sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

from tests.glyphtex.typeset.make.grammar import Grammar
from tests.glyphtex.typeset.make.prose import (
    AFTER_DISPLAY,
    BEFORE_DISPLAY,
    IN_LINE,
    PLAIN,
    QUESTIONS,
)
from tests.glyphtex.typeset.make.written import read_table

Layout = Literal["one", "two"]
Check = Callable[[str], bool]
TALL: Final = frozenset({"matrix", "cases", "aligned"})
"""Kinds that stand on rows of their own only."""
WEIGHTS: Final = {
    "scripts": 3, "fraction": 4, "root": 3, "big_operator": 3, "brackets": 3, "chemistry": 3,
    "nested_fraction": 3, "scientific": 2, "units": 2, "accent": 3, "lines": 2, "left_scripts": 2,
    "alphabets": 3, "relations": 3, "matrix": 3, "cases": 3, "aligned": 3,
}  # fmt: skip
"""How often a kind is drawn against the others, which weigh 1."""


@dataclass(frozen=True)
class Printed:
    """A formula of a paper: the truth."""

    id: str
    latex: str
    kind: str
    display: bool = False
    number: int | None = None
    """Of a numbered equation."""


@dataclass
class Block:
    """A paragraph, a display, a row of choices, or a heading."""

    kind: Literal["heading", "paragraph", "display", "choices", "key"]
    parts: list[str | Printed] = field(default_factory=list)
    label: str = ""
    """The number of the problem that begins here."""
    goes_on: bool = False
    """Whether its sentence goes on in the next block."""


@dataclass
class Paper:
    """A document to typeset."""

    name: str
    sections: list[tuple[Layout, list[Block]]]
    is_justified: bool = False
    """Whether lines are even on the right in two columns as well."""

    def list_blocks(self) -> Iterator[Block]:
        """Every block, in the order of reading."""
        for _, blocks in self.sections:
            yield from blocks

    def list_formulas(self) -> Iterator[Printed]:
        """Every formula, in the order of reading."""
        for block in self.list_blocks():
            yield from (part for part in block.parts if isinstance(part, Printed))


class Writer:
    """Draws papers; of formulas written by hand each stands in a paper once at most."""

    def __init__(
        self, name: str, random: Random, written: dict[str, list[str]], can_set: Check
    ) -> None:
        self._name, self._random, self._can_set = name, random, can_set
        self._grammar = Grammar(random)
        self._written = written
        self._count = 0
        self._equation = 0
        self._seen: set[str] = set()

    def write(self, problems: int) -> Paper:
        """A paper of so many problems in one column, half as many in two, and a key."""
        title: list[Block] = [Block("heading", ["Selection Round for the Science Olympiad"])]
        sections: list[tuple[Layout, list[Block]]] = [("one", title), ("two", []), ("one", [])]
        for number in range(1, problems * 3 // 2 + 1):
            sections[number > problems][1].extend(self._write_problem(f"{number}."))
        sections[2][1].append(Block("heading", ["Answers"]))
        for number in range(1, 9):
            letter = self._random.choice("ABCD")
            key = Block("key", [f"({letter}) ", self._draw(in_line=True)], f"{number}.")
            sections[2][1].append(key)
        return Paper(self._name, sections)

    def _write_problem(self, label: str) -> list[Block]:
        shape = self._random.choice(
            ["in_line", "in_line", "display", "display", "choices", "plain"]
        )
        if shape == "plain":
            return [Block("paragraph", [self._random.choice(PLAIN)], label)]
        blocks = [Block("paragraph", self._fill(self._random.choice(IN_LINE)), label)]
        if shape == "display":
            blocks[0].parts.append(" " + self._random.choice(BEFORE_DISPLAY))
            blocks[0].goes_on = True
            blocks.append(Block("display", [self._draw(in_line=False)]))
            blocks.append(Block("paragraph", [self._random.choice(AFTER_DISPLAY)]))
        if shape == "choices" or self._random.random() < 0.2:
            blocks.append(Block("paragraph", [self._random.choice(QUESTIONS)]))
            kind = self._random.choice(
                [
                    "fraction",
                    "root",
                    "scripts",
                    "scientific",
                    "chemistry",
                    "slashed",
                    "units",
                    "greek",
                ]
            )
            blocks.append(Block("choices", [self._draw(in_line=True, kind=kind) for _ in range(4)]))
        return blocks

    def _fill(self, sentence: str) -> list[str | Printed]:
        pieces = sentence.split("{}")
        parts: list[str | Printed] = [pieces[0]]
        for piece in pieces[1:]:
            parts += [self._draw(in_line=True), piece]
        return [part for part in parts if part != ""]

    def _draw(self, *, in_line: bool, kind: str = "") -> Printed:
        kinds = [k for k in self._grammar.kinds if not (in_line and k in TALL)]
        if in_line:
            kinds = [k for k in kinds if k != "nested_fraction" or self._random.random() < 0.3]
        for _ in range(50):
            chosen = kind or self._random.choices(kinds, [WEIGHTS.get(k, 1) for k in kinds])[0]
            written = self._written.get(chosen)
            if written and self._random.random() < 0.5:
                latex = written.pop()
            else:
                latex = self._grammar.draw(chosen)
            fits = latex not in self._seen and len(latex) < (60 if in_line else 110)
            if fits and self._can_set(latex):
                break
        self._seen.add(latex)
        self._count += 1
        number = None
        if not in_line and chosen not in TALL and self._random.random() < 0.3:
            self._equation += 1
            number = self._equation
        return Printed(f"{self._name}-{self._count:03}", latex, chosen, not in_line, number)


def write_paper(name: str, problems: int, seed: int, can_set: Check = lambda _: True) -> Paper:
    """A paper whose formulas and sentences follow from its name and the seed.

    Args:
        name: Formulas are numbered behind it.
        problems: How many there are in one column.
        seed: Of all that is drawn.
        can_set: Says whether the tool can set a formula; another one is drawn in its place.
    """
    random = Random(f"{seed} {name}")
    written = read_table()
    for formulas in written.values():
        random.shuffle(formulas)
    return Writer(name, random, written, can_set).write(problems)
