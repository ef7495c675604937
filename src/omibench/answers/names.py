"""Texts that look like formulas but are not: sequences, names of points, compounds, ranges.

A parser would read `CAG` as C times A times G and `1-2-3` as minus four. Their order has
meaning, so they are compared as texts, never as mathematics.
"""

from __future__ import annotations

import re

_RUN = re.compile(r"[A-Za-z](?:\s*[A-Za-z0-9'])*|\d+(?:\s*[A-Za-z]+\s*\d+)+[A-Za-z0-9'\s]*")
_NUMBERS = re.compile(r"\d+(?:\.\d+)?(?:\s*-\s*\d+(?:\.\d+)?)+")
_DASHED = re.compile(r"[A-Za-z]{1,12}(?:\s*-\s*[A-Za-z]{1,12}){2,}|\d{1,2}(?:\s*-\s*\d{1,2}){2,}")
_STRAND = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9']+(?:\s*-\s*[A-Za-z0-9']+)*")
_COMPOUND = re.compile(
    r"(?=.*_\{(?:[2-9]|[1-9]\d+)\})(?=.*[CHNO])"
    r"(?:[()\s=-]|(?:[A-Z][a-z]|[HBCNOFPSKVYIWU])(?:\s*_\{(?!1\})[1-9]\d*\})?)+"
)


def is_name(text: str) -> bool:
    """Return whether a tidied text is a run of letters and digits, or names and numbers with
    dashes.

    A number before letters is a factor (2ab); a digit after a letter belongs to a name (H2O).
    """
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    if _RUN.fullmatch(text) or is_dashed(text) or _COMPOUND.fullmatch(text):
        return True
    long_or_primed = re.search(r"[A-Z]{3}|\d'", text)
    return bool(long_or_primed and _STRAND.fullmatch(text))


def is_numbered(text: str) -> bool:
    """Return whether a text is a name with digits (H2O) or numbers joined by dashes."""
    text = text.strip()
    named = _RUN.fullmatch(text) and re.search(r"[A-Za-z]\d", text)
    return bool(named or _NUMBERS.fullmatch(text))


def is_dashed(text: str) -> bool:
    """Return whether a text is three or more short names or small integers: A-C-B, 1-3-2."""
    return _DASHED.fullmatch(text.strip()) is not None
