"""The choices of a problem: the letters that mark them in papers of the world, and their pictures.

To support another script, add a row. A list of choices uses the letters of one row, from its first
letter on and without a gap; letters that only look like those of another row are different.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, NamedTuple

from omibench.stages.ocr.layout.layout import Item, Line, Picture, get_lines, get_text
from omibench.stages.ocr.structure.numbering import (
    asks,
    asks_for_pairs,
    asks_for_work,
    leaves_blank,
    tells_to_choose,
)

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


# Pair letters and pictures of choices.

MIN_CHOICES = 3


@dataclass(slots=True)
class Option:
    """One choice on the page."""

    letter: str
    lines: list[Line] = field(default_factory=list)
    picture: Picture | None = None
    correct: bool = False
    marker: Line | None = None

    @property
    def is_bare(self) -> bool:
        return not any(line.text for line in self.lines)


def pair_pictures(options: Sequence[Option], pictures: Sequence[Picture]) -> list[Picture]:
    """Assign a picture to every bare choice; return the assigned pictures.

    Letters are above, below or left of their pictures, the same way for all. The direction with the
    smallest total distance is used.
    """
    bare = [o for o in options if o.is_bare and o.marker is not None]
    if len(bare) < MIN_CHOICES or len(pictures) < len(bare):
        return []
    best: tuple[float, list[Picture]] | None = None
    for place in ("above", "below", "left"):
        total, assignment = _assign(bare, pictures, place)
        if best is None or total < best[0]:
            best = (total, assignment)
    assignment = best[1] if best else []
    for option, picture in zip(bare, assignment, strict=True):
        option.picture = picture
    return assignment


def _assign(
    options: Sequence[Option], pictures: Sequence[Picture], place: str
) -> tuple[float, list[Picture]]:
    """Pair letters and pictures, nearest pairs first; returns the total distance."""
    pairs = sorted(
        (_distance(option, picture, place), i, j)
        for i, option in enumerate(options)
        for j, picture in enumerate(pictures)
    )
    chosen: dict[int, int] = {}
    total = 0.0
    for distance, i, j in pairs:
        if i not in chosen and j not in chosen.values():
            chosen[i] = j
            total += distance
    return total, [pictures[chosen[i]] for i in range(len(options))]


def _distance(option: Option, picture: Picture, place: str) -> float:
    marker = option.marker
    if marker is None or marker.page != picture.page:
        return 5000.0
    letter, box = marker.box, picture.box
    x, y = letter.centre
    aside = min(abs(x - box.centre[0]), abs(letter.x0 - box.x0))
    if place == "above":
        return abs(box.y0 - letter.y1) + aside
    if place == "below":
        return abs(letter.y0 - box.y1) + aside
    return abs(box.x0 - letter.x1) + min(abs(y - box.centre[1]), abs(letter.y0 - box.y0))


# Find the choices of a problem: letters with text, or letters with pictures.

_STARTS = re.compile(r"[(（]?[A-H][)）]")
_LONE = re.compile(rf"[(（](?:[A-H]|[IVX]{{1,4}}|[{CAPITALS}])[)）]|[A-H][).]")
ARROW = re.compile(r"\s*(?:←|<\s?[-−–]|⇐|\\leftarrow)\s*correct\b\.?", re.I)
"""Arrows that point at the right choice in a booklet of solutions."""
_CORRECT = re.compile(rf"{ARROW.pattern}|\s*✓|\s*✔", re.I)
_BEFORE = {
    "(A)": re.compile(r"."),
    "A)": re.compile(r"[\d;,.、，；。．%°)）\u3040-\u30ff\u3400-\u9fff]"),
    "A.": re.compile(r"[\d;,.、，；。．%°)）\u3040-\u30ff\u3400-\u9fff]"),
}
"""Characters allowed before the marker of a choice that directly follows another one."""
_SHORT = 40
_HEARD = 200
"""The number of characters before the choices in which they are announced."""
_USUAL = (3, 4, 5)


class Marker(NamedTuple):
    """The letter that starts a choice: its position in the items and in the line's text."""

    letter: str
    style: str
    place: int
    start: int
    end: int


