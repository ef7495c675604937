"""Atoms: the elements of a row of a formula, and how a row is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from glyphtex import lazy_re as re
from glyphtex.latex.signs import (
    ARROWS_WITH_TEXT,
    COMMANDS_OF_FONTS,
    DELIMITED,
    FUNCTIONS,
    MATRICES,
    NEGATIONS,
    list_words,
)

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


# Atoms of commands with arguments and of environments.

_LIMITS: Final = list_words(
    r"\sum \prod \coprod \int \iint \iiint \oint \bigcup \bigcap \bigoplus \bigotimes \bigvee"
    r" \bigwedge \bigsqcup \biguplus"
)
_GREEK: Final = re.compile(
    r"\\(?:var)?(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho"
    r"|sigma|tau|upsilon|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi"
    r"|Omega|nabla)"
)


def make_atom(text: str, font: str) -> Atom:
    """Return a sign in a font, without the font if it makes no difference."""
    letter = len(text) == 1 and text.isalpha()
    digit = len(text) == 1 and text.isdigit() and font in {"bf", "bb"}
    greek = font == "bf" and _GREEK.fullmatch(text) is not None
    return Atom(text, font if letter or digit or greek else "")


def build_command(name: str, options: list[str], arguments: list[list[Atom]]) -> list[Atom]:
    """Return the atoms of a command with arguments.

    Args:
        name: Name after replacing synonyms.
        options: Text in square brackets.
        arguments: All arguments of the command.
    """
    texts = [write_row(argument) for argument in arguments]
    if name in {r"\tag", r"\color"}:
        return []
    if name in {r"\textcolor", r"\sfrac", r"\pmod", r"\bmod", r"\not", r"\prescript"}:
        return _splice_command(name, arguments)
    if name in ARROWS_WITH_TEXT:
        arrow = ARROWS_WITH_TEXT[name]
        arrow = f"\\overset{{{texts[0]}}}{{{arrow}}}" if texts[0] else arrow
        below = options[0] if options else ""
        return [Atom(f"\\underset{{{below}}}{{{arrow}}}" if below else arrow)]
    if name in {r"\underset", r"\overset"} and _takes_limits(arguments[1]):
        script = {"sub": texts[0]} if name == r"\underset" else {"sup": texts[0]}
        return [*arguments[1][:-1], arguments[1][-1]._replace(**script)]
    if name == r"\fbox":
        name = r"\boxed"
    index = f"[{options[0]}]" if options and options[0] else ""
    return [Atom(f"{name}{index}{''.join(f'{{{text}}}' for text in texts)}")]


def _splice_command(name: str, arguments: list[list[Atom]]) -> list[Atom]:
    """Return a command that prints its arguments in a row, with its own signs."""
    modulo = [Atom(letter, "rm") for letter in "mod"]
    if name == r"\pmod":
        return [Atom("("), *modulo, *arguments[0], Atom(")")]
    if name == r"\bmod":
        return modulo
    if name == r"\prescript":
        sup, sub, base = arguments
        return [Atom("{}", "", write_row(sub), write_row(sup)), *base]
    if name == r"\not":
        return _negate(arguments[0])
    slashed = [*arguments[0], Atom("/"), *arguments[1]]
    return slashed if name == r"\sfrac" else arguments[1]


def _negate(atoms: list[Atom]) -> list[Atom]:
    """Return a negated relation."""
    if not atoms:
        return []
    text = atoms[0].text
    return [atoms[0]._replace(text=NEGATIONS.get(text) or f"\\not{text}"), *atoms[1:]]


def _takes_limits(atoms: list[Atom]) -> bool:
    """Return whether text above or below is a limit: at a sum, or at a function such as `lim`."""
    if not atoms or any(atom.has_scripts for atom in atoms):
        return False
    name = "".join(atom.text for atom in atoms)
    return name in _LIMITS or (name in FUNCTIONS and all(atom.font == "rm" for atom in atoms))


def build_rows(name: str, rows: list[list[list[Atom]]]) -> list[Atom]:
    """Return the atoms of an environment.

    Args:
        name: Name without a star. Any environment except a matrix is rows whose cells are side
            by side.
        rows: Cells of each row.
    """
    if name not in MATRICES:
        atoms: list[Atom] = []
        for number, row in enumerate(rows):
            atoms += [Atom(NEW_ROW)] if number else []
            atoms += [atom for cell in row for atom in cell]
        return atoms
    cells = NEW_ROW.join("&".join(write_row(cell) for cell in row) for row in rows)
    opening, closing = DELIMITED.get(name, ("", ""))
    matrix = Atom(f"\\begin{{matrix}}{cells}\\end{{matrix}}")
    return [atom for atom in (Atom(opening), matrix, Atom(closing)) if atom.text]
