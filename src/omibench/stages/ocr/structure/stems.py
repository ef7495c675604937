"""Shared stems: text and figures common to several problems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from omibench.stages.ocr.layout.layout import Item, Line

_NOUNS = (
    "problems?|questions?|exercises?|items?|tasks?|problemas?|preguntas?|ejercicios?|quest[õo]es|"
    "exerc[íi]cios?|aufgaben|fragen|probl[èe]mes?|exercices?|第"
)
_JOIN = r"(?:\s*,\s*(?:and|y|e|und|et)?\s*|\s*(?:and|y|e|und|et|&|和|与|及|、)\s*)"
_SPAN = r"\s*(?:-|–|—|~|～|至|到|to|through|bis|al?|até)\s*"
_RANGE = rf"(?P<range>\d{{1,3}}(?:(?:{_SPAN}|{_JOIN})\d{{1,3}})+)"
_NUMBERED = re.compile(rf"(?:{_NOUNS})\s*{_RANGE}(?!\d)\s*题?", re.I)
_NEXT = re.compile(
    r"(?:next|following|siguientes|pr[óo]xim[ao]s|n[äa]chsten)\s+(?P<count>two|three|four|five|dos|tres|"
    rf"cuatro|duas|dois|tr[êe]s|quatro|zwei|drei|vier|\d)\s+(?:{_NOUNS})\b",
    re.I,
)
_INTRODUCES = re.compile(
    r"\b(?:information|following|refers?|uses?|used|based|relevant|concern|appl(?:y|ies)|stem|figures?|"
    r"data|passage|text|context|informaci[óo]n|siguiente|refieren|datos|informa[çc][õo]es|seguinte|texto|"
    r"dados|angaben|beziehen|folgende)\b|材料|根据|回答|下列",
    re.I,
)
_COUNTS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "dos": 2, "cuatro": 4, "duas": 2,
    "dois": 2, "três": 3, "tres": 3, "quatro": 4, "zwei": 2, "drei": 3, "vier": 4,
}  # fmt: skip
_MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Stem:
    """The items before the problems `numbers` that belong to each of them."""

    numbers: tuple[int, ...]
    items: tuple[Item, ...]

    @property
    def name(self) -> str:
        return f"{self.numbers[0]}-{self.numbers[-1]}"


def split_stem(items: Sequence[Item], following: int) -> tuple[list[Item], Stem | None]:
    """Split the items before problem `following` into its predecessor's items and a shared stem.

    A stem starts with a line that lists at least two problems, of which `following` is the first.
    """
    for index, item in enumerate(items):
        if not isinstance(item, Line) or not item.starts or not item.upright:
            continue
        after = next((i for i in items[index + 1 :] if isinstance(i, Line)), None)
        numbers, end = stem_numbers(item.text, after.text if after else "", following)
        if numbers:
            remainder = item.text[end:].lstrip(" .:：。）)")
            plain = re.match(r"\s*[.:：。]|\s*$", item.text[end:]) is not None
            opening = (
                [replace(item, text=remainder)] if plain and remainder else [] if plain else [item]
            )
            return list(items[:index]), Stem(numbers, (*opening, *items[index + 1 :]))
    return list(items), None


def stem_numbers(line: str, after: str, following: int) -> tuple[tuple[int, ...], int]:
    """Return the problems for which a line starts a stem, and the end of their mention in the line.

    Empty if the line does not start a stem for `following` and later problems.
    """
    text = f"{line} {after}"
    match = _NUMBERED.search(text)
    if match and match.start() < len(line):
        numbers = parse_range(match["range"])
        leads = match.start() == 0 or _INTRODUCES.search(text[: match.end() + 40])
        if leads and len(numbers) > 1 and numbers[0] == following:
            return numbers, min(match.end(), len(line))
    match = _NEXT.search(text)
    if match and match.start() < len(line) and _INTRODUCES.search(line[: match.start()]):
        word = match["count"].lower()
        count = int(word) if word.isdigit() else _COUNTS[word]
        return tuple(range(following, following + count)), min(match.end(), len(line))
    return (), 0


def parse_range(text: str) -> tuple[int, ...]:
    """Parse `3 and 4`, `3-5`, `10, 11, and 12`, `21 a 23` to the numbers they represent.

    Empty if a range runs backwards or has more than 20 problems.
    """
    numbers: list[int] = []
    parts = re.split(r"(\d+)", text)
    for between, digits in zip(parts[0::2], parts[1::2], strict=False):
        value = int(digits)
        if numbers and re.fullmatch(_SPAN, between, re.I):
            if not 0 < value - numbers[-1] < _MAX_PROBLEMS:
                return ()
            numbers += range(numbers[-1] + 1, value + 1)
        else:
            numbers.append(value)
    return tuple(numbers) if numbers == sorted(set(numbers)) else ()
