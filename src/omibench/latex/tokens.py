"""Tokens of a formula, including Unicode characters that have LaTeX commands."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from omibench.latex.characters import ALIKE, COMMANDS, SUBSCRIPTS, SUPERSCRIPTS

_TOKEN: Final = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_ALPHABETS: Final = {
    "DOUBLE-STRUCK": "bb", "SCRIPT": "cal", "FRAKTUR": "frak", "BLACK-LETTER": "frak",
    "SANS-SERIF": "sf", "MONOSPACE": "tt",
}  # fmt: skip


class LatexToken(NamedTuple):
    """A command, a character or a run of spaces, and its position in the source."""

    text: str
    start: int
    end: int


def split_tokens(latex: str) -> list[LatexToken]:
    """Split a formula into tokens that together cover all of it."""
    return [LatexToken(match.group(), *match.span()) for match in _TOKEN.finditer(latex)]


def unify_characters(latex: str) -> str:
    """Replace characters that look the same by one, so that a minus is a hyphen.

    Args:
        latex: Formula that can contain Unicode characters instead of commands.
    """
    return unicodedata.normalize("NFC", latex).translate(ALIKE)


def read_character(character: str) -> tuple[str, str]:
    """Return the meaning of a character in a formula.

    Args:
        character: A single character.

    Returns:
        Its LaTeX without a font, and its font: `ℝ` is `R` in `bb`, `𝛼` is `\\alpha`.
    """
    if character in COMMANDS:
        return COMMANDS[character], ""
    if character.isascii():
        return character, ""
    name = unicodedata.name(character, "").split()
    plain = unicodedata.normalize("NFKC", character)
    if len(plain) != 1 or plain == character:
        return character, ""
    font = next((_ALPHABETS[word] for word in name if word in _ALPHABETS), "")
    if not font and "MATHEMATICAL" in name and "BOLD" in name:
        font = "bf"
    return COMMANDS.get(plain, plain), font


def read_script(character: str) -> tuple[str, str] | None:
    """Return `^` or `_` and the plain character of a raised or lowered one such as `²`, or None."""
    if character == "°":
        return "^", r"\circ"
    if character in SUPERSCRIPTS:
        return "^", SUPERSCRIPTS[character]
    return ("_", SUBSCRIPTS[character]) if character in SUBSCRIPTS else None
