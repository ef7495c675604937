"""The letters that mark choices in papers of the world: one table, and lookups in it.

To support another script, add a row. A list of choices uses the letters of one row, from its first
letter on and without a gap; letters that only look like those of another row are different.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

ChoiceCondition = Literal["always", "no task", "asked", "chosen"]
"""The condition under which lines with such letters are choices.

`no task`: none of them is an instruction to the reader. `asked`: in addition, the text before them
ends with a question or an announcement. `chosen`: in addition, that text asks which, or instructs
the reader to choose, since such marks also number statements and sub-questions.
"""


class Lettering(NamedTuple):
    """One way of marking choices: the letters in order, and their forms (`{}` is a letter)."""

    letters: str
    settings: tuple[str, ...]
    condition: ChoiceCondition
    printed: bool = True
    """Whether labels are as printed; small Latin letters become capitals."""

    @property
    def is_latin(self) -> bool:
        """Whether these are the letters A, B, C of most papers."""
        return self.letters.upper() == LATIN

    def label(self, letter: str) -> str:
        """Return the label of a choice printed with this letter."""
        return letter if self.printed else letter.upper()


_SET = {
    "(A)": r"[(（]([{}])[)）]\s*",
    "A)": r"([{}])[)）]\s*",
    "A.": r"([{}])(?:[.:](?![A-Za-z])|[．、：])\s*",
    "A、": r"([{}])[.．、]\s*",
    "A": r"([{}])(?:\s+|$)",
    "①": r"([{}])\s*[.．、]?\s*",
}
LATIN = "ABCDEFGH"
LETTERINGS = (
    Lettering(LATIN, ("(A)", "A)", "A."), "always"),
    Lettering(LATIN.lower(), ("(A)", "A)"), "asked", printed=False),
    Lettering(LATIN, ("A",), "always"),
    Lettering("АБВГДЕЖЗ", ("(A)", "A)", "A."), "no task"),
    Lettering("абвгдежз", ("(A)", "A)"), "asked"),
    Lettering("ΑΒΓΔΕΖΗΘ", ("(A)", "A)", "A."), "no task"),
    Lettering("αβγδεζηθ", ("(A)", "A)", "A."), "asked"),
    Lettering("甲乙丙丁戊己庚辛", ("(A)", "A)", "A、"), "chosen"),
    Lettering("①②③④⑤⑥⑦⑧", ("①",), "chosen"),
    Lettering("12345678", ("(A)",), "chosen"),
)
CAPITALS = "АБВГДЕΑΒΓΔΕ"
"""Capitals of other scripts that can be alone next to pictures."""
NON_ASCII_LETTERS = "".join(row.letters for row in LETTERINGS if not row.letters.isascii())
"""Every letter of the table except Latin ones and plain digits."""
_BETWEEN = re.compile(r"[\s,/&;，、；]+|(?<=\s)(?:and|or|и|или|και|ή|和|或)(?=\s)")
_DRESS = "()（）[]【】.．。:："


@cache
def pattern(lettering: Lettering, setting: str) -> re.Pattern[str]:
    """Return the pattern of a marker of this lettering; group 1 is the letter."""
    return re.compile(_SET[setting].format(lettering.letters))


def same_letter(letter: str) -> str:
    """Return a letter without its form: small and capital ones are equal, and so are ② and 2."""
    return str(unicodedata.digit(letter, letter.casefold()))


def read_labels(text: str, labels: Sequence[str]) -> list[str]:
    """Return the labels of a text that has only labels, in order, such as `б, г`, `(2)` or `①③`;
    otherwise empty.

    A letter of another row of the table is not a label, even if the two look alike.
    """
    labels_by_letter = {same_letter(label): label for label in labels if len(label) == 1}
    labels_read: list[str] = []
    for word in filter(None, (part.strip(_DRESS) for part in _BETWEEN.split(text))):
        if len(word) > 1 and (word.isdecimal() or any(letter.islower() for letter in word)):
            return []
        if not all(same_letter(letter) in labels_by_letter for letter in word):
            return []
        labels_read += [labels_by_letter[same_letter(letter)] for letter in word]
    places = [labels.index(label) for label in labels_read]
    return labels_read if places == sorted(set(places)) else []


def is_foreign(text: str, labels: Sequence[str]) -> bool:
    """Return whether a text is one letter of another row of the table than the labels."""
    letter = text.strip().strip(_DRESS)
    rows = [row.letters for row in LETTERINGS if not row.letters.isdecimal()]
    return (
        len(letter) == 1
        and any(letter in row for row in rows)
        and not any(letter in row and labels[0] in row for row in _families())
    )


@cache
def _families() -> tuple[str, ...]:
    """Return the rows of the table with their other forms: capitals with small letters."""
    rows = [row.letters for row in LETTERINGS]
    return tuple(
        "".join(
            related_row
            for related_row in rows
            if same_letter(related_row[0]) == same_letter(row[0])
        )
        for row in rows
    )
