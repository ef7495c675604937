r"""Conversion of mhchem notation such as `\ce{SO4^2-}` to plain LaTeX: `SO4^{2-}`."""

from __future__ import annotations

import re

_OPEN = re.compile(r"\\(?:ce|cf)\s*\{")
_ARROW = re.compile(r"(<=>|<-->|<->|->|<-|=)(?:>|<)?(?:\[[^\[\]]*\]){0,2}")
_ARROWS = {
    "->": r"\to ",
    "<=>": r"\rightleftharpoons ",
    "<->": r"\rightleftharpoons ",
    "<-->": r"\rightleftharpoons ",
}
_CHARGE = re.compile(r"\^\s*(\d*[+-])(?!\d)")
_RADICAL = re.compile(r"\^\{?\s*(?:\.|\\bullet|•)\s*\}?")
_PRECIPITATE = re.compile(r"\s+(?:v|\^|\(v\)|\(\^\))(?=\s|$|\+)")
_HYDRATE = re.compile(r"(?<=[\w)\]])\s*[.*]\s*(?=\d*(?:H2O|[A-Z]))")


def plain_mhchem(text: str) -> str:
    r"""Convert every `\ce{...}` in a text to plain LaTeX; an unclosed one is kept unchanged.

    Charges get braces, arrows become `\to` or `\rightleftharpoons` without their labels, gas and
    precipitate signs are dropped, and the dot of a hydrate becomes `\cdot`.
    """
    out, end = list[str](), 0
    while (opened := _OPEN.search(text, end)) is not None:
        close = _closing(text, opened.end())
        if close is None:
            break
        out += [text[end : opened.start()], _plain(text[opened.end() : close])]
        end = close + 1
    return "".join([*out, text[end:]])


def _plain(text: str) -> str:
    text = _ARROW.sub(lambda m: _ARROWS.get(m.group(1), m.group()), text)
    text = _PRECIPITATE.sub("", text)
    text = _RADICAL.sub("•", text)
    return _CHARGE.sub(r"^{\1}", _HYDRATE.sub(r" \\cdot ", text))


def _closing(text: str, start: int) -> int | None:
    """Return the position of the brace that closes the one opened before `start`."""
    depth = 1
    for brace in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return brace.start()
    return None
