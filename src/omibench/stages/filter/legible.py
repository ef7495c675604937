"""Whether a statement reads as words and numbers, or as what is left of a bad scan."""

from __future__ import annotations

import re

from omibench.latex import replace_formulas

_COMMAND = re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})*")
_SPOILT = re.compile(r"[^\W\d_][@#~¬¦§¤|\\^`¨´¸][^\W\d_]")
"""A sign inside a word that no language writes there."""
_ORDINARY = re.compile(
    r"[\w.,;:!?¿¡()\[\]{}+\-=<>*/%°'\"’‘“”„«»…–—−±×·√∞≤≥≠≈→←|^&$~、。，；：？（）《》]+"
)
_ALONE = re.compile(r"[^\W\d_]")
_SPACED = 6
"""So many single letters in a row are a word that was torn apart, or no words at all."""
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def legible_share(statement: str) -> tuple[float, list[str]]:
    """The share of a statement's words that read as words or numbers, and those that do not.

    Formulas do not count. A statement without words is legible: it is too short, not spoilt.
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
    # Signs of a field (a planet's, a sex's) stand alone or beside a word, not among each other.
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
