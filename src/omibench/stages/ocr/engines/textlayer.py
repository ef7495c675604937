"""The text layer of a PDF by line, with formulas as LaTeX: `$v_{0}$`, `$10^{-3}$`."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from glyphtex.formula_doubts import Leftover
from glyphtex.marks import Box, Formula, unite
from glyphtex.pages import PlacedFormula, pause_collection, read_text_layer
from glyphtex.text_layer import Character, TextRun
from omibench.stages.ocr.corrections.entry import describe_box
from omibench.stages.ocr.engines.inserted_formulas import Fragment, insert_formulas, split_items
from omibench.stages.ocr.layout.coverage import UnreadInk
from omibench.stages.ocr.layout.layout import Line

if TYPE_CHECKING:
    import pymupdf


# Text of spans with sub- and superscripts as `v_{0}`, `10^{-3}`, in plain letters.

# Mathematical alphabets and ligatures are converted to plain letters; other compatibility forms (²
# ½ （) have a meaning and are kept.
_PLAIN = re.compile("[\U0001d400-\U0001d7ff\ufb00-\ufb06\u210e\u2126\u212b]")
SMALLER = 0.82


@dataclass(frozen=True, slots=True)
class Span:
    text: str
    size: float
    bold: bool
    raised: bool
    x0: float
    x1: float
    y: float
    formula: Formula | None = None
    """The text the span represents; its own text is then one unused character."""


def plain(text: str) -> str:
    """Convert mathematical alphabets and ligatures to plain letters, and unify spaces."""
    text = _PLAIN.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    text = text.replace("\u200b", "")
    return re.sub(r"[\s\x00-\x1f]+", " ", text)


def with_scripts(spans: Sequence[Span], size: float) -> str:
    """Return the text of spans on one baseline; `size` is the type size of the line, in points."""
    parts: list[str] = []
    level = next((s.y for s in spans if s.size > SMALLER * size and s.text.strip()), 0.0)
    run, mark = "", ""
    end = None
    for span in spans:
        kind = _script(span, size, level)
        spaced = end is not None and span.x0 - end > 0.2 * size
        end = span.x1
        if kind != mark or (spaced and mark):
            parts.append(_wrap(run, mark))
            run, mark = "", kind
        if spaced and not mark:
            run += " "
        run += span.text
        if not kind and span.text.strip():
            level = span.y
    parts.append(_wrap(run, mark))
    return tidy("".join(parts))


def tidy(text: str) -> str:
    """Convert degrees and primes to characters, and even out space around relations."""
    text = re.sub(r"\^\{([°◦∘])\}", "°", text)
    text = re.sub(r"\^\{([′'″]+)\}", r"\1", text)
    text = re.sub(r"(?<=[\w)\]}′°|])\s*([=≤≥≈≠≪≫<>])\s*(?=[\w(\[{√|+\-−])", r" \1 ", text)
    text = re.sub(r"(?<=[\w)\]}°])\s*−\s*(?=[\w(\[{√])", " - ", text).replace("−", "-")
    text = re.sub(r"(?<=[\w)\]}])\s*\+\s+(?=\d|\w\b)", " + ", text)
    return re.sub(r" +", " ", text).replace(" _{", "_{").replace(" ^{", "^{")


def _script(span: Span, size: float, level: float) -> str:
    """Return `^`, `_` or nothing for a span next to text of `size` whose baseline is at `level`."""
    if span.size > SMALLER * size or not span.text.strip():
        return ""
    offset = (span.y - level) / size
    if offset > 0.06:
        return "_"
    return "^" if offset < -0.12 or span.raised else ""


def _wrap(run: str, mark: str) -> str:
    if not mark or not run.strip():
        return run
    tail = " " if run.endswith(" ") else ""
    return f"{mark}{{{run.strip()}}}{tail}"


# Lines of the text layer.

_FORMULA = "\ufdd0"
"""The placeholder of a formula in a line, a character that never occurs in text."""
_ITALIC_GAP = 0.3
_WORD_GAP = 0.8
_INK = 0.5
"""Points: a glyph that is lower or narrower has no ink, as a space has none."""
_MOST_NAMED = 12
"""The maximum number of symbols that a warning lists."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run of spans on one baseline, with the box of their type."""

    spans: list[Span]
    box: Box
    upright: bool


class LayerReading(NamedTuple):
    """The lines of a text layer, and the glyphs that it lacks or has as spaces.

    `exceeds_limits` if the page has too much to search it for formulas. `words` are boxes of
    neighbouring characters; lines of prose have none.
    """

    lines: list[Line]
    exceeds_limits: bool
    unread: Sequence[UnreadInk] = ()
    words: Sequence[Box] = ()


