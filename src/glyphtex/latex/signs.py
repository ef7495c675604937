"""Signs of LaTeX: their characters, synonyms and fonts; and atoms, the elements of a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from glyphtex import lazy_re as re

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


def _pairs(table: str) -> dict[str, str]:
    words = table.split()
    return dict(zip(words[::2], words[1::2], strict=True))


COMMANDS: Final = {sign: f"\\{name}" for sign, name in _pairs(_GREEK + _SIGNS).items()}
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


# Atoms: the elements of a row of a formula, and how a row is written.

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
_GREEK_COMMAND: Final = re.compile(
    r"\\(?:var)?(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho"
    r"|sigma|tau|upsilon|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi"
    r"|Omega|nabla)"
)


def make_atom(text: str, font: str) -> Atom:
    """Return a sign in a font, without the font if it makes no difference."""
    letter = len(text) == 1 and text.isalpha()
    digit = len(text) == 1 and text.isdigit() and font in {"bf", "bb"}
    greek = font == "bf" and _GREEK_COMMAND.fullmatch(text) is not None
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
