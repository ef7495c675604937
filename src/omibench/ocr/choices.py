"""Choices of a problem: letters with text, or letters with pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from omibench.ocr.layout import Item, Line, Picture
from omibench.ocr.pairing import MIN_CHOICES, Option, pair_pictures

_MARKERS = {
    "(A)": re.compile(r"[(（]([A-H])[)）]\s*"),
    "A)": re.compile(r"([A-H])[)）]\s*"),
    "A.": re.compile(r"([A-H])(?:[.:](?![A-Za-z])|[．、：])\s*"),
    "(a)": re.compile(r"[(（]([a-h])[)）]\s*"),
    "a)": re.compile(r"([a-h])[)）]\s*"),
    "A": re.compile(r"([A-H])(?:\s+|$)"),
}
_LONE = re.compile(r"[(（](?:[A-H]|[IVX]{1,4})[)）]|[A-H][).]")
ARROW = re.compile(r"\s*(?:←|<\s?[-−–]|⇐|\\leftarrow)\s*correct\b\.?", re.I)
"""What points at the right choice in a booklet of solutions."""
_CORRECT = re.compile(rf"{ARROW.pattern}|\s*✓|\s*✔", re.I)
_ASKS = re.compile(
    r"[?？:：]\s*(?:\[IMAGE\d+\]\s*)*$|…\s*$|\b(?:which|choose|select|mark|cu[áa]l(?:es)?|se[ñn]ale|"
    r"marque|indique|elija|qual|quais|assinale|welche[rs]?|wähle)\b",
    re.I,
)
_TASK = re.compile(
    r"[?？]|\b(?:points?|pts|marks?|puntos|pontos|punkte)\b|^(?:find|determine|calculate|compute|state|"
    r"what|how|why|show|derive|explain|estimate|sketch|plot|draw|give|prove|identify|name|describe|"
    r"calcule|determine|encuentre|halle|explique|cu[áa]l|qu[ée]|calcular|berechne|bestimme)\b",
    re.I,
)


_SHORT = 40


class Marker(NamedTuple):
    """The letter that opens a choice: where in the items, and where in the line's text."""

    letter: str
    style: str
    place: int
    start: int
    end: int


def asks_for_work(text: str) -> bool:
    """Whether a text asks or tells the reader to do something, as a task does and a choice not."""
    return _TASK.search(text) is not None


def starts_choice(text: str) -> bool:
    """Whether a line begins with an upper-case letter of a choice."""
    return any(_MARKERS[style].match(text) for style in ("(A)", "A)"))


def is_lone_marker(text: str) -> bool:
    """Whether a line is nothing but the letter of a choice or the number of a sub-graph."""
    return _LONE.fullmatch(text) is not None


def split_choices(items: Sequence[Item], asked: str = "") -> tuple[list[Item], list[Option]]:
    """The statement and the choices of a problem; no choices when it has none.

    `asked` is the text before the items, for problems whose choices follow a stem.
    """
    markers = _best_run(items, asked)
    if not markers:
        return list(items), []
    first = min(markers, key=lambda m: (m.place, m.start))
    opening = items[first.place]
    statement = list(items[: first.place])
    if isinstance(opening, Line) and first.start > 0:
        statement.append(replace(opening, text=opening.text[: first.start].strip()))
    options, pictures, tail = _fill(items, markers)
    paired = pair_pictures(options, [*(i for i in statement if isinstance(i, Picture)), *pictures])
    statement = [i for i in statement if not any(i is p for p in paired)]
    statement += [p for p in pictures if not any(p is q for q in paired)]
    return statement + tail, options


def _best_run(items: Sequence[Item], asked: str) -> list[Marker]:
    best: list[Marker] = []
    for style in _MARKERS:
        found: dict[str, Marker] = {}
        for marker in _markers(items, style):
            # A letter that comes back restarts the list; what was found so far may be the list.
            if marker.letter == "A" and len(found) < MIN_CHOICES:
                found = {}
            found.setdefault(marker.letter, marker)
        run = [found[letter] for letter in _consecutive(found)]
        if len(run) >= MIN_CHOICES and len(run) > len(best) and _is_choice_list(items, run, asked):
            best = run
    return best


