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


# LaTeX commands that print the same, or only space.


def list_words(table: str) -> frozenset[str]:
    """Return the words of a table, each once."""
    return frozenset(table.split())


def _pairs(table: str) -> dict[str, str]:
    words = table.split()
    return dict(zip(words[::2], words[1::2], strict=True))


SYNONYMS: Final = _pairs(r"""
    \le \leq \ge \geq \leqslant \leq \geqslant \geq \leqq \leq \geqq \geq \ne \neq \lt < \gt >
    \to \rightarrow \gets \leftarrow \longrightarrow \rightarrow \longleftarrow \leftarrow
    \longleftrightarrow \leftrightarrow \iff \Leftrightarrow \Longleftrightarrow \Leftrightarrow
    \implies \Rightarrow \Longrightarrow \Rightarrow \impliedby \Leftarrow \Longleftarrow \Leftarrow
    \longmapsto \mapsto \rightleftarrows \rightleftharpoons \land \wedge \lor \vee \lnot \neg
    \owns \ni \vert | \lvert | \rvert | \mid | \Vert \| \lVert \| \rVert \| \parallel \|
    \lbrace \{ \rbrace \} \lbrack [ \rbrack ] \lparen ( \rparen ) \dots \ldots \dotsc \ldots
    \dotsb \cdots \dotsm \cdots \dfrac \frac \tfrac \frac \cfrac \frac \dbinom \binom \tbinom \binom
    \varnothing \emptyset \ast * \cdotp \cdot \centerdot \cdot \colon : \lbracket [ \rbracket ]
    \ohm \Omega \micro \mu \widehat \hat \widetilde \tilde \widecheck \check \bar \overline
    \overbar \overline \overrightarrow \vec \underbar \underline \stackrel \overset
    \bigtriangleup \triangle \vartriangle \triangle \Box \square \backslash \setminus
    \smallsetminus \setminus \hslash \hbar \dag \dagger \And \& \textdegree ° \degree °
    \thicksim \sim \thickapprox \approx \smallint \int \intop \int
    \longrightleftharpoons \rightleftharpoons \xrightleftharpoons \xrightleftharpoons
    \textmu \mu \textperiodcentered \cdot \texttimes \times \textpm \pm \nicefrac \sfrac
""")  # fmt: skip
"""Canonical spelling of commands that print the same, up to size and length."""

SPACES: Final = list_words(r"""
    \, \; \: \! \> \  \quad \qquad \enspace \thinspace \medspace \thickspace \negthinspace \nobreak
    \displaystyle \textstyle \scriptstyle \scriptscriptstyle \limits \nolimits \mathstrut \strut
    \nonumber \notag \allowbreak \noindent \centering \hfill \hline \normalsize \small \middle
    \left \right \big \Big \bigg \Bigg \bigl \bigr \bigm \Bigl \Bigr \Bigm \biggl \biggr \biggm
    \Biggl \Biggr \Biggm \- \/
""") | {"\\ ", "\\\n", "\\\t", "~"}  # fmt: skip
"""Commands that print only space, set a size, or let a bracket grow."""
SIZED: Final = list_words(
    r"\left \right \middle \big \Big \bigg \Bigg \bigl \bigr \bigm \Bigl \Bigr \Bigm \biggl \biggr"
    r" \biggm \Biggl \Biggr \Biggm"
)
"""Commands before a delimiter: after them `<` is an angle bracket, and `.` of `\\left` is empty."""
SPACES_WITH_LENGTH: Final = frozenset(
    {r"\hspace", r"\vspace", r"\mspace", r"\phantom", r"\hphantom", r"\vphantom", r"\label"}
)

FONTS: Final = _pairs(r"""
    \mathrm rm \text rm \textrm rm \textnormal rm \mbox rm \hbox rm \operatorname rm \mathop -
    \mathord - \mathrel - \mathbin - \mathopen - \mathclose - \mathpunct - \mathinner - \mathit -
    \textit - \mathnormal - \emph - \mathbf bf \textbf bf \boldsymbol bf \bm bf \pmb bf
    \mathbfit bf \symbf bf \symbfit bf \symup rm \symit - \symcal cal \symbb bb
    \mathcal cal \mathscr cal \mathbb bb \mathds bb \Bbb bb \mathfrak frak \mathsf sf \textsf sf
    \mathtt tt \texttt tt \ensuremath - \smash -
""")  # fmt: skip
"""Font commands with one argument; `-` keeps the font."""
SWITCHES: Final = {
    r"\rm": "rm", r"\bf": "bf", r"\it": "-", r"\cal": "cal", r"\sf": "sf", r"\tt": "tt",
}  # fmt: skip
"""Commands that change the font up to the end of their group."""
COMMANDS_OF_FONTS: Final = {
    "rm": r"\mathrm", "bf": r"\mathbf", "cal": r"\mathcal", "bb": r"\mathbb", "frak": r"\mathfrak",
    "sf": r"\mathsf", "tt": r"\mathtt",
}  # fmt: skip

FUNCTIONS: Final = list_words(
    "arccos arcsin arctan arccot arg cos cosh cot coth csc deg det dim exp gcd lcm hom inf ker lg"
    " lim liminf limsup ln log max min Pr sec sin sinh sup tan tanh tg ctg arctg arcctg sgn sh ch"
    " th mod"
)
"""Names of upright functions: `\\sin` is `\\mathrm{sin}`."""
ARGUMENTS: Final = {
    r"\frac": 2, r"\binom": 2, r"\overset": 2, r"\underset": 2, r"\sfrac": 2, r"\sqrt": 1,
    r"\hat": 1, r"\check": 1, r"\tilde": 1, r"\overline": 1, r"\underline": 1, r"\vec": 1,
    r"\dot": 1, r"\ddot": 1, r"\dddot": 1, r"\acute": 1, r"\grave": 1, r"\breve": 1,
    r"\mathring": 1,
    r"\overleftarrow": 1, r"\overleftrightarrow": 1, r"\underrightarrow": 1, r"\overbrace": 1,
    r"\underbrace": 1, r"\boxed": 1, r"\cancel": 1, r"\not": 1, r"\tag": 1, r"\substack": 1,
    r"\xrightarrow": 1, r"\xleftarrow": 1, r"\xrightleftharpoons": 1, r"\pmod": 1, r"\widearc": 1,
    r"\overarc": 1, r"\wideparen": 1,
    r"\textcolor": 2, r"\prescript": 3, r"\bmod": 0, r"\color": 1, r"\fbox": 1,
}  # fmt: skip
"""Number of arguments of a command that are formulas."""
ARROWS_WITH_TEXT: Final = {
    r"\xrightarrow": r"\rightarrow",
    r"\xleftarrow": r"\leftarrow",
    r"\xrightleftharpoons": r"\rightleftharpoons",
}
NEGATIONS: Final = {"=": r"\neq", r"\in": r"\notin", r"\exists": r"\nexists"}
"""Relations whose negation by `\\not` has a separate command."""
DELIMITED: Final = {
    "pmatrix": ("(", ")"), "bmatrix": ("[", "]"), "vmatrix": ("|", "|"), "Bmatrix": (r"\{", r"\}"),
    "Vmatrix": (r"\|", r"\|"), "cases": (r"\{", ""), "dcases": (r"\{", ""), "rcases": ("", r"\}"),
}  # fmt: skip
"""Environments for a matrix with brackets."""
MATRICES: Final = frozenset({"matrix", "array", "smallmatrix", *DELIMITED})
ROWS: Final = list_words(
    "aligned align gathered gather split eqnarray multline alignat alignedat flalign"
)
"""Environments of rows; their alignment marks print nothing."""
