"""Regular expressions for option labels in text, built from the labels of a problem.

Labels come from the dataset and are escaped: "]", "^", "-" and a backslash are literal.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache

from glyphtex import lazy_re as re
from omibench.answers.formulas.latex import same_text
from omibench.schemas.problem import Choice


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


# Removal of commands around a text, such as `\text{...}`, in time linear in the text.

_PASSES = 8
"""Removing one command can create another (`\\te\\text{xt}{A}`); real texts nest less deeply."""


def unwrap(text: str, opens: re.Pattern[str]) -> str:
    """Remove the commands found by `opens` and their braces; keep their contents.

    `opens` matches a command with its opening brace, or one brace. A group is kept if braces
    remain inside it or it is never closed.
    """
    for _ in range(_PASSES):
        plain = _unwrap_once(text, opens) if "{" in text else text
        if plain == text:
            break
        text = plain
    return text


def _unwrap_once(text: str, opens: re.Pattern[str]) -> str:
    pieces: list[str] = []
    groups: list[tuple[int, bool, int]] = []
    end = kept_braces = 0
    for match in opens.finditer(text):
        pieces.append(text[end : match.start()])
        end = match.end()
        mark = match.group()
        if mark != "}":
            groups.append((len(pieces), len(mark) > 1, kept_braces))
        elif groups:
            at, is_command, kept_before = groups.pop()
            if is_command and kept_braces == kept_before:
                pieces[at] = mark = ""
            else:
                kept_braces += 1
        pieces.append(mark)
    return "".join([*pieces, text[end:]])


# Option letters in a short text.

_DEFAULT = "ABCDEFGHIJ"
_OPENS = re.compile(r"\\(?:text|textbf|mathrm|mathbf|rm|bf|mathit|textit)\s*\{|[{}]")
_DRESS = re.compile(r"[*_`$]|\\[()\[\],;:! ]|\\boxed\s*\{|\\quad")
_LEAD = re.compile(
    r"(?:the\s+)?(?:correct\s+)?(?:options?|choices?|answers?)\s*(?=[(\[]?[A-Za-z]\b)", re.I
)
_ONE_SIDED = re.compile(r"[\(\[]?\s*([A-Za-z])\s*[\)\]]")
_SERIAL_COMMA = re.compile(r",(?=\s+(?:and|or)\b)")
_STATEMENT = re.compile(
    r"^\W*the\s+(?:statement|claim|assertion)\s+is\s+(?=\w+\W*$)", re.IGNORECASE
)
_LOOK_ALIKE = str.maketrans("АСΑΒΕ", "ACABE")
"""Cyrillic and Greek capitals of the same shape, except those at a different position of their own
alphabet (В is the third letter of А, Б, В), because their meaning is ambiguous.
"""
_MAX_DRESSED = 4


def list_labels(choices: Sequence[Choice] | None) -> str:
    """Return the labels in order as one string; A to J if the problem has no choices."""
    written = "".join([c.label for c in choices or ()])
    if _DEFAULT.startswith(written):  # as nearly all are, also none
        return written or _DEFAULT
    return "".join(c.label.strip().upper()[:1] for c in choices or ()) or _DEFAULT


def read_letters(text: str, choices: Sequence[Choice] | None) -> tuple[str, str] | None:
    """Read a short answer as a set of options: sorted labels and method, or None.

    Forms are tried in this order: a single letter, the text of exactly one option, several
    letters, a letter followed by its text. Lower case is accepted only for a single letter. An
    answer without an option gives None; nothing is guessed.
    """
    labels = list_labels(choices)
    bare = text if text.isascii() and len(text) == 1 else _bare(text)
    if len(bare) == 1 and bare.upper() in labels:
        return bare.upper(), "letter"
    by_text = option_with_text(text, choices)
    if by_text:
        return by_text, "option text"
    letters = _several(bare, labels)
    if letters:
        return letters, "letters"
    return _letter_and_text(bare, labels)


def option_with_text(text: str, choices: Sequence[Choice] | None) -> str | None:
    """Return the label of the only option equivalent to `text`; None for none or several."""
    if not choices or not text.strip():
        return None
    text = _STATEMENT.sub("", text)
    plain = _SERIAL_COMMA.sub("", text)
    matches = [
        c.label.strip().upper()
        for c in choices
        if c.text and same_text(_SERIAL_COMMA.sub("", c.text), plain)
    ]
    if len(matches) != 1:
        from omibench.answers.quantity import has_number, same_quantity

        matches = [
            c.label.strip().upper()
            for c in choices
            if has_number(text) and c.text and same_quantity(c.text, text)
        ]
    return matches[0] if len(matches) == 1 else None


def _bare(text: str) -> str:
    """Strip decoration from a letter: bold, \\text, dollars, brackets, a final stop."""
    text = unwrap(text, _OPENS)
    text = _DRESS.sub(" ", text).strip(" \n\t.{}\"'")
    text = _LEAD.sub("", " ".join(text.split()), count=1).strip()
    if not text.isascii() and len(text) <= _MAX_DRESSED:  # Ⓑ, 𝐁
        text = unicodedata.normalize("NFKC", text).strip()
        text = text.translate(_LOOK_ALIKE) if len(text) == 1 else text
    bracketed = _ONE_SIDED.fullmatch(text)
    return bracketed.group(1) if bracketed else text


def _several(bare: str, labels: str) -> str | None:
    named = positional(labels)
    if named.several.fullmatch(bare):
        letters = named.alone.findall(bare)
    elif named.run.fullmatch(bare):
        letters = list(bare)
    else:
        return None
    once = set(letters)
    # Also a letter in a word that is not a label, which `alone` ignores: "For, A".
    named_labels = {sign for sign in bare if sign.isupper()} | once
    if len(once) < len(letters) or not named_labels.issubset(labels):
        return None
    return "".join(sorted(once))


def _letter_and_text(bare: str, labels: str) -> tuple[str, str] | None:
    lead = positional(labels).lead.match(bare)
    label = (lead.group(1) or lead.group(2)) if lead else None
    return (label, "letter and text") if label and label in labels else None
