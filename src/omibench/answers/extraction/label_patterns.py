"""Regular expressions for option labels in text, built from the labels of a problem.

Labels come from the dataset and are escaped: "]", "^", "-" and a backslash are literal.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache


class LabelPatterns:
    """Patterns for a set of labels, each compiled on first use."""

    def __init__(self, labels: str) -> None:
        self._any_label = f"[{''.join(map(re.escape, labels))}]"

    @cached_property
    def several(self) -> re.Pattern[str]:
        """Pattern of a whole answer that lists options: A, C and D.

        Each option is atomic: if brackets are labels, "()" has two readings, and a list of n of
        them would have 2^n.
        """
        option = rf"(?>[\(\[]?({self._any_label})[\)\]]?)"
        return re.compile(rf"{option}(?:(?:[,;/&\s]|and|or)++{option})+")

    @cached_property
    def alone(self) -> re.Pattern[str]:
        """Pattern of a label that is not part of a word."""
        return re.compile(rf"(?<![A-Za-z]){self._any_label}(?![A-Za-z])")

    @cached_property
    def run(self) -> re.Pattern[str]:
        """Pattern of two or more labels without separators: ACD."""
        return re.compile(rf"{self._any_label}{{2,}}")

    @cached_property
    def lead(self) -> re.Pattern[str]:
        """Pattern of a label before the text of its option: (B) 5 m, B: 5 m."""
        label = self._any_label
        return re.compile(rf"(?:[\(\[]({label})[\)\]]|({label})\s*(?:[:.)\]]|[-–—]\s))")

    @cached_property
    def opens_phrase(self) -> re.Pattern[str]:
        """Pattern of a label at the start of a phrase: B, because ..."""
        return re.compile(
            rf"\W{{0,6}}(?i:option|choice)?\W{{0,6}}({self._any_label})"
            r"(?:[)\]*.,;:$}]|\s*$|\s+[-–—(]|\s+(?:is|which|since|because|as)\b)"
        )

    @cached_property
    def opens_list(self) -> re.Pattern[str]:
        """Pattern of two or more labels at the start of a phrase: A and C."""
        label = self._any_label
        return re.compile(rf"\W{{0,4}}({label})\W{{1,6}}(?:and\s+|or\s+)?\W{{0,3}}({label})\b")

    @cached_property
    def opens_line(self) -> re.Pattern[str]:
        """Pattern of a label on the first line: alone, before a stop, or before "because"."""
        return re.compile(
            rf"[*_($\[]{{0,4}}({self._any_label})(?:[*_$\]]{{0,3}}[:.)]|[*_$\])]{{0,4}}\s*"
            r"(?:$|,\s*(?:because|since|因为|由于|weil|porque|car\b)))"
        )

    @cached_property
    def mentions(self) -> tuple[re.Pattern[str], ...]:
        """Pattern of a sentence with options: option B and C, (B)."""
        return (
            re.compile(rf"\b(?i:option|choice|answer)s?\W{{0,6}}({self._list})\b"),
            re.compile(rf"(?:\(|\*\*\(?)({self._list})(?:\)|\*\*)"),
        )

    @cached_property
    def ending(self) -> re.Pattern[str]:
        """Pattern of a sentence that ends in options: ... is B."""
        return re.compile(rf"\bis:?\s+({self._list})\W*$")

    @cached_property
    def choosing(self) -> tuple[re.Pattern[str], ...]:
        """Pattern of a final choice: B is the correct choice, I choose B, 选B."""
        option = rf"(?:\*\*)?\(?({self._any_label})\)?(?:\*\*)?"
        ways = (
            rf"(?<![\w'’-]){option}\s+is\s+(?:the\s+)?(?:only\s+)?(?:correct|right|best)"
            r"(?:\s+(?:answer|option|choice))?",
            rf"\b(?:I|[Ww]e)(?:\s+will|'ll|\s+therefore)?\s+(?:choose|select|pick|go\s+with)"
            rf"\s+(?:(?:option|choice|answer)\s+)?{option}",
            r"(?<![不别误错勿可没未\w])(?:因此|所以|故|应|应该|我)?选(?:择)?(?:选?项)?\s*:?\s*"
            rf"{option}\s*项?",
            rf"选项\s*{option}\s*项?(?:是|为)?(?:最)?(?:正确|佳)(?:的|答案|选项)?",
        )
        return tuple(re.compile(rf"{way}[\s.。!*]*$") for way in ways)

    @cached_property
    def word(self) -> re.Pattern[str]:
        """Pattern of a label that is a separate word, in any script."""
        return re.compile(rf"(?<![\w'’]){self._any_label}(?![\w'’])")

    @property
    def _list(self) -> str:
        return rf"{self._any_label}(?:\s*(?:,|&|and|or)\s*{self._any_label})*"


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CAPITALS = frozenset(_ALPHABET)


def positional(labels: str) -> LabelPatterns:
    """Patterns that identify the character used as a label without ambiguity.

    They serve all labels that are capitals and are compiled once. The caller checks whether the
    character is a label of the problem.
    """
    return make_patterns(_ALPHABET if _CAPITALS.issuperset(labels) else labels)


@lru_cache(maxsize=256)
def make_patterns(labels: str) -> LabelPatterns:
    """Return the patterns for the labels of a problem, given in order as one string; cached."""
    return LabelPatterns(labels)
