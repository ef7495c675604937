"""Papers with the key's letters printed in the blanks of multiple-choice problems."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from omibench.stages.ocr.layout.layout import Item, Line

_WIDE = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef_]"
_FILLED = re.compile(
    rf"(?<={_WIDE})\s*(?P<wide>[A-H])\s*(?={_WIDE})|(?<=\()\s+(?P<narrow>[A-H])\s+(?=\))"
)
_CLOSING = re.compile(r"[\s)）_．。.：:]*")
_FEWEST = 2


def empty_blanks(
    problems: Sequence[tuple[Sequence[Item], Collection[str]]],
) -> list[tuple[list[Item], str | None]]:
    """Remove the letters from filled blanks; return each problem's statement and letter, or None.

    `problems` are statements with the letters of their choices. A letter counts as filled in if it
    is the only one alone between brackets or in Chinese text, and only if at least half of
    the multiple-choice statements, and at least two, end with such a letter.
    """
    blanks = [
        _find_filled_blank(items, letters) if letters else None for items, letters in problems
    ]
    with_choices = sum(bool(letters) for _, letters in problems)
    closing = sum(place is not None and place[2] for place in blanks)
    if closing < _FEWEST or 2 * closing < with_choices:
        return [(list(items), None) for items, _ in problems]
    return [
        (list(items), None) if place is None else (_cut(items, place[1]), place[0])
        for (items, _), place in zip(problems, blanks, strict=True)
    ]


def _find_filled_blank(
    items: Sequence[Item], letters: Collection[str]
) -> tuple[str, slice, bool] | None:
    """Return the letter in the blank, its position in the joined lines, and whether it ends
    them."""
    text = _join_lines(items)
    matches = [m for m in _FILLED.finditer(text) if (m["wide"] or m["narrow"]) in letters]
    if len(matches) != 1:
        return None
    (match,) = matches
    ends = _CLOSING.fullmatch(text, match.end()) is not None
    return match["wide"] or match["narrow"], slice(match.start(), match.end()), ends


def _join_lines(items: Sequence[Item]) -> str:
    return "\n".join(item.text for item in items if isinstance(item, Line))


def _cut(items: Sequence[Item], place: slice) -> list[Item]:
    """Return the items without the characters at `place` of their joined lines."""
    remaining: list[Item] = []
    start = 0
    for item in items:
        if isinstance(item, Line):
            a, b = (min(max(k - start, 0), len(item.text)) for k in (place.start, place.stop))
            remaining.append(replace(item, text=item.text[:a] + item.text[b:]))
            start += len(item.text) + 1
        else:
            remaining.append(item)
    return remaining
