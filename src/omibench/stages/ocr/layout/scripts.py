"""Text of spans with sub- and superscripts as `v_{0}`, `10^{-3}`, in plain letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omibench.stages.ocr.formulas.marks import Formula

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