def starts_choice(text: str) -> bool:
    """Return whether a line starts with an upper-case letter of a choice."""
    return _STARTS.match(text) is not None


def is_lone_marker(text: str) -> bool:
    """Return whether a line is only the letter of a choice or the number of a sub-graph."""
    return _LONE.fullmatch(text) is not None


def split_choices(items: Sequence[Item], question: str = "") -> tuple[list[Item], list[Option]]:
    """Return the statement and the choices of a problem; the latter may be empty.

    `question` is the text before the items, for problems whose choices follow a stem.
    """
    markers = _best_run(items, question)
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


def _best_run(items: Sequence[Item], question: str) -> list[Marker]:
    """Return the longest list of choices; non-Latin letters count if Latin ones form no list."""
    return _longest(items, question, _longest(items, question, []), close=True)


def _longest(
    items: Sequence[Item], question: str, best: list[Marker], *, close: bool = False
) -> list[Marker]:
    """Return a list longer than `best`, if any; `close` as in `_close_markers`."""
    has_run = bool(best)
    for row in LETTERINGS:
        if best and best[0].letter in LATIN and not row.is_latin:
            break
        for style in row.settings:
            free = _markers(items, row, style)
            run = _run(items, row, _close_markers(items, row, style, has_run) if close else free)
            if len(run) <= len(best) or (close and not _all_say_something(items, run)):
                continue
            if _is_choice_list(items, run, row, question):
                best = run
    return best


def _all_say_something(items: Sequence[Item], run: Sequence[Marker]) -> bool:
    """Return whether all choices have text and are in the order of their letters."""
    options, _, _ = _fill(items, run)
    places = [(marker.place, marker.start) for marker in run]
    return places == sorted(places) and not any(option.is_bare for option in options)


def _run(items: Sequence[Item], row: Lettering, markers: Iterable[Marker]) -> list[Marker]:
    """Return the markers from the first letter on; none if non-Latin letters have a gap."""
    markers_by_letter: dict[str, Marker] = {}
    for marker in markers:
        # A repeated letter restarts the list; the markers found so far may be the list.
        if marker.letter == row.label(row.letters[0]) and len(markers_by_letter) < MIN_CHOICES:
            markers_by_letter = {}
        markers_by_letter.setdefault(marker.letter, marker)
    labels = [row.label(letter) for letter in row.letters]
    gap = next((k for k, label in enumerate(labels) if label not in markers_by_letter), len(labels))
    run = [markers_by_letter[label] for label in labels[:gap]] if gap >= MIN_CHOICES else []
    if not run or row.is_latin:
        return run
    return run if gap == len(markers_by_letter) and not _goes_on_otherwise(items, row, run) else []


def _goes_on_otherwise(items: Sequence[Item], row: Lettering, run: Sequence[Marker]) -> bool:
    """Return whether the next letter of another row follows a list, as in `а) б) в) D)`."""
    last, place = max((m.place, m.start) for m in run), len(run)
    return any(
        (marker.place, marker.start) > last
        and marker.letter == other_row.label(other_row.letters[place])
        for other_row in LETTERINGS
        if other_row.letters != row.letters and place < len(other_row.letters)
        for style in other_row.settings
        if style != "A"
        for marker in _markers(items, other_row, style)
    )


def _markers(items: Sequence[Item], row: Lettering, style: str) -> Iterator[Marker]:
    mark = pattern(row, style)
    for index, item in enumerate(items):
        if not isinstance(item, Line) or not item.upright:
            continue
        match = mark.match(item.text)
        while match:
            yield Marker(row.label(match[1]), style, index, match.start(), match.end())
            if style == "A":
                break
            match = next(
                (m for m in mark.finditer(item.text, match.end()) if _stands_free(item.text, m)),
                None,
            )


