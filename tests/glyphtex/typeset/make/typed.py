"""Formulas typed as text, as in papers written without an editor of formulas.

LibreOffice breaks them at the spaces around their operators, before an operator as well as after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from tests.glyphtex.typeset.make.documents import Printed
from tests.glyphtex.typeset.make.tree import FormulaReader, Node
from tests.glyphtex.typeset.make.typst_text import SIGNS

_SPACED: Final = frozenset(
    {"+", "-", "=", "<", ">", r"\pm", r"\cdot", r"\times", r"\leq", r"\geq", r"\approx", r"\neq",
     r"\equiv", r"\Rightarrow", r"\Leftrightarrow", r"\rightarrow"}
)  # fmt: skip
_PLAIN: Final = frozenset("()[],.0123456789")


class _Run(NamedTuple):
    text: str
    italic: bool = False
    place: str = ""
    """`superscript`, `subscript` or nothing."""


def can_type(latex: str) -> bool:
    """Whether a formula can be typed as text: letters with one script, signs and brackets."""
    try:
        write_typed(latex, (0, 0, 0))
    except ValueError:
        return False
    return True


def write_typed(latex: str, colour: tuple[int, int, int]) -> str:
    """A formula as runs of text in a document of Word.

    Raises:
        ValueError: It has a part in two dimensions.
    """
    parts = list(_list_runs(FormulaReader(latex).read().parts, ""))
    return "".join(_write_run(run, colour) for run in parts)


def type_formulas(formulas: Sequence[Printed], *, colours: bool) -> Callable[[Printed], str]:
    """A writer of these formulas, each in a colour of its own or all in black."""
    from tests.glyphtex.typeset.make.tex import read_colour

    known = {f.id: read_colour(n) if colours else (0, 0, 0) for n, f in enumerate(formulas, 1)}
    return lambda formula: write_typed(formula.latex, known[formula.id])


def _list_runs(nodes: Sequence[Node | None], place: str) -> Iterator[_Run]:
    is_operand = False
    for node in nodes:
        if node is None:
            continue
        if node.kind == "script":
            base, below, above = node.parts
            if place or (below and above):
                raise ValueError("two scripts")
            yield from _list_runs((base,), "")
            yield from _list_runs((below or above,), "subscript" if below else "superscript")
        elif node.kind == "row":
            yield from _list_runs(node.parts, place)
        elif node.kind == "text":
            yield _Run(
                f"{node.text} " if len(node.text) > 2 and not place else node.text, place=place
            )
        elif node.kind == "sign":
            yield _type_sign(node.text, place, is_operand)
        else:
            raise ValueError(f"no text for {node.kind}")
        is_operand = not (node.kind == "sign" and (node.text in _SPACED or node.text in "(["))


def _type_sign(sign: str, place: str, is_operand: bool) -> _Run:
    text = {"-": "−"}.get(sign) or SIGNS.get(sign, sign)
    if text.startswith("\\"):
        raise ValueError(f"no character for {sign}")
    if sign in _SPACED:
        return _Run(text if place or not is_operand else f" {text} ", place=place)
    is_upright = sign in _PLAIN or not text.isalpha() or (text.isupper() and sign.startswith("\\"))
    return _Run(text, not is_upright, place)


def _write_run(run: _Run, colour: tuple[int, int, int]) -> str:
    italic = "<w:i/>" if run.italic else ""
    place = f'<w:vertAlign w:val="{run.place}"/>' if run.place else ""
    tint = f'<w:color w:val="{"".join(f"{part:02X}" for part in colour)}"/>'
    text = f'<w:t xml:space="preserve">{escape(run.text)}</w:t>'
    return f"<w:r><w:rPr>{italic}{tint}{place}</w:rPr>{text}</w:r>"
