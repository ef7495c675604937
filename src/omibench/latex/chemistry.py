r"""Normal form of mhchem notation: `\ce{SO4^2-}` is `\ce{SO_{4}^{2-}}`."""

from __future__ import annotations

import re
from typing import Final

_ARROW: Final = re.compile(r"\s*(<=>>|<<=>|<=>|<-->|<->|->|<-)((?:\[[^\[\]]*\]){0,2})\s*")
_ARROWS: Final = {
    "->": r"\rightarrow", "<-": r"\leftarrow", "<->": r"\leftrightarrow",
    "<-->": r"\rightleftharpoons", "<=>": r"\rightleftharpoons",
    "<=>>": r"\rightleftharpoons", "<<=>": r"\rightleftharpoons",
}  # fmt: skip
_VARIABLE: Final = re.compile(r"([_^])\{([a-z])(?=[+-]?\})")
_SIGN_OF_PHASE: Final = re.compile(r"(?<=\s)(v|\^)(?=\s|$)")
_SIGNS_OF_PHASE: Final = {"v": r"\downarrow", "^": r"\uparrow"}
_OPERATOR: Final = re.compile(r"\s+([+=])\s+")
_STATE: Final = re.compile(r"\s+(?=\((?:s|l|g|aq)\))")
_DOT: Final = re.compile(r"\s*(?:\*|·|\\cdot(?![A-Za-z]))\s*|(?<=[A-Za-z\d)\]}])\.(?=\d*[A-Z(])")
_SPACED_COEFFICIENT: Final = re.compile(r"(?:(?<=^)|(?<=[\s.\x01]))(\d+(?:/\d+)?)\s+(?=[A-Z(\[])")
_LOWERED: Final = re.compile(r"_(\{[^{}]*\}|[A-Za-z0-9])")
_RAISED: Final = re.compile(r"\^(\{[^{}]*\}|[a-z\d]?\d*[+-]|[+-]\d+|\d+|[A-Za-z.*])")
_CHARGE: Final = re.compile(r"(?<=[A-Za-z\d)\]}])([+-])(?=\s|$|\)|\]|\(|,|->|<)")
_SCRIPTS: Final = re.compile(r"(\^\{[^{}]*\})(_\{[^{}]*\})")
_SPACE: Final = re.compile(r"\s+")


def normalise_chemistry(source: str) -> str:
    r"""Bring the content of `\ce{...}` to its normal form.

    Indices and charges get signs and braces, arrows and plus signs between substances get spaces
    on both sides, states of matter get none; the dot of a hydrate is a full stop.

    Args:
        source: Content without `\ce` and its braces.
    """
    arrows: list[str] = []

    def keep_arrow(match: re.Match[str]) -> str:
        arrows.append(f" {match[1]}{_SPACE.sub(' ', match[2])} ")
        return f" \x00{chr(0xE000 + len(arrows) - 1)} "

    text = _ARROW.sub(keep_arrow, source.replace("−", "-").replace("⇌", "<=>").replace("→", "->"))
    text = _STATE.sub("", _SPACE.sub(" ", text).strip())
    text = _OPERATOR.sub("\x01\\1\x01", text)
    text = _DOT.sub(".", text)
    text = _SPACED_COEFFICIENT.sub(r"\1", text)
    text = " ".join(_normalise_word(word) for word in text.split(" "))
    text = text.replace("\x01", " ")
    for number, arrow in enumerate(arrows):
        text = text.replace(f" \x00{chr(0xE000 + number)} ", arrow)
        text = text.replace(f"\x00{chr(0xE000 + number)}", arrow.strip())
    return _SPACE.sub(" ", text).strip()


def write_chemistry(source: str) -> str:
    r"""Convert the content of `\ce{...}` to plain LaTeX: `\ce{Na+ -> X}` is `Na^{+} \rightarrow X`.

    Args:
        source: Content without `\ce` and its braces; letters are upright, except a variable in a
            script.
    """
    text = _ARROW.sub(_write_arrow, normalise_chemistry(source))
    text = _VARIABLE.sub(r"\1{\\mathit{\2}", text)
    text = _SIGN_OF_PHASE.sub(lambda match: _SIGNS_OF_PHASE[match[1]], text)
    return text.replace(".", r"\cdot ").replace("#", r"\equiv ")


def _write_arrow(match: re.Match[str]) -> str:
    arrow = _ARROWS[match[1]]
    above, below = (*re.findall(r"\[([^\[\]]*)\]", match[2]), "", "")[:2]
    arrow = rf"\overset{{{above}}}{{{arrow}}}" if above else arrow
    return rf" \underset{{{below}}}{{{arrow}}} " if below else f" {arrow} "


def _normalise_word(word: str) -> str:
    """Return the scripts of substances without spaces, in one spelling."""
    return "\x01".join(_normalise_substance(part) for part in word.split("\x01"))


def _normalise_substance(word: str) -> str:
    if word in {"+", "-", "=", "v", "^"} or word.startswith("\x00"):
        return word
    word = _RAISED.sub(lambda match: f"^{{{match[1].strip('{}')}}}", word)
    word = _CHARGE.sub(r"^{\1}", word)
    word = _LOWERED.sub(lambda match: f"_{{{match[1].strip('{}')}}}", word)
    word = _index_digits(word)
    return _SCRIPTS.sub(r"\2\1", word)


def _index_digits(word: str) -> str:
    """Return digits after an element or a bracket as an index, except those in braces."""
    pieces = re.split(r"(\{[^{}]*\})", word)
    return "".join(
        piece if piece.startswith("{") else re.sub(r"(?<=[A-Za-z)\]])(\d+)", r"_{\1}", piece)
        for piece in pieces
    )
