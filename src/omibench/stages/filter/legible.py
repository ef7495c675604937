"""Legibility of a statement: words and numbers, or the remains of a bad scan."""

from __future__ import annotations

import re

from omibench.latex import replace_formulas

_COMMAND = re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})*")
_SPOILT = re.compile(r"[^\W\d_][@#~¬¦§¤|\\^`¨´¸][^\W\d_]")
"""A sign inside a word that is not used there in any language."""
_ORDINARY = re.compile(
    r"[\w.,;:!?¿¡()\[\]{}+\-=<>*/%°'\"’‘“”„«»…–—−±×·√∞≤≥≠≈→←|^&$~、。，；：？（）《》]+"
)
_ALONE = re.compile(r"[^\W\d_]")
_SPACED = 6
"""This many single letters in a row are a split word, or not words at all."""
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def legible_share(statement: str) -> tuple[float, list[str]]:
    """Return the legible share of a statement's words, and the illegible ones.

    Formulas do not count. A statement without words is legible: it is short, not corrupted.
    """
    words = _COMMAND.sub(" ", replace_formulas(statement, lambda _: " ")).split()
    spoilt = [not _reads(word) for word in words]
    _mark_torn(words, spoilt)
    bad = [word for word, spoils in zip(words, spoilt, strict=True) if spoils]
    return (1 - len(bad) / len(words) if words else 1.0), bad


def _reads(word: str) -> bool:
    if _SPOILT.search(word):
        return False
    odd = len(_ORDINARY.sub("", word))
    # Signs of a field (a planet's, a sex's) are single or next to a word, not in runs.
    return odd <= 1 or 3 * odd <= len(word)


def _mark_torn(words: list[str], spoilt: list[bool]) -> None:
    run: list[int] = []
    for i, word in enumerate([*words, "end"]):
        if len(word) == 1 and _ALONE.match(word) and not _DENSE.match(word):
            run.append(i)
            continue
        if len(run) >= _SPACED:
            for torn in run:
                spoilt[torn] = True
        run = []
