"""Insertion of formulas into the lines of a text layer, in place of their characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from glyphtex.marks import Box
from glyphtex.page_marks import is_level
from glyphtex.pages import PlacedFormula
from glyphtex.text_layer import Character, TextRun

_CLOSING = frozenset(".,;:!?)]”’»。，；：、）")
"""Punctuation that ends a sentence or a bracket of prose."""
Place = tuple[int, int]
"""Run of a character and its position in it."""
Item = Character | PlacedFormula


@dataclass(frozen=True, slots=True)
class Fragment:
    """Line of the text layer with formulas inserted; `raw` is None for a single formula."""

    raw: Mapping[str, object] | None
    items: tuple[Item, ...]
    upright: bool
    is_whole: bool
    """Whether it is an unchanged line of the text layer."""
    is_prose: bool = False
    """Whether its items are incomplete: it is far from all formulas."""


def insert_formulas(runs: Sequence[TextRun], formulas: Sequence[PlacedFormula]) -> list[Fragment]:
    """Replace characters in the lines of a text layer by formulas.

    Args:
        runs: Lines of the text layer.
        formulas: Formulas without common characters.

    Returns:
        Nonempty lines in order; a formula outside all lines follows the line on its left.
    """
    owner = {place: k for k, formula in enumerate(formulas) for place in formula.characters}
    homes = {k: home for k, formula in enumerate(formulas) if (home := _home(formula, runs))}
    inserted: dict[Place, list[Item]] = {}
    for k, home in homes.items():
        tail = _find_tail(formulas[k], runs, owner)
        owner |= dict.fromkeys(tail, k)
        # Without a width at the end of the first line.
        x, y = formulas[k].box.x1, formulas[k].baseline
        closing = (runs[number].characters[place] for number, place in tail)
        inserted[home] = [
            formulas[k],
            *(
                replace(c, x=x, y=y, box=Box(x, c.box.y0 + y - c.y, x, c.box.y1 + y - c.y))
                for c in closing
            ),
        ]
    remaining = [[*_without_parts(n, run, owner, inserted)] for n, run in enumerate(runs)]
    fragments = [
        Fragment(
            run.raw,
            tuple(items),
            is_level(run),
            len(items) == len(run.characters) and all(isinstance(i, Character) for i in items),
            run.is_prose,
        )
        for run, items in zip(runs, remaining, strict=True)
        if any(not isinstance(i, Character) or not i.text.isspace() for i in items)
        or items == list(run.characters)
    ]
    for k, formula in enumerate(formulas):
        if k not in homes:
            place = _place_after(formula, fragments)
            fragments.insert(place, Fragment(None, (formula,), True, False))
    return fragments


def _home(formula: PlacedFormula, runs: Sequence[TextRun]) -> Place | None:
    """Return the first character of a formula that is on the baseline of its row."""
    characters = ((place, runs[place[0]].characters[place[1]]) for place in formula.characters)
    level = [
        (character.box.x0, place)
        for place, character in characters
        if abs(character.y - formula.baseline) < 0.2 * formula.size
        and character.size > 0.8 * formula.size
    ]
    return min(level)[1] if level else None


def _find_tail(
    formula: PlacedFormula, runs: Sequence[TextRun], owner: Mapping[Place, int]
) -> list[Place]:
    """Find the punctuation right after a broken formula, in its last line."""
    if not formula.formula.region.following:
        return []
    last = formula.formula.region.lines[-1].box
    inside = [
        place
        for place in formula.characters
        if last.grow(0.5, 0.5).holds(runs[place[0]].characters[place[1]].box)
    ]
    if not inside:
        return []
    number, k = max(inside, key=lambda place: runs[place[0]].characters[place[1]].box.x1)
    characters = runs[number].characters
    after = ((number, place) for place in range(k + 1, len(characters)))
    return list(takewhile(lambda p: characters[p[1]].text in _CLOSING and p not in owner, after))


def _without_parts(
    number: int,
    run: TextRun,
    owner: Mapping[Place, int],
    inserted: Mapping[Place, Sequence[Item]],
) -> Iterator[Item]:
    """Yield the items of a run without characters of formulas, each formula once at its home.

    The punctuation after a broken formula follows it.
    """
    owners = [owner.get((number, k)) for k in range(len(run.characters))]
    if not any(k is not None for k in owners):
        yield from run.characters
        return
    for k, character in enumerate(run.characters):
        if owners[k] is not None:
            yield from inserted.get((number, k), ())
        elif not character.text.isspace() or not _is_within(owners, run, k):
            yield character


def _is_within(owners: Sequence[int | None], run: TextRun, k: int) -> bool:
    """Return whether a space separates two characters of one formula."""

    def next_owner(places: range) -> int | None:
        return next((owners[j] for j in places if not run.characters[j].text.isspace()), None)

    before = next_owner(range(k - 1, -1, -1))
    return before is not None and before == next_owner(range(k + 1, len(owners)))


def _place_after(formula: PlacedFormula, fragments: Sequence[Fragment]) -> int:
    """Return the place after the line that ends left of a formula, else after the line above it."""
    best, place = 1e9, len(fragments)
    for k, fragment in enumerate(fragments):
        ends = [i for i in fragment.items if not isinstance(i, Character) or not i.text.isspace()]
        if not ends or not fragment.upright:
            continue
        last = ends[-1]
        level = last.y if isinstance(last, Character) else last.baseline
        gap = formula.box.x0 - last.box.x1
        distance = abs(level - formula.baseline) * 4 + (gap if gap > -2 else 200 - gap)
        if distance < best:
            best, place = distance, k + 1
    return place


def split_items(items: Sequence[Item]) -> Iterator[Sequence[Character] | PlacedFormula]:
    """Group characters of one font, size and baseline; formulas remain single."""

    def style(item: Item) -> tuple[object, ...]:
        if isinstance(item, Character):
            return (item.font, item.size, item.y, item.italic, item.bold)
        return (id(item),)

    for _, group in groupby(items, key=style):
        members = list(group)
        first = members[0]
        if isinstance(first, Character):
            yield [m for m in members if isinstance(m, Character)]
        else:
            yield first
