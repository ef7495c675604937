# ruff: noqa: E501 (formulas and sentences are on lines of their own)
"""Papers of long formulas in sentences, many of which are broken over two lines."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from tests.glyphtex.typeset.make.documents import (
    Block,
    Check,
    Layout,
    Paper,
    Printed,
    Writer,
)
from tests.glyphtex.typeset.make.grammar import GREEK, REACTIONS, RELATIONS, Grammar

BROKEN: Final = "broken"
"""Kind of a formula that is on two lines; the maker finds out which ones are."""
WHOLE: Final = "long"
"""Kind of the others."""
PROBLEMS: Final = {"shown": (9, 14), "held": (8, 14)}
"""Problems in one column and in two, by the folder."""
SENTENCES: Final = (
    "A block slides down the slope and stops after {} as the second measurement shows.",
    "Show that the quantity {} does not depend on the choice of the origin.",
    "The students claim that {} holds for all positive values of the variables, and that {} follows.",
    "What can be said about the two gases if {} at the end of the slow expansion?",
    "In the vessel the reaction {} takes place until one of the substances is used up.",
    "Let us assume {} for now, and use it to compare the masses of the two stars.",
    "Find every value of the parameter for which {}, and explain why there are no others.",
    "After the lamp has been switched off, the law {} describes the current in the coil.",
    "It is known that {}. Which of the following statements must then be true?",
    "The ratio of both sides is small when {} (see the table), so that {} is a good estimate.",
)
OPENINGS: Final = (
    "Read the table first.", "Air resistance is small.", "The vessel is closed.", "Use a ruler.",
    "Anna and Ben repeat the experiment of the first round.", "The sun is directly overhead.",
    "All lengths are in metres, unless the text says otherwise.", "The wire is thin and long.",
)  # fmt: skip
CHOICES: Final = (
    "it follows that {}",
    "only the sum {} is correct",
    "for small masses {} is correct",
)
_LONGEST: Final = 95
_SHORTEST: Final = 30


class LongFormulas(Grammar):
    """Draws formulas that are likely to be broken."""

    def draw_long(self) -> str:
        """A formula of a few terms, as a person would write it."""
        shape = self._random.choice(
            (self._sum, self._sum, self._chain, self._product, self._function, self._signed,
             self._powers, self._series, self._implication, self._reaction)
        )  # fmt: skip
        latex = re.sub(r" +", " ", shape())
        return latex if latex.startswith(r"\ce") else re.sub(r" (?=[_^{}),])", "", latex).strip()

    def _terms(self, count: int, depth: int = 0) -> str:
        signs = ("+", "-", "+", "-", r"\pm ", r"\cdot ")
        text = self.term(depth)
        for _ in range(count - 1):
            text += f" {self._random.choice(signs)} {self.term(0)}"
        return text

    def _sum(self) -> str:
        return self.equation(self._terms(self._random.choice((3, 4, 5)), 1))

    def _chain(self) -> str:
        parts = [self._terms(self._random.choice((1, 2))) for _ in range(3)]
        return f"{parts[0]} {self.pick(*RELATIONS)} {parts[1]} {self.pick(*RELATIONS)} {parts[2]}"

    def _product(self) -> str:
        factors = [f"({self._terms(2)})" for _ in range(self._random.choice((2, 3)))]
        return f"{''.join(factors)} = {self._terms(2)}"

    def _function(self) -> str:
        inner = self._terms(3)
        sign = self.pick("=", "<", r"\geq")
        return f"{self.pick('f', 'g', 'P')}({inner}) {sign} {self._terms(2)}"

    def _signed(self) -> str:
        return f"{self.name()} = -{self.name()} + {self._terms(2)} = -{self._terms(2)}"

    def _powers(self) -> str:
        ten = [
            f"{self.decimal()} \\times 10^{{{self.pick('-', '')}{self.number(30)}}}" for _ in "ab"
        ]
        sign = self.pick(r"\approx", "<")
        return f"{self.name()} = {ten[0]} {self.pick('+', '-')} {ten[1]} {sign} {self.name()}"

    def _series(self) -> str:
        letter, end = self.letter(), self.pick("n", "k", "N", "99")
        steps = r" + ".join(f"{letter}_{{{k}}}" for k in "123")
        sign = self.pick("=", r"\leq")
        return rf"{steps} + \cdots + {letter}_{{{end}}} {sign} {self._terms(2)}"

    def _implication(self) -> str:
        arrow = self.pick(r"\Rightarrow", r"\Leftrightarrow")
        angle = self.pick(*GREEK)
        return rf"\sin {angle} + \cos {angle} = {self._terms(1)} {arrow} {self._terms(2)} {self.pick('=', '<')} {self.number()}"

    def _reaction(self) -> str:
        long = [r for r in REACTIONS if ("->" in r or "<=>" in r) and "^{" not in r]
        return rf"\ce{{{self._random.choice(long)}}}"


class BrokenWriter(Writer):
    """Draws papers of long formulas, each formula once, without bold type: fonts are large."""

    def write_long(self, single: int, double: int) -> Paper:
        """A paper of so many problems in one column and in two."""
        title = Block("paragraph", ["Second Round: Long Answers"])
        sections: list[tuple[Layout, list[Block]]] = [("one", [title]), ("two", [])]
        for number in range(1, single + double + 1):
            sections[number > single][1].extend(self._write_problem(f"{number}."))
        return Paper(self._name, sections, is_justified=True)

    def _write_problem(self, label: str) -> list[Block]:
        sentence = self._random.choice(SENTENCES)
        openings = self._random.sample(OPENINGS, self._random.randint(0, 2))
        blocks = [Block("paragraph", self._fill(" ".join([label, *openings, sentence])))]
        if self._random.random() < 0.15:
            blocks += [
                Block("paragraph", self._fill(f"({letter}) {self._random.choice(CHOICES)}"))
                for letter in "ABCD"
            ]
        return blocks

    def _draw(self, *, in_line: bool, kind: str = "") -> Printed:
        grammar = LongFormulas(self._random)
        latex = ""
        while (
            latex in self._seen
            or not _SHORTEST <= len(latex) <= _LONGEST
            or not self._can_set(latex)
        ):
            latex = grammar.draw_long()
        self._seen.add(latex)
        return Printed(f"{self._name}-{len(self._seen):03}", latex, WHOLE)


def write_broken(name: str, folder: str, seed: int, can_set: Check) -> Paper:
    """A paper of long formulas that follows from its name and the seed.

    Args:
        name: Formulas are numbered behind it.
        folder: `shown` or `held`: the number of problems.
        seed: Of all that is drawn.
        can_set: Says whether the tool can set a formula; another one is drawn in its place.
    """
    writer = BrokenWriter(name, Random(f"{seed} {name}"), {}, can_set)
    return writer.write_long(*PROBLEMS[folder])