def _consecutive(found: dict[str, Marker]) -> Iterator[str]:
    for letter in "ABCDEFGH":
        if letter not in found:
            return
        yield letter


def _markers(items: Sequence[Item], style: str) -> Iterator[Marker]:
    pattern = _MARKERS[style]
    for index, item in enumerate(items):
        if not isinstance(item, Line) or not item.upright:
            continue
        match = pattern.match(item.text)
        while match:
            yield Marker(match[1].upper(), style, index, match.start(), match.end())
            if style == "A":
                break
            after = next(
                (m for m in pattern.finditer(item.text, match.end()) if _stands_free(item.text, m)),
                None,
            )
            match = after


def _stands_free(text: str, match: re.Match[str]) -> bool:
    return match.start() == 0 or text[match.start() - 1].isspace()


def _is_choice_list(items: Sequence[Item], run: Sequence[Marker], asked: str) -> bool:
    if run[0].style in ("(A)", "A)", "A."):
        return True
    if run[0].style == "A":
        return len(run) >= 4 and _stand_in_line([items[marker.place] for marker in run])
    before = " ".join(i.text for i in items[: run[0].place] if isinstance(i, Line))
    head = items[run[0].place]
    if isinstance(head, Line):
        before += " " + head.text[: run[0].start]
    options, _, _ = _fill(items, run)
    texts = [" ".join(line.text for line in option.lines) for option in options]
    if any(_TASK.search(text) for text in texts):
        return False
    return len(run) in (3, 4, 5) and _ASKS.search((before.strip() or asked)[-200:]) is not None


def _stand_in_line(items: Sequence[Item]) -> bool:
    """Whether lines begin below each other or stand on one row, as bare letters of choices do."""
    lines = [item for item in items if isinstance(item, Line)]
    lefts, levels = [line.box.x0 for line in lines], [line.baseline for line in lines]
    if len({line.page for line in lines}) == 1 and max(levels) - min(levels) < 2:
        return all(1 < len(line.text) < _SHORT for line in lines)
    return max(lefts) - min(lefts) < 3 and all(line.starts for line in lines)


def _fill(
    items: Sequence[Item], markers: Sequence[Marker]
) -> tuple[list[Option], list[Picture], list[Item]]:
    """Options with their lines, pictures among them, and what follows the last option."""
    by_line: dict[int, list[Marker]] = {}
    for marker in sorted(markers, key=lambda m: (m.place, m.start)):
        by_line.setdefault(marker.place, []).append(marker)
    options = {m.letter: Option(m.letter) for m in markers}
    pictures: list[Picture] = []
    row: list[tuple[float, Option, float]] = []
    begin = min(by_line)
    for index in range(begin, len(items)):
        item = items[index]
        if isinstance(item, Picture):
            pictures.append(item)
            continue
        here = by_line.get(index)
        if here:
            if row and abs(item.baseline - row[-1][2]) > 0.8 * item.size:
                row = []
            ends = [m.start for m in here[1:]] + [len(item.text)]
            for marker, end in zip(here, ends, strict=True):
                option = options[marker.letter]
                _add(option, replace(item, text=item.text[marker.end : end].strip()))
                option.marker = option.marker or item
                row.append((item.box.x0, option, item.baseline))
        elif row and _ends_choices(items, index, row[-1][1]):
            return list(options.values()), pictures, list(items[index:])
        elif row:
            left = [entry for entry in row if entry[0] <= item.box.x0 + 3] or row[:1]
            _add(max(left, key=lambda entry: entry[0])[1], item)
    return list(options.values()), pictures, []


def _ends_choices(items: Sequence[Item], index: int, option: Option) -> bool:
    """Whether the line at `index` comes well below the last choice, back at the left margin."""
    item, last = items[index], option.lines[-1] if option.lines else option.marker
    if not isinstance(item, Line) or last is None or option.marker is None:
        return False
    if item.page != last.page or item.box.y0 < last.box.y0:
        return item.indent <= option.marker.indent - 2
    gap = item.box.y0 - last.box.y1
    return gap > 1.1 * item.size and item.indent <= option.marker.indent + 2


def _add(option: Option, line: Line) -> None:
    text = _CORRECT.sub("", line.text)
    option.correct = option.correct or text != line.text
    if text.strip():
        option.lines.append(replace(line, text=text.strip()))
