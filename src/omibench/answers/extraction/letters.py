"""Option letters in a short text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from omibench.answers.extraction.label_patterns import positional
from omibench.answers.extraction.wrappers import unwrap
from omibench.answers.formulas.latex import same_text
from omibench.schemas.problem import Choice

_DEFAULT = "ABCDEFGHIJ"
_OPENS = re.compile(r"\\(?:text|textbf|mathrm|mathbf|rm|bf|mathit|textit)\s*\{|[{}]")
_DRESS = re.compile(r"[*_`$]|\\[()\[\],;:! ]|\\boxed\s*\{|\\quad")
_LEAD = re.compile(
    r"(?:the\s+)?(?:correct\s+)?(?:options?|choices?|answers?)\s*(?=[(\[]?[A-Za-z]\b)", re.I
)
_ONE_SIDED = re.compile(r"[\(\[]?\s*([A-Za-z])\s*[\)\]]")
_SERIAL_COMMA = re.compile(r",(?=\s+(?:and|or)\b)")
_STATEMENT = re.compile(
    r"^\W*the\s+(?:statement|claim|assertion)\s+is\s+(?=\w+\W*$)", re.IGNORECASE
)
_LOOK_ALIKE = str.maketrans("АСΑΒΕ", "ACABE")
"""Cyrillic and Greek capitals of the same shape, except those at a different position of their own
alphabet (В is the third letter of А, Б, В), because their meaning is ambiguous.
"""
_MAX_DRESSED = 4


def list_labels(choices: Sequence[Choice] | None) -> str:
    """Return the labels in order as one string; A to J if the problem has no choices."""
    return "".join(c.label.strip().upper()[:1] for c in choices or []) or _DEFAULT


def read_letters(text: str, choices: Sequence[Choice] | None) -> tuple[str, str] | None:
    """Read a short answer as a set of options: sorted labels and method, or None.

    Forms are tried in this order: a single letter, the text of exactly one option, several
    letters, a letter followed by its text. Lower case is accepted only for a single letter. An
    answer without an option gives None; nothing is guessed.
    """
    labels = list_labels(choices)
    bare = text if text.isascii() and len(text) == 1 else _bare(text)
    if len(bare) == 1 and bare.upper() in labels:
        return bare.upper(), "letter"
    by_text = option_with_text(text, choices)
    if by_text:
        return by_text, "option text"
    letters = _several(bare, labels)
    if letters:
        return letters, "letters"
    return _letter_and_text(bare, labels)


def option_with_text(text: str, choices: Sequence[Choice] | None) -> str | None:
    """Return the label of the only option equivalent to `text`; None for none or several."""
    if not choices or not text.strip():
        return None
    text = _STATEMENT.sub("", text)
    plain = _SERIAL_COMMA.sub("", text)
    matches = [
        c.label.strip().upper()
        for c in choices
        if c.text and same_text(_SERIAL_COMMA.sub("", c.text), plain)
    ]
    if len(matches) != 1:
        from omibench.answers.quantities.quantity import same_quantity

        matches = [
            c.label.strip().upper() for c in choices if c.text and same_quantity(c.text, text)
        ]
    return matches[0] if len(matches) == 1 else None


def _bare(text: str) -> str:
    """Strip decoration from a letter: bold, \\text, dollars, brackets, a final stop."""
    text = unwrap(text, _OPENS)
    text = _DRESS.sub(" ", text).strip(" \n\t.{}\"'")
    text = _LEAD.sub("", " ".join(text.split()), count=1).strip()
    if not text.isascii() and len(text) <= _MAX_DRESSED:  # Ⓑ, 𝐁
        text = unicodedata.normalize("NFKC", text).strip()
        text = text.translate(_LOOK_ALIKE) if len(text) == 1 else text
    bracketed = _ONE_SIDED.fullmatch(text)
    return bracketed.group(1) if bracketed else text


def _several(bare: str, labels: str) -> str | None:
    named = positional(labels)
    if named.several.fullmatch(bare):
        letters = named.alone.findall(bare)
    elif named.run.fullmatch(bare):
        letters = list(bare)
    else:
        return None
    once = set(letters)
    # Also a letter in a word that is not a label, which `alone` ignores: "For, A".
    named_labels = {sign for sign in bare if sign.isupper()} | once
    if len(once) < len(letters) or not named_labels.issubset(labels):
        return None
    return "".join(sorted(once))


def _letter_and_text(bare: str, labels: str) -> tuple[str, str] | None:
    lead = positional(labels).lead.match(bare)
    label = (lead.group(1) or lead.group(2)) if lead else None
    return (label, "letter and text") if label and label in labels else None
