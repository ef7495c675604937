"""Parse the numbers of problems: `1.`, `Problem 3`, `第5题`, `Q7`, `(D01.1)`, `B2 a)`."""

from __future__ import annotations

import re
from typing import NamedTuple

from omibench.stages.ocr.layout.layout import Line

_WORDS = (
    "problems?|probs?\\.|questions?|exercises?|exerc?\\.|items?|tasks?|theory(?: problems?)?|"
    "experiment(?:al problems?)?|"
    "problemas?|preguntas?|ejercicios?|ejs?\\.|reactivo|quest[aã]o|exerc[ií]cio|"
    "aufgabe|frage|probl[eè]me|exercice|esercizio|quesito|domanda|problema|"
    "vraag|opgave|oppgave|opgaven|uppgift|teht[aä]v[aä]|zadanie|zadatak|naloga|[uú]loha|p[rř][ií]klad|"
    "soal|soru|c[aâ]u|b[aà]i|задача|задание|вопрос|πρόβλημα|θέμα|문제|問題|問|问题|试题|試題|题目|题"
)
_DIGITS = "零一二三四五六七八九十"
_SEPARATOR = r"\s*(?:[.．]\s?[-–](?=\s)|[.:：、．)）\]】]|[-–—](?=\s))?\s*"
_OF = r"(?:\s+(?:of|de|von|sur|di|из)\s+\d{1,3}(?=\s*[:.)\]]))?"
"""The total in "Question 1 of 8:"."""
_PART = r"(?P<part>\s?[(（]?[a-h][)）]|\.\d{1,2}\b)?"
_STYLES = (
    (
        "word",
        rf"[【\[]?(?:{_WORDS})\s*(?:n(?:[oº°r]|um(?:ber)?)?\.?\s*|#\s*|№\s*)?"
        rf"(?:(?P<prefix>[A-Z])[-–.]?(?=\d))?(?P<n>\d{{1,3}}|[IVX]{{1,5}}(?![A-Za-z])){_PART}"
        rf"(?!\w){_OF}{_SEPARATOR}",
    ),
    ("di", rf"[【(（]?第\s*(?P<n>\d{{1,3}}|[{_DIGITS}]{{1,3}})\s*[题題问問]{_SEPARATOR}"),
    ("ban", r"(?P<n>\d{1,3})\s*번\s*[.)]?\s*"),
    ("feladat", r"(?P<n>\d{1,3})\s*\.\s*(?:feladat|mesele|uzdevums|ülesanne|užduotis)\b[.:]?\s*"),
    ("ordinal", r"(?P<n>\d{1,3})\s*[ªº°]?\s*(?:quest[aã]o|pregunta|aufgabe)\b\s*[.:)\-–]?\s*"),
    ("example", r"例\s*(?P<n>\d{1,3})\s*[.:：、．)）]?\s*"),
    ("letter", rf"Q(?:u(?:es)?)?\s*\.?\s*(?:no\.?\s*)?(?P<n>\d{{1,3}})(?!\w){_SEPARATOR}"),
    ("nr", rf"(?:#|№|n[oº°r]\.|n[º°])\s*(?P<n>\d{{1,3}})(?!\w){_SEPARATOR}"),
    ("code", r"[(（\[](?P<prefix>[A-Z])[-.]?(?P<n>\d{1,2})(?P<part>\.\d{1,2})?[)）\]]\s*"),
    ("plain", r"\**(?P<n>\d{1,3})\s*(?:[.．]\s?[-–](?=\s)|[.．、]|[)）\]])(?!\d)\s*"),
    ("plain", r"(?P<n>\d{1,3})\s?(?P<part>[(（]?[a-h][)）])\s*"),
    (
        "plain",
        r"(?P<n>\d{1,3})\s*[.:]?\s*[(（\[]\s*\d{1,3}\s*(?:points?|pts?|marks?|p|分|点|puntos|"
        r"pontos|"
        r"punkte)\.?\s*[)）\]]\s*",
    ),
    (
        "plain",
        r"(?P<prefix>[A-Z])[-.]?(?P<n>\d{1,2})(?P<part>\.\d{1,2}\b|\s?[(（]?[a-h][)）])?"
        r"(?:\s*[.:：、)）](?!\d)\s*|\s+(?![=<>≤≥≈+×·/^_)]))",
    ),
    ("heading", r"[A-Z][A-Za-z]+(?: [A-Z]?[a-z]+){0,2} (?P<n>\d{1,2})\s*:\s*(?=\S)"),
)
_RARE = (
    ("paren", r"[(（\[]\s?(?P<n>\d{1,3})\s?[)）\]]\s*(?=\S)"),
    ("roman", r"(?P<n>[IVX]{1,5})\s*[.)、](?!\w)\s*(?=\S)"),
    ("bare", r"(?P<n>\d{1,3})(?:\s+(?=[^\W\d_])|$)"),
    ("dash", r"(?P<n>\d{1,3})\s*[-–—:：]\s+(?=[^\W\d_])"),
)
_PREFIXES = "ABCDEFGHJKLMNOPQRSTUWYZ"
"""Letters that are not Roman numerals."""
NAMED = ("word", "di", "ban", "feladat", "ordinal", "example", "nr")
"""Styles that always number problems."""


