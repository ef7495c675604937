"""Unicode characters and the LaTeX that prints them."""

from __future__ import annotations

from typing import Final

_GREEK: Final = """
    α alpha β beta γ gamma δ delta ϵ epsilon ε varepsilon ζ zeta η eta θ theta ϑ vartheta ι iota
    κ kappa λ lambda μ mu µ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau
    υ upsilon ϕ phi φ varphi χ chi ψ psi ω omega Γ Gamma Δ Delta ∆ Delta Θ Theta Λ Lambda Ξ Xi Π Pi
    Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega \u2126 Omega
"""
_SIGNS: Final = r"""
    × times · cdot ⋅ cdot ∙ cdot ÷ div ± pm ∓ mp ∗ ast ∘ circ • bullet ⊕ oplus ⊖ ominus ⊗ otimes
    ⊙ odot ∧ wedge ∨ vee ∩ cap ∪ cup ∖ setminus ≤ leq ≥ geq ⩽ leq ⩾ geq ≦ leq ≧ geq ≠ neq ≈ approx
    ≡ equiv ∼ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg ∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq
    ⊇ supseteq ⊥ perp ∥ | ∣ vert ∠ angle △ triangle □ square ∀ forall ∃ exists ∄ nexists ¬ neg
    ∅ emptyset ∂ partial ∇ nabla ∞ infty ℏ hbar ℓ ell ℜ Re ℑ Im ℵ aleph → rightarrow ⟶ rightarrow
    ← leftarrow ⟵ leftarrow ↔ leftrightarrow ⟷ leftrightarrow ⇒ Rightarrow ⟹ Rightarrow
    ⇐ Leftarrow ⟸ Leftarrow ⇔ Leftrightarrow ⟺ Leftrightarrow ↦ mapsto ⟼ mapsto ↑ uparrow
    ↓ downarrow ⇌ rightleftharpoons ⇋ leftrightharpoons ⇄ rightleftarrows ∑ sum ∏ prod ∐ coprod
    ∫ int ∬ iint ∭ iiint ∮ oint ⟨ langle ⟩ rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil … ldots
    ⋯ cdots ⋮ vdots ⋱ ddots ∴ therefore ∵ because ⊢ vdash ⊨ models ↗ nearrow ↘ searrow ‖ | ⋆ star
    † dagger ℃ degreeC
"""


def _pair(table: str) -> dict[str, str]:
    words = table.split()
    return {sign: f"\\{name}" for sign, name in zip(words[::2], words[1::2], strict=True)}


COMMANDS: Final = _pair(_GREEK) | _pair(_SIGNS)
"""Command of each character that has one, such as `α`: `\\alpha`."""
SUPERSCRIPTS: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True))
SUBSCRIPTS: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()", strict=True))
ALIKE: Final = str.maketrans(
    {"−": "-", "–": "-", "‐": "-", "‑": "-", "‒": "-", "﹣": "-", "－": "-", "∶": ":", "’": "'",
     "′": "'", "″": "''", "‴": "'''", "º": "°", "˚": "°", "ﬁ": "fi", "ﬂ": "fl", "℃": "°C"}
)  # fmt: skip
"""Characters that look the same, or combine several others."""