def read_lines(page: pymupdf.Page, number: int) -> list[Line]:
    """Return every line of the text layer, with pieces of one baseline joined, in no particular
    order.

    Formulas are LaTeX between dollar signs in the text of their line.
    """
    return read_layer(page, number).lines


@pause_collection()
def read_layer(page: pymupdf.Page, number: int) -> LayerReading:
    """Return the lines of the text layer, and whether the page has too much text for formulas."""
    runs, reading = read_text_layer(page)
    fragments = insert_formulas(runs, reading.formulas)
    pieces = [_piece(fragment) for fragment in fragments]
    upright = [piece for piece in pieces if piece.upright]
    lines = [_line(number, group) for group in _join_beside_formulas(_baselines(upright))]
    lines += [_line(number, [piece]) for piece in pieces if not piece.upright]
    lines = _widen_after_breaks([line for line in lines if line.text])
    return LayerReading(
        _mark_suspects(lines, reading.rest),
        reading.is_partial,
        [
            *(UnreadInk(ink.box, f"the glyph {ink.text}") for ink in reading.vanished),
            *_blanks(runs),
        ],
        [box for run in runs if not run.is_prose for box in _list_words(run)],
    )


def _list_words(run: TextRun) -> list[Box]:
    """The boxes of the characters of a line between its spaces."""
    words: list[Box] = []
    is_open = False
    for character in run.characters:
        if character.text.isspace():
            is_open = False
        elif is_open and words[-1].touches(character.box):
            words[-1] = words[-1].union(character.box)
        else:
            words.append(character.box)
            is_open = True
    return words


def _blanks(runs: Sequence[TextRun]) -> list[UnreadInk]:
    """The characters that the text layer has as spaces although they have ink."""
    found: list[UnreadInk] = []
    for run in runs:
        boxes = [c.box for c in run.characters if c.text.isspace() and _has_ink(c)]
        if boxes:
            what = f"{len(boxes)} glyphs that the font calls spaces"
            found.append(UnreadInk(unite(boxes), what))
    return found


def _has_ink(character: Character) -> bool:
    return not character.synthetic and min(character.box.width, character.box.height) > _INK


def _mark_suspects(lines: list[Line], leftovers: Sequence[Leftover]) -> list[Line]:
    """The lines, of which those with mathematics outside of formulas say so."""
    if not leftovers:
        return lines
    marked = []
    for line in lines:
        inside = [leftover for leftover in leftovers if line.box.holds(leftover.box)]
        if inside:
            box = unite(leftover.box for leftover in inside)
            text = " ".join(leftover.text for leftover in inside[:_MOST_NAMED])
            reason = f"{describe_box(line.page, box)}: mathematics in no formula: {text}"
            marked.append(replace(line, math_suspect=True, reasons=(*line.reasons, reason)))
        else:
            marked.append(line)
    return marked


def _piece(fragment: Fragment) -> _Piece:
    raw: Any = fragment.raw
    if fragment.is_prose:
        return _Piece(
            [_span(s, s["text"]) for s in raw["spans"]], Box(*raw["bbox"]), fragment.upright
        )
    if raw is not None and fragment.is_whole and _is_as_listed(raw, fragment.items):
        spans = [_span(span, text) for span, text in _raw_spans(raw, fragment.items)]
        return _Piece(spans, Box(*raw["bbox"]), fragment.upright)
    spans, boxes = [], []
    for part in split_items(fragment.items):
        if isinstance(part, PlacedFormula):
            spans.append(_formula_span(part))
            boxes.append(_formula_box(part))
        else:
            spans.append(_text_span(part))
            boxes.append(_text_box(part, raw))
    box = unite(boxes) if boxes else Box(*raw["bbox"])
    return _Piece(spans, box, fragment.upright)


def _is_as_listed(raw: Any, items: Sequence[object]) -> bool:
    """Return whether no accent has moved into a line or out of it."""
    return sum(len(span["chars"]) for span in raw["spans"]) == len(items)


def _raw_spans(raw: Any, items: Sequence[object]) -> list[tuple[dict[str, Any], str]]:
    texts = iter(item.text for item in items if isinstance(item, Character))
    return [(span, "".join(next(texts) for _ in span["chars"])) for span in raw["spans"]]


def _span(span: dict[str, Any], text: str) -> Span:
    y = span["origin"][1]
    if text.strip() == "√" and "CMSY" in span["font"]:
        y += 0.96 * span["size"]  # The root signs of TeX hang below their origin.
    return Span(
        text=plain(text.replace(_FORMULA, "\ufffd")),
        size=span["size"],
        bold=bool(span["flags"] & 16) or "bold" in span["font"].lower(),
        raised=bool(span["flags"] & 1),
        x0=span["bbox"][0],
        x1=span["bbox"][2],
        y=y,
    )


