"""Keys that are lists of values: one line per problem, such as `2. $h=\\frac{g}{2}t^{2}$`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from omibench.latex import find_formulas, replace_formulas
from omibench.stages.ocr.keys.keys import Key, Names
from omibench.stages.ocr.layout.layout import Line

_ENTRY: Final = re.compile(
    r"(?P<number>[(（]?(?:[A-Z][-.]?)?\d{1,3}\s?(?:[)）.:：．、]|[(（]?[a-h][)）]))\s+(?P<answer>\S.*)"
)
_LETTERS: Final = re.compile(r"[(（]?[A-H][)）]?\.?(?:\s*[,/&]\s*[(（]?[A-H][)）]?\.?)*")
_POINTS: Final = re.compile(
    r"[\d.,½/ ]+(?:points?|pts|marks?|puntos?|pontos?|punkte?|punti|分)\.?", re.I
)
"""Points of a problem; a key of nothing else is a scheme of marks."""
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_MOST_WORDS: Final = 1
"""Words of four letters in a value, such as the name of a unit."""
_LONGEST: Final = 200
_FEWEST: Final = 2


def read_value_list(table: Sequence[Sequence[Line]], names: Names, key: Key) -> None:
    """Add the answers of a page whose lines are all a number and a value, after its title.

    A page with any other line adds nothing: it may be a list of worked solutions. Nor does one that
    lists the points of each problem.

    Args:
        table: Rows of a page.
        names: Labels of the problems.
        key: Key to extend.
    """
    answers: list[tuple[str, str]] = []
    for row in table:
        match = _ENTRY.fullmatch(" ".join(line.text for line in row))
        if match and _is_value(match["answer"]):
            answers.append((match["number"], match["answer"]))
        elif answers or match:
            return
    if len(answers) < _FEWEST or all(_POINTS.fullmatch(answer) for _, answer in answers):
        return
    # The key of a problem that was not read, or dropped, belongs to no other problem.
    found = [(names.find(number), answer) for number, answer in answers]
    entries = [(entry, answer) for entry, answer in found if entry]
    if len({entry for entry, _ in entries}) < len(entries):
        return
    for entry, answer in entries:
        key.add(entry.label, answer, entry.part)


def _is_value(answer: str) -> bool:
    """Return whether a text is letters of choices, or a number or formula with few words."""
    if _LETTERS.fullmatch(answer):
        return True
    words = _WORD.findall(replace_formulas(answer, lambda span: " "))
    holds_value = bool(find_formulas(answer)) or any(c.isdigit() for c in answer)
    return holds_value and len(words) <= _MOST_WORDS and len(answer) <= _LONGEST
