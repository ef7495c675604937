"""Formulas as plain characters, for comparing two notations of one formula."""

from __future__ import annotations

import re
import unicodedata

_COMMANDS = """
    angle ∠ parallel ∥ perp ⊥ circ ° degree ° triangle △ odot ⊙ le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥
    geqslant ≥ ne ≠ neq ≠ times × cdot · pm ± mp ∓ sqrt √ infty ∞ in ∈ cup ∪ cap ∩ subset ⊂ sim ∼
    cong ≅ approx ≈ to → rightarrow → leftarrow ← Rightarrow ⇒ rightleftharpoons ⇌ div ÷ sum ∑ int ∫
    partial ∂ parallelogram ▱ prime ' alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ
    eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ phi φ varphi φ
    chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω
"""
_SIGNS = dict(zip(_COMMANDS.split()[::2], _COMMANDS.split()[1::2], strict=True))
_ALIKE = str.maketrans("∽∼≌−–⫽‖∆∶", "~~≅--∥∥Δ:")
_DIGITS = "0123456789-+"
_RAISED = {"^": "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "_": "₀₁₂₃₄₅₆₇₈₉₋₊"}
_BRACED = re.compile(r"([\^_])\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_DELIMITERS = re.compile(r"\\[()\[\]]|\$")


def flatten_math(text: str) -> str:
    """Return text with formulas without delimiters and commands, and signs as characters.

    Superscripts and subscripts of digits become `^2` and `_2`, a fraction `a/b`; a command without
    a sign, such as `\\mathrm`, is removed.
    """
    plain = unify(text)
    while (simpler := _FRACTION.sub(r"\1/\2", plain)) != plain:
        plain = simpler
    plain = _COMMAND.sub(lambda command: f" {_SIGNS.get(command[1], '')} ", plain)
    plain = _DELIMITERS.sub(" ", plain).translate(_ALIKE)
    return plain.replace("^ °", "°").replace("^°", "°").replace("{", "").replace("}", "")


def unify(text: str) -> str:
    """Return text with unified signs, and raised and lowered digits as `^2` and `_2`."""
    plain = text
    for sign, digits in _RAISED.items():
        plain = re.sub(f"([{digits}]+)", rf"{sign}\1", plain)
        plain = plain.translate(str.maketrans(digits, _DIGITS))
    plain = unicodedata.normalize("NFKC", plain).translate(_ALIKE)
    return _BRACED.sub(r"\1\2", plain)