def _text_span(characters: Sequence[Character]) -> Span:
    first = characters[0]
    return Span(
        text=plain("".join(c.text for c in characters).replace(_FORMULA, "\ufffd")),
        size=first.size,
        bold=first.bold or "bold" in first.font.lower(),
        raised=False,
        x0=first.x,
        x1=max(c.box.x1 for c in characters),
        y=first.y,
    )


def _formula_span(placed: PlacedFormula) -> Span:
    return Span(
        text=_FORMULA,
        size=placed.size,
        bold=False,
        raised=False,
        x0=placed.box.x0,
        x1=placed.box.x1,
        y=placed.baseline,
        formula=placed.formula,
    )


def _text_box(characters: Sequence[Character], raw: Any) -> Box:
    x0, x1 = min(c.box.x0 for c in characters), max(c.box.x1 for c in characters)
    return Box(x0, raw["bbox"][1], x1, raw["bbox"][3])


def _formula_box(placed: PlacedFormula) -> Box:
    """Return the box of a formula and of the type of its row, as in text."""
    box, size = placed.box, placed.size
    return box.union(
        Box(box.x0, placed.baseline - 0.8 * size, box.x1, placed.baseline + 0.2 * size)
    )


def _baselines(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """Group pieces that continue each other on one baseline without a gap."""
    groups: list[list[_Piece]] = []
    for piece in pieces:
        last = groups[-1][-1] if groups else None
        if last and _continues(last, piece):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _join_beside_formulas(groups: list[list[_Piece]]) -> list[list[_Piece]]:
    """Join the parts left and right of a formula, wherever they are in the text layer."""
    joined = list(groups)
    for group in groups:
        if not any(span.formula for piece in group for span in piece.spans):
            continue
        place = next((k for k, other in enumerate(joined) if other is group), None)
        if place is None:
            continue
        whole = group
        after = next((g for g in joined if g is not group and _continues(group[-1], g[0])), None)
        if after:
            whole = group + after
        before = next(
            (g for g in joined if g not in (group, after) and _continues(g[-1], group[0])), None
        )
        if before:
            whole = before + whole
        joined[place] = whole
        joined = [g for g in joined if g is not after and g is not before]
    return joined


def _continues(left: _Piece, right: _Piece) -> bool:
    a, b = left.spans, right.spans
    if not a or not b:
        return False
    size = max(a[-1].size, b[0].size)
    gap = right.box.x0 - left.box.x1
    if not -_ITALIC_GAP * size < gap < _WORD_GAP * size:
        return False
    return any(abs(s.y - t.y) < 0.25 * size for s in a for t in b)


def _line(page: int, pieces: Sequence[_Piece]) -> Line:
    spans = [span for piece in pieces for span in piece.spans if span.text]
    box = unite(piece.box for piece in pieces)
    sizes: Counter[float] = Counter()
    for span in spans:
        sizes[round(span.size, 1)] += len(span.text.strip())
    size = max(sizes, key=lambda s: (sizes[s], s)) if sizes else 0.0
    body = [span for span in spans if span.size > SMALLER * size and span.text.strip()]
    weight = sum(len(s.text.strip()) for s in body if s.bold)
    first = next((s.bold for s in body), False)
    upright = pieces[0].upright
    text = with_scripts(spans, size) if upright else tidy("".join(s.text for s in spans))
    formulas = tuple(span.formula for span in spans if span.formula)
    return Line(
        page=page,
        box=box,
        text=_write_formulas(text.strip(), formulas),
        size=size,
        bold=first or weight * 2 > sum(len(s.text.strip()) for s in body),
        baseline=body[0].y if body else box.y1,
        upright=upright,
        formulas=formulas,
    )


def _widen_after_breaks(lines: list[Line]) -> list[Line]:
    """Return the lines, those that begin inside a broken formula with the box of all they print.

    The formula is in the text of the line where it begins.
    """
    parts = [box for line in lines for f in line.formulas for box in f.region.boxes[1:]]
    if not parts:
        return lines
    widened = list(lines)
    for box in parts:
        for k, line in enumerate(widened):
            gap = line.box.x0 - box.x1
            is_level = line.upright and box.y0 - 1 < line.baseline < box.y1 + 1
            if is_level and -_ITALIC_GAP * line.size < gap < _WORD_GAP * line.size:
                widened[k] = replace(line, box=line.box.union(box))
                break
    return widened


def _write_formulas(text: str, formulas: Sequence[Formula]) -> str:
    """Return the text of a line with formulas between dollar signs; other dollar signs are
    escaped."""
    if not formulas:
        return text
    parts = text.replace("$", "\\$").split(_FORMULA)
    written = parts[0]
    for formula, part in zip(formulas, parts[1:], strict=True):
        # A digit after a dollar sign makes it an amount of money.
        space = " " if part[:1].isdigit() else ""
        written += f"${formula.latex}${space}{part}"
    return written