def _close_markers(
    items: Sequence[Item], row: Lettering, style: str, has_run: bool
) -> list[Marker]:
    """Return the first letter if it starts a line, and each next one also after another choice's
    text.

    Examples are `(A) 3 m(B) 4 m` and `A. 3;B. 4`. A bracket after a letter may belong to a
    function, so it counts only if no list with `has_run` is available.
    """
    before = _BEFORE.get("A)" if has_run and style == "(A)" else style)
    if before is None or row.letters.isdecimal():
        return []
    mark, markers = pattern(row, style), list[Marker]()
    for index, item in enumerate(items):
        if not isinstance(item, Line) or not item.upright:
            continue
        for match in mark.finditer(item.text):
            place, next_place = row.letters.index(match[1]), len(markers)
            free = _stands_free(item.text, match)
            if place > next_place > 0 and free:
                return []  # a list with a gap is none
            if place != next_place or (next_place == 0 and match.start() > 0):
                continue
            if free or before.match(item.text[match.start() - 1]):
                label = row.label(match[1])
                markers.append(Marker(label, style, index, match.start(), match.end()))
    return markers


def _stands_free(text: str, match: re.Match[str]) -> bool:
    return match.start() == 0 or text[match.start() - 1].isspace()


def _is_choice_list(
    items: Sequence[Item], run: Sequence[Marker], row: Lettering, question: str
) -> bool:
    if row.condition == "always":
        alone = run[0].style == "A"
        return not alone or (len(run) > 3 and _stand_in_line([items[m.place] for m in run]))
    options, _, _ = _fill(items, run)
    texts = [get_text(option.lines) for option in options]
    if any(asks_for_work(text) for text in texts):
        return False
    before = _before(items, run[0]) or question
    if not row.is_latin and (asks_for_pairs(before) or any(leaves_blank(text) for text in texts)):
        return False
    if row.condition == "no task":
        return True
    heading = before[-_HEARD:]
    chosen = tells_to_choose(heading) or (row.condition == "asked" and asks(heading))
    return len(run) in _USUAL and chosen


def _before(items: Sequence[Item], marker: Marker) -> str:
    """Return the text before the first choice."""
    text = get_text(items[: marker.place])
    head = items[marker.place]
    if isinstance(head, Line):
        text += " " + head.text[: marker.start]
    return text.strip()


def _stand_in_line(items: Sequence[Item]) -> bool:
    """Return whether lines are below each other or on one row, like bare letters of choices."""
    lines = get_lines(items)
    lefts, levels = [line.box.x0 for line in lines], [line.baseline for line in lines]
    if len({line.page for line in lines}) == 1 and max(levels) - min(levels) < 2:
        return all(1 < len(line.text) < _SHORT for line in lines)
    return max(lefts) - min(lefts) < 3 and all(line.starts for line in lines)


def _fill(
    items: Sequence[Item], markers: Sequence[Marker]
) -> tuple[list[Option], list[Picture], list[Item]]:
    """Return choices with their lines and pictures, and the rest after the last choice."""
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
        line_markers = by_line.get(index)
        if line_markers:
            if (
                row and line_markers[0].start > 0
            ):  # the end of a choice, with the next ones close behind it
                _add(row[-1][1], replace(item, text=item.text[: line_markers[0].start].strip()))
            if row and abs(item.baseline - row[-1][2]) > 0.8 * item.size:
                row = []
            ends = [m.start for m in line_markers[1:]] + [len(item.text)]
            for marker, end in zip(line_markers, ends, strict=True):
                option = options[marker.letter]
                _add(option, replace(item, text=item.text[marker.end : end].strip()))
                option.marker = option.marker or item
                row.append((item.box.x0, option, item.baseline))
        elif row and _ends_choices(items, index, row[-1][1]):
            return list(options.values()), pictures, list(items[index:])
        elif row:
            preceding = [entry for entry in row if entry[0] <= item.box.x0 + 3] or row[:1]
            _add(max(preceding, key=lambda entry: entry[0])[1], item)
    return list(options.values()), pictures, []


def _ends_choices(items: Sequence[Item], index: int, option: Option) -> bool:
    """Return whether the line at `index` is well below the last choice, back at the left margin."""
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
