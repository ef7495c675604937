"""Marks of a page that formulas are read from: glyphs, rules, stretched signs, arrows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from glyphtex.boxes import Box
from glyphtex.drawings import (
    WIDEST,
    find_bars,
    find_frames,
    find_pictures,
    find_roots,
)
from glyphtex.font_programs import EmbeddedFonts
from glyphtex.marks import Glyph, GlyphSymbol, PageMarks
from glyphtex.painted_glyphs import SEQUENCE
from glyphtex.symbols import identify, is_tex
from glyphtex.text_layer import Character, TextRun

if TYPE_CHECKING:
    import pymupdf


# Arrows over letters, which MathJax sets as ordinary arrows rather than accents.

_ARROW = "→"
_VECTOR = GlyphSymbol("\\vec", "accent")
_MOST = 500
"""Maximum number of arrows of a page that are compared with its letters."""
_WIDEST = 1.3
"""Maximum width of an arrow over one letter, in type sizes."""
_GAP = 0.35
"""Maximum gap between a letter and the arrow over it, in type sizes."""
_SAME_LINE = 0.05
"""Maximum difference between two baselines that are the same, in points."""
_BESIDE = 0.35
"""Maximum gap between an arrow of a row and the symbol before it, in type sizes."""
_OFF_CENTRE = 0.45
"""Maximum offset between the middles of the arrow and its letter, in type sizes."""


def find_vectors(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...]:
    """Return the glyphs, with arrows over a letter as accents.

    Args:
        glyphs: All glyphs of a page. With more than 500 arrows, they are returned unchanged.
    """
    if not 0 < sum(glyph.text == _ARROW for glyph in glyphs) <= _MOST:
        return tuple(glyphs)
    letters = [g for g in glyphs if g.symbol.kind == "letter"]
    dashes = [g for g in glyphs if g.symbol.latex == "-"]

    def is_vector(arrow: Glyph) -> bool:
        box, size = arrow.box, arrow.size
        return (
            any(_is_over(arrow, letter) for letter in letters)
            # A dash would lengthen it: then it is over several letters.
            and not any(
                abs(arrow.y - dash.y) < 0.05 * size
                and box.gap_x(dash.box) < 0
                and dash.box.x0 < box.x0
                for dash in dashes
            )
            # It would be between two symbols, as in the limit `n → ∞`.
            and not any(
                abs(arrow.y - other.y) < _SAME_LINE
                and other.text != _ARROW
                and -0.05 * size < box.x0 - other.box.x1 < _BESIDE * size
                for other in glyphs
            )
        )

    return tuple(
        replace(g, symbol=_VECTOR) if g.text == _ARROW and is_vector(g) else g for g in glyphs
    )


def _is_over(arrow: Glyph, letter: Glyph) -> bool:
    size = letter.size
    gap = letter.box.y0 - arrow.box.y1
    return (
        -0.1 * size < gap < _GAP * size
        and arrow.box.width < _WIDEST * size
        and abs(arrow.box.centre[0] - letter.box.centre[0]) < _OFF_CENTRE * size
    )


# Signs of LibreOffice's OpenSymbol: stretched ones, and accents without a width.

_FONT: Final = "OpenSymbol"
_STRETCHED: Final = frozenset({"large", "open", "close", "root", "piece", "accent"})
_SPACING_ACCENTS: Final = {
    "~": GlyphSymbol(r"\tilde", "accent"),
    "^": GlyphSymbol(r"\hat", "accent"),
}  # fmt: skip
"""Signs that are accents over a letter."""
_NEIGHBOURS: Final = 4
"""Number of letters and digits painted before and after a sign that give its type size."""
_MOST_LIMITS: Final = 16
"""The same for a sum, whose limits are painted next to it."""
_STARTS: Final = 0.35
"""Maximum distance between the left edges of an accent and its letter, in type sizes."""
_HIGHEST: Final = 3.0
"""Maximum height of an accent's box over its letter, in type sizes: long arrows have large type."""
_ACCENT: Final = (0.25, 0.05)
"""Top and bottom of an accent above its letter, in type sizes."""
_LARGE: Final = 1.3
"""Height of a sum or an integral, in type sizes of its row."""


def correct_signs(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...]:
    """Give signs of OpenSymbol their visible size and position.

    LibreOffice sets a bracket 15 points high in type of 9.7, and a sum next to letters of 12 points
    in type of 17.5: with these sizes the letters or the bracket would be scripts. Each sign gets
    the size of the adjacent letters. An arrow over a letter has no width and is painted before its
    letter; a tilde over one is the sign `~`.

    Args:
        glyphs: Glyphs of a page; boxes of stretched signs are unchanged.
    """
    if not any(_FONT in glyph.font for glyph in glyphs):
        return tuple(glyphs)
    corrected = list(glyphs)
    places = sorted(range(len(glyphs)), key=lambda place: glyphs[place].serial)
    painted = [glyphs[place] for place in places]
    for number, place in enumerate(places):
        glyph = glyphs[place]
        if _FONT not in glyph.font:
            continue
        if glyph.symbol.kind in _STRETCHED:
            corrected[place] = replace(glyph, size=_find_size(painted, number))
        if number + 1 < len(painted):
            corrected[place] = _place_over(corrected[place], painted[number + 1])
    return tuple(corrected)


