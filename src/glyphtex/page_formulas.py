"""Combination of a row's parts: brackets, limits, scripts and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from glyphtex.blocks import MAX_BARS
from glyphtex.boxes import Box
from glyphtex.formula_doubts import Leftover, find_doubts, find_vanished
from glyphtex.marks import Formula, FormulaRegion, straighten
from glyphtex.page_marks import MAX_DRAWINGS, gather_marks, is_level
from glyphtex.painted_glyphs import PaintedGlyph
from glyphtex.regions import place_regions
from glyphtex.text_layer import MAX_CHARACTERS, Character, TextRun
from glyphtex.tree.brackets import build_rows, find_rows, place_fences
from glyphtex.tree.fractions import join_signs, reduce_rules
from glyphtex.tree.latex import (
    as_chemistry,
    is_upright,
    join_words,
    write_latex,
)
from glyphtex.tree.nodes import (
    Chemistry,
    Doubts,
    Node,
    PlacedPart,
    Row,
    Rule,
    Sign,
    all_marks,
    are_balanced,
    ends_open,
    find_constructs,
    join,
    part_of_glyph,
    without,
)
from glyphtex.tree.scripts import (
    attach_scripts,
    is_on_line,
    main_line,
    place_accents,
    place_limits,
)
from glyphtex.tree.signs import join_overlays, join_pieces

if TYPE_CHECKING:
    import pymupdf


_OVERLAP = 0.45
"""Maximum overlap of two symbols, as a share of the narrower one."""


def build_row(parts: Sequence[PlacedPart], doubts: Doubts) -> PlacedPart:
    """Combine the parts of one row, or of stacked rows, into one part.

    Args:
        parts: One or more parts; fractions, roots and accents are complete.
        doubts: Collects doubts.
    """
    if len(parts) == 1:
        return join_words(parts)[0]
    parts = place_fences(parts, doubts)
    parts = _with_words(parts)
    parts = place_limits(parts, doubts)
    rows = find_rows(parts)
    if len(rows) > 1:
        return build_rows(rows, doubts)
    y, size = main_line(parts)
    level = sorted((p.box for p in parts if is_on_line(p, y, size)), key=lambda box: box.x0)
    if any(
        -left.gap_x(right) > _OVERLAP * max(min(left.width, right.width), 1.0)
        for left, right in pairwise(level)
    ):
        doubts.add("two symbols overlap")
    line = attach_scripts(parts, y, size, doubts)
    if not line or all_marks(parts) - all_marks(line):
        doubts.add("a mark could not be placed in the formula")
        line = sorted(parts, key=lambda p: p.box.x0)
    like = next((part for part in line if part.axis is None), line[0])
    node = as_chemistry(line) or Row(tuple(part.node for part in line))
    whole = join(line, node, like, y=y, size=size, axis=None)
    return whole if len(line) > 1 or isinstance(node, Chemistry) else line[0]


def _with_words(parts: Sequence[PlacedPart]) -> list[PlacedPart]:
    """Combine upright letters on each baseline into words, which can have limits and scripts."""
    upright = [p for p in parts if is_upright(p)]
    lines: list[list[PlacedPart]] = []
    for part in sorted(upright, key=lambda p: p.y):
        if lines and part.y - lines[-1][-1].y < 0.05 * part.size:
            lines[-1].append(part)
        else:
            lines.append([part])
    words = [word for line in lines for word in join_words(sorted(line, key=lambda p: p.box.x0))]
    return [*without(parts, upright), *words]


# The marks of a region as a tree, and as LaTeX with doubts.

MOST_MARKS = 1200
"""Maximum number of marks of a formula, far above those of real papers."""


def read_formula(region: FormulaRegion, more: Sequence[str] = ()) -> Formula:
    """Return the marks of a formula as LaTeX.

    Args:
        region: Marks of the formula, possibly with spaces.
        more: Doubts from what is around it.

    Returns:
        The best reading, never empty, and its doubts as text.
    """
    node, doubts = build_tree(straighten(region))
    latex = write_latex(node).strip()
    if not latex:
        doubts = (*doubts, "no symbol of the formula could be read")
    return Formula(region, latex or "\\square", (*doubts, *more))


def build_tree(region: FormulaRegion) -> tuple[Node, tuple[str, ...]]:
    """Return the tree of a formula, and its doubts."""
    doubts = Doubts(build_row, region.is_object)
    parts = _parts(region)
    rules = [
        Rule(bar.x0, bar.x1, bar.y, frozenset({mark}))
        for mark, bar in enumerate(region.bars, len(region.glyphs))
    ]
    if region.pictures:
        doubts.add("the formula contains a small picture")
    if len(parts) + len(rules) > MOST_MARKS:
        doubts.add("the formula has too many marks to be built")
        return Row(tuple(part.node for part in parts[:MOST_MARKS])), tuple(doubts.texts)
    if not parts:
        return Row(()), tuple(doubts.texts)
    try:
        whole = _build(region, parts, rules, doubts)
    except RecursionError:
        doubts.add("the formula is nested too deeply to be built")
        return Row(tuple(part.node for part in parts)), tuple(doubts.texts)
    expected = all_marks(parts).union(*(rule.marks for rule in rules))
    if whole.marks != expected:
        doubts.add("a mark could not be placed in the formula")
    return whole.node, tuple(doubts.texts)


def _build(
    region: FormulaRegion, parts: Sequence[PlacedPart], rules: Sequence[Rule], doubts: Doubts
) -> PlacedPart:
    rest, free = join_pieces(parts, rules)
    for mark in sorted(mark for part in rest if part.kind == "unknown" for mark in part.marks):
        font = region.glyphs[mark].font or "without a name"
        doubts.add(f"a glyph of font {font} is unknown")
    rest, joined = join_signs(join_overlays(rest), free)
    rest = place_accents(rest, doubts)
    rest = reduce_rules(rest, joined, doubts)
    whole = build_row(rest, doubts)
    if ends_open(whole.node):
        doubts.add("the formula ends with a sign that needs something after it")
    for doubt in find_constructs(whole.node):
        doubts.add(doubt)
    if not are_balanced(whole.node):
        doubts.add("a bracket is unmatched")
    return whole


def _parts(region: FormulaRegion) -> list[PlacedPart]:
    glyphs = [part_of_glyph(glyph, mark) for mark, glyph in enumerate(region.glyphs)]
    roots = [
        PlacedPart(
            node=Sign("\\sqrt", "root"),
            box=root.box,
            y=root.box.y1,
            size=root.box.height,
            kind="root",
            marks=frozenset({mark}),
            axis=root.box.centre[1],
        )
        for mark, root in enumerate(region.roots, len(region.glyphs) + len(region.bars))
    ]
    return [part for part in [*glyphs, *roots] if part.kind != "space"]


# Insertion of formulas into the lines of a text layer, in place of their characters.

_CLOSING = frozenset(".,;:!?)]”’»。，；：、）")
"""Punctuation that ends a sentence or a bracket of prose."""
Place = tuple[int, int]
"""Run of a character and its position in it."""


@dataclass(frozen=True, slots=True)
class PlacedFormula:
    """Formula, its characters, and the position of its row."""

    formula: Formula
    characters: frozenset[Place]
    baseline: float
    size: float

    @property
    def box(self) -> Box:
        return self.formula.region.box


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


# Formulas of a page, each with its characters in the text layer.

MAX_LINES = 2_500
"""Maximum number of lines of a page that is searched: a page of a paper has fewer than 200."""
CROWD_SIDE = 24.0
"""Side of a square in which characters are counted, in points."""
MAX_CROWD = 300
"""Maximum number of characters in such a square. Type of 4 points has about 80."""


def exceeds_limits(runs: Sequence[TextRun]) -> bool:
    """Return whether a page has too many characters or lines to be searched.

    Characters are also counted in each square of the page: the time to read those that overlap
    grows with the square of their number.
    """
    count = sum(len(run.characters) for run in runs)
    if count > MAX_CHARACTERS or len(runs) > MAX_LINES:
        return True
    if count <= MAX_CROWD:
        return False
    crowds = Counter(
        (int(c.x // CROWD_SIDE), int(c.y // CROWD_SIDE)) for run in runs for c in run.characters
    )
    return max(crowds.values()) > MAX_CROWD


class PageFormulas(NamedTuple):
    """Formulas of a page from top to bottom, and unread mathematics.

    `rest` is mathematics in the text of a line, `vanished` the symbols that the text layer lacks,
    `is_partial` whether the page is too large for a complete search.
    """

    formulas: list[PlacedFormula]
    rest: list[Leftover]
    vanished: list[Leftover]
    is_partial: bool


def read_formulas(
    page: pymupdf.Page,
    runs: Sequence[TextRun],
    painted: Sequence[PaintedGlyph] = (),
    drawings: Sequence[dict[str, Any]] | None = None,
    frames: Sequence[Box] | None = None,
) -> PageFormulas:
    """Read the formulas of a page.

    Args:
        page: Page with its rotation removed.
        runs: Text layer from `read_characters`.
        painted: Painted glyphs from `read_characters`.
        drawings: Paths of the page from `get_drawings` or `get_cdrawings`; by default read from the
            page.
        frames: Frames of embedded objects from `find_frames`; by default read from the page.

    Returns:
        The formulas; no character is in two of them.
    """
    if exceeds_limits(runs):
        return PageFormulas([], [], [], is_partial=True)
    if drawings is None:
        drawings = page.get_cdrawings()
    if painted and all(run.is_prose for run in runs):
        painted = find_vanished(painted, runs)
    if not painted and all(run.is_prose for run in runs):
        return PageFormulas([], [], [], is_partial=len(drawings) > MAX_DRAWINGS)
    marks, origins = gather_marks(page, runs, drawings, page.get_image_info(), frames)
    places = {id(glyph): place for glyph, place in zip(marks.glyphs, origins, strict=True)}
    regions = place_regions(marks)
    doubts = find_doubts(regions, marks, find_vanished(painted, runs))
    formulas = [
        PlacedFormula(
            read_formula(place.region, more),
            frozenset(places[id(glyph)] for line in place.region.lines for glyph in line.glyphs),
            place.baseline,
            place.size,
        )
        for place, more in zip(regions, doubts.formulas, strict=True)
    ]
    is_partial = len(drawings) > MAX_DRAWINGS or len(marks.bars) > MAX_BARS
    return PageFormulas(formulas, doubts.rest, doubts.vanished, is_partial)
