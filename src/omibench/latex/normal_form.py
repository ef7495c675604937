"""Normal form of a formula: spacing, redundant braces and synonyms are removed, nothing else.

`answers.formulas.latex.tidy` goes further to make answers of a model comparable: it equates `⇒`
with `→` and `∼` with `≈`. Here such signs remain distinct, as do letters of different fonts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from omibench.latex.atoms import write_row
from omibench.latex.parser import LatexParser
from omibench.latex.tokens import unify_characters

MAX_CHARS: Final = 10_000
MAX_DEPTH: Final = 40
_DELIMITERS: Final = (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)"))
_ESCAPED: Final = re.compile(r"\\.", re.DOTALL)


@lru_cache(maxsize=8192)
def normalise(latex: str) -> str:
    r"""Bring a formula to its normal form.

    `\dfrac12 \le x^2` and `\frac{1}{2}\leq x^{2}` become the same text. Sizes of brackets, the
    position of limits and the width of accents count as spacing. Names of functions become
    upright letters, and so do the substances of `\ce{...}`. Differences in a sign, digit, index,
    letter, font or nesting remain.

    Args:
        latex: LaTeX, with or without its delimiters.

    Returns:
        LaTeX that prints the same. In a formula of more than 10,000 characters, or with braces
        more than 40 deep, only spaces are normalised.
    """
    source = unify_characters(_strip_delimiters(latex.strip()))
    if len(source) > MAX_CHARS or _find_depth(source) > MAX_DEPTH:
        return " ".join(source.split())
    return write_row(LatexParser(source).read_formula())


def _strip_delimiters(latex: str) -> str:
    for opening, closing in _DELIMITERS:
        inner = latex[len(opening) : -len(closing)]
        whole = latex.startswith(opening) and latex.endswith(closing)
        if whole and len(latex) >= len(opening) + len(closing) and closing not in inner:
            return inner
    return latex


def _find_depth(latex: str) -> int:
    """Return the maximum nesting of braces, environments and arguments without braces."""
    depth = deepest = 0
    for token in re.findall(r"[{}]|\\begin|\\end", _ESCAPED.sub(_keep_command, latex)):
        depth += 1 if token in {"{", r"\begin"} else -1
        deepest = max(deepest, depth)
    return deepest


def _keep_command(match: re.Match[str]) -> str:
    return match.group() if match.group()[1].isalpha() else ""