def _place_over(sign: Glyph, letter: Glyph) -> Glyph:
    """Return a sign over the letter painted next as an accent of its width."""
    box, size = sign.box, letter.size
    if letter.symbol.kind not in {"letter", "digit"}:
        return sign
    top, from_left = letter.box.y0, letter.box.x0 - box.x0
    is_accent = sign.symbol.kind == "accent" and abs(from_left) < _STARTS * size
    if is_accent and box.y1 < letter.box.y1 and box.y0 > top - _HIGHEST * size:
        x0, x1 = (box if box.width > 0.1 * size else letter.box)[::2]
        placed = Box(x0, top - _ACCENT[0] * size, x1, top - _ACCENT[1] * size)
        return replace(sign, box=placed, size=size)
    is_above = box.y1 < top + 0.15 * size and top - box.y1 < 0.4 * size
    if is_above and -0.15 * size < from_left < 0.3 * size and sign.text in _SPACING_ACCENTS:
        return replace(sign, symbol=_SPACING_ACCENTS[sign.text])
    return sign


def _find_size(glyphs: Sequence[Glyph], place: int) -> float:
    """Return the size of the letters around a sign, or its size if there are none.

    The limits of a sum are smaller letters painted next to it: its height shows its row.
    """
    sign = glyphs[place]
    is_large = sign.symbol.kind == "large"
    most = _MOST_LIMITS if is_large else _NEIGHBOURS
    sizes = [
        other.size
        for other in glyphs[max(0, place - most) : place + most + 1]
        if other.symbol.kind in {"letter", "digit"} and _is_near(other, sign)
    ]
    if is_large and sizes:
        return min(sizes, key=lambda size: abs(sign.box.height - _LARGE * size))
    return max(sizes, default=sign.size)


def _is_near(other: Glyph, glyph: Glyph) -> bool:
    reach = 2 * other.size
    return other.box.gap_x(glyph.box) < reach and other.box.gap_y(glyph.box) < 0.5 * other.size


# Glyphs that a page stretches over itself and clips, as browsers make the middles of brackets.

_SHARE = 0.4
"""Minimum share of the page from which a glyph's box is larger than its visible part."""


def cut_stretched(page: pymupdf.Page, glyphs: Sequence[Glyph]) -> tuple[Glyph | None, ...]:
    """Cut the boxes of stretched glyphs to their visible parts.

    Args:
        page: Page to read.
        glyphs: All its glyphs.

    Returns:
        The glyphs, stretched ones in the type size of the page; None for a glyph that is as large
        as the page, such as a letter of a watermark.
    """
    high, wide = _SHARE * page.rect.height, _SHARE * page.rect.width
    if not any(g.box.height > high or g.box.width > wide for g in glyphs):
        return tuple(glyphs)
    clips = list(_find_clips(page.get_drawings(extended=True)))
    size = median(g.size for g in glyphs)
    cut: list[Glyph | None] = []
    for glyph in glyphs:
        box = glyph.box
        if box.height <= high and box.width <= wide:
            cut.append(glyph)
            continue
        seen = _see(glyph, clips)
        is_small = seen is not None and seen.height <= high and seen.width <= wide
        cut.append(replace(glyph, box=seen, size=size, y=seen.y1) if seen and is_small else None)
    return tuple(cut)


def _see(glyph: Glyph, clips: Sequence[tuple[int, int, Box]]) -> Box | None:
    """Return the smallest clip around the glyph's place in the painting order, cut to its box."""
    number, box = glyph.serial // SEQUENCE, glyph.box
    boxes = (
        Box(max(c.x0, box.x0), max(c.y0, box.y0), min(c.x1, box.x1), min(c.y1, box.y1))
        for first, last, c in clips
        if first <= number <= last
    )
    shown = (seen for seen in boxes if seen.x1 > seen.x0 and seen.y1 > seen.y0)
    return min(shown, key=lambda seen: seen.width * seen.height, default=None)


def _find_clips(drawings: Sequence[dict[str, Any]]) -> Iterator[tuple[int, int, Box]]:
    """Yield each clip with the numbers of the paths painted before and after it."""
    before = 0
    waiting: list[Box] = []
    for drawing in [*drawings, {"type": "end", "seqno": 2**31}]:
        if drawing["type"] == "clip":
            waiting.append(Box(*drawing["scissor"]))
        elif "seqno" in drawing:
            after = drawing["seqno"]
            yield from ((before, after, clip) for clip in waiting)
            before, waiting = after, []


# Symbols of a page's characters, by font, Unicode and glyph name.

