"""One spelling of a formula: spacing, redundant braces and synonyms removed, and nothing else.

`answers.formulas.latex.tidy` goes further: it makes the answers of a model comparable and takes
`⇒` for `→` or `∼` for `≈`. Here such signs stay apart, as do letters of different fonts.
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
    r"""Bring a formula to one spelling.

    `\dfrac12 \le x^2` and `\frac{1}{2}\leq x^{2}` become the same text. Sizes of brackets, limits
    beside or above, and the width of accents count as spacing; names of functions are upright
    letters, and so are the substances of `\ce{...}`. A difference in a sign, digit, index, letter,
    font or in the nesting remains.

    Args:
        latex: With or without its delimiters.

    Returns:
        LaTeX that prints the same. A formula of more than 10,000 characters, or with braces more
        than 40 deep, comes back with its spaces unified only.
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
    """How many braces or environments are open at once, at most; arguments without braces too."""
    depth = deepest = 0
    for token in re.findall(r"[{}]|\\begin|\\end", _ESCAPED.sub(_keep_command, latex)):
        depth += 1 if token in {"{", r"\begin"} else -1
        deepest = max(deepest, depth)
    return deepest


def _keep_command(match: re.Match[str]) -> str:
    return match.group() if match.group()[1].isalpha() else ""