class Number(NamedTuple):
    """A possible problem number: its value, its style, and the start of the text.

    `prefix` is a letter printed with it ("B" of "B2"), `part` its sub-question ("a)" of "B2 a)"),
    which stays with the text.
    """

    value: int
    style: str
    end: int
    prefix: str = ""
    part: str = ""


_PATTERNS = tuple(
    (style, re.compile(pattern, re.I if style in NAMED else 0)) for style, pattern in _STYLES
)
_RARE_PATTERNS = tuple((style, re.compile(pattern)) for style, pattern in _RARE)


def read_number(text: str) -> Number | None:
    """Return the number at the start of a line, if it looks like that of a problem."""
    return _first(text, _PATTERNS)


def read_rare_number(text: str) -> Number | None:
    """Return the number in an ambiguous style: `(3)`, `III.`, `3 Text`, `3 - Text`.

    Use it only if a paper has no other numbering.
    """
    return _first(text, _RARE_PATTERNS)


def looks_numbered(line: Line) -> bool:
    """Return whether a line starts with a possible problem number and is more than a label."""
    number = read_number(line.text)
    if number is None or (number.prefix and number.style == "plain"):
        return False
    return number.end < len(line.text) or number.style != "plain"


def format_label(section: str, value: int | str) -> str:
    """Return the label of a problem: `7`, `B2`, or with a longer section name `II.3`."""
    joined = not section or (len(section) == 1 and section in _PREFIXES)
    return f"{section}{value}" if joined else f"{section}.{value}"


def parse_label(label: str) -> tuple[str, int]:
    """Return the section and number of a label of `format_label`; number 0 for other texts."""
    match = re.fullmatch(r"(?:([A-Za-z])|(.+)\.)?(\d{1,3})", label)
    return ((match[1] or match[2] or ""), int(match[3])) if match else ("", 0)


def roman_value(text: str) -> int:
    """Return `IX` as 9; 0 for anything but Roman numerals below 40."""
    match = re.fullmatch(r"(X{0,3})(IX|IV|V?I{0,3})", text.upper())
    if not match:
        return 0
    digit_values = {
        "": 0,
        "I": 1,
        "II": 2,
        "III": 3,
        "IV": 4,
        "V": 5,
        "VI": 6,
        "VII": 7,
        "VIII": 8,
        "IX": 9,
    }
    return 10 * len(match[1]) + digit_values[match[2]]


def _first(text: str, patterns: tuple[tuple[str, re.Pattern[str]], ...]) -> Number | None:
    for style, pattern in patterns:
        match = pattern.match(text)
        if match and (value := _value(match["n"])):
            groups = match.groupdict()
            prefix, part = groups.get("prefix") or "", groups.get("part") or ""
            end = match.end() if not part else 0 if part[0] == "." else match.start("part")
            return Number(value, style, end, prefix.upper(), part.strip())
    return None


def _value(digits: str) -> int:
    if digits.isdecimal():
        return int(digits)
    if digits[0] not in _DIGITS:
        return roman_value(digits)
    tens, _, units = digits.rpartition("十")
    if "十" not in digits:
        return _DIGITS.index(digits) if len(digits) == 1 else 0
    return (_DIGITS.index(tens) if tens else 1) * 10 + (_DIGITS.index(units) if units else 0)