_SIGMAS = ("\U0001d70d", "\U0001d70e")
"""Italic final sigma and sigma."""
_SWAPPED = "STIXTwoMath"
"""Font whose names of the two sigmas are exchanged in the sizes of scripts."""
_DESCENDER = 0.1
"""Minimum depth of a final sigma below its baseline, in type sizes; a sigma has .01."""


class Symbols:
    """Cache of the symbols of characters: a page repeats its letters."""

    def __init__(self, page: pymupdf.Page) -> None:
        self._fonts = EmbeddedFonts(page)
        self._symbols: dict[tuple[str, str, int | None], GlyphSymbol] = {}

    def identify(self, character: Character) -> GlyphSymbol:
        """Return the symbol of a character, of kind `unknown` if it cannot be identified."""
        font, text, glyph_id = key = (character.font, character.text, character.glyph_id)
        symbol = self._symbols.get(key)
        if symbol is None:
            name = None
            if glyph_id is not None and (character.code is not None or is_tex(font)):
                name = self._fonts.facts(font, glyph_id).name
            if text in _SIGMAS and font.startswith(_SWAPPED):
                # The final sigma is the one whose ink is below the baseline.
                depth = character.box.y1 - character.y
                text = _SIGMAS[depth < _DESCENDER * character.size]
            symbol = self._symbols[key] = identify(font, text, name=name)
        return symbol


# Marks of a page that formulas can consist of.

MAX_GLYPHS = 20_000
"""Maximum glyphs of a page whose formulas are read. A page of a paper has 1,000 to 4,000."""
MAX_DRAWINGS = 4_000
"""Maximum paths of a page that are examined: maps and scatter plots have more."""

_OVERSIZED = 4.0
"""Minimum size of a letter that is in no formula, as a multiple of the median size of the page: the
lines under it would be its scripts."""


class GatheredMarks(NamedTuple):
    """Marks of a page, and for each of its glyphs the indices of its run and within it."""

    marks: PageMarks
    places: list[tuple[int, int]]


def gather_marks(
    page: pymupdf.Page,
    runs: Sequence[TextRun],
    drawings: Sequence[dict[str, Any]],
    images: Sequence[dict[str, Any]],
    frames: Sequence[Box] | None = None,
) -> GatheredMarks:
    """Return the marks of a page from its runs, drawings, images and frames of objects."""
    symbols = Symbols(page)
    level = list(level_characters(runs))
    cut = cut_stretched(page, [as_glyph(c, symbols.identify(c)) for _, _, c in level])
    seen = [(glyph, (run, k)) for glyph, (run, k, _) in zip(cut, level, strict=True) if glyph]
    usual = median(glyph.size for glyph, _ in seen) if seen else 0.0
    seen = [(glyph, place) for glyph, place in seen if not _is_oversized(glyph, usual)]
    bounded = drawings[:MAX_DRAWINGS]
    marks = PageMarks(
        width=page.rect.width,
        height=page.rect.height,
        glyphs=correct_signs(find_vectors([glyph for glyph, _ in seen])),
        bars=tuple(find_bars(bounded)),
        roots=tuple(find_roots(bounded)),
        pictures=tuple(find_pictures(images)),
        frames=tuple(find_frames(page) if frames is None else frames),
    )
    return GatheredMarks(marks, [place for _, place in seen])


def _is_oversized(glyph: Glyph, usual: float) -> bool:
    """Return whether a letter is too large for a formula, such as one of a watermark."""
    return glyph.symbol.kind in ("letter", "digit") and glyph.size > _OVERSIZED * usual


def find_marks(drawings: Sequence[dict[str, Any]], width: float) -> list[Box]:
    """Return the boxes of drawings that can be part of a formula.

    Args:
        drawings: Paths of the page from `get_drawings` or `get_cdrawings`.
        width: Width of the page in points.
    """
    bounded = drawings[:MAX_DRAWINGS]
    bars = [bar for bar in find_bars(bounded) if bar.x1 - bar.x0 < WIDEST * width]
    return [
        *(bar.box for bar in bars),
        *(root.box for root in find_roots(bounded)),
    ]


def level_characters(runs: Sequence[TextRun]) -> Iterator[tuple[int, int, Character]]:
    """Yield every character that is a mark, with the indices of its run and within it."""
    count = 0
    for place, run in enumerate(runs):
        if run.is_prose or not is_level(run):
            continue
        for k, character in enumerate(run.characters):
            if character.synthetic or (character.code is None and character.text.isspace()):
                continue
            if count == MAX_GLYPHS:
                return
            count += 1
            yield place, k, character


def is_level(run: TextRun) -> bool:
    """Return whether a line of the text layer runs from left to right."""
    return bool(abs(run.raw["dir"][1]) < 0.05 and run.raw["dir"][0] > 0)


def as_glyph(character: Character, symbol: GlyphSymbol) -> Glyph:
    """Return a character as a mark."""
    return Glyph(
        character.serial,
        character.text,
        symbol,
        character.font,
        character.size,
        character.x,
        character.y,
        character.box,
        character.italic,
        character.bold,
    )
