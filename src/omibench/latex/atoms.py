"""Atoms: the elements of a row of a formula, and how a row is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from omibench.latex.synonyms import COMMANDS_OF_FONTS

NEW_ROW: Final = r"\\"
NEW_CELL: Final = "&"
PRIME: Final = "'"


class Atom(NamedTuple):
    """A sign, or a part used like one, with its scripts in the normal form."""

    text: str
    """`x`, `\\alpha`, `\\frac{a}{b}`; `{}` if scripts have no base."""
    font: str = ""
    """Key of `COMMANDS_OF_FONTS`, or empty for the default font of mathematics."""
    sub: str = ""
    sup: str = ""

    @property
    def has_scripts(self) -> bool:
        """Whether it has a subscript or a superscript."""
        return bool(self.sub or self.sup)


def write_row(atoms: Sequence[Atom]) -> str:
    """Write atoms side by side; neighbours of one font share its command."""
    pieces: list[str] = []
    run: list[str] = []
    for place, atom in enumerate(atoms):
        run.append(atom.text)
        following = atoms[place + 1] if place + 1 < len(atoms) else None
        if atom.font and not atom.has_scripts and following and following.font == atom.font:
            continue
        text = join_pieces(run)
        pieces.append(f"{COMMANDS_OF_FONTS[atom.font]}{{{text}}}" if atom.font else text)
        pieces.append(f"_{{{atom.sub}}}" if atom.sub else "")
        pieces.append(f"^{{{atom.sup}}}" if atom.sup else "")
        run = []
    return join_pieces(pieces)


def join_pieces(pieces: Iterable[str]) -> str:
    """Join pieces of LaTeX, with a space if a command would absorb the following letter."""
    text = ""
    in_command = False
    for piece in pieces:
        if not piece:
            continue
        text += f" {piece}" if in_command and _is_letter(piece[0]) else piece
        in_command = _ends_in_command(piece)
    return text


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _ends_in_command(piece: str) -> bool:
    letters = 0
    while letters < len(piece) and _is_letter(piece[-1 - letters]):
        letters += 1
    return (
        0 < letters < len(piece)
        and piece[-1 - letters] == "\\"
        and piece[-2 - letters :] != NEW_ROW
    )
