"""Unicode characters as LaTeX, by their role in a formula.

Names are those of LaTeX, amsmath and amssymb, as KaTeX knows them. Facts from the Unicode standard
(blocks Mathematical Operators, Arrows, Mathematical Alphanumeric Symbols and others).
"""

from __future__ import annotations

import unicodedata
from functools import cache

from omibench.stages.ocr.formulas.marks import GlyphSymbol, Kind

UNKNOWN = GlyphSymbol("\\square", "unknown")

_GREEK = (
    "Α A Β B Γ \\Gamma Δ \\Delta Ε E Ζ Z Η H Θ \\Theta Ι I Κ K Λ \\Lambda Μ M Ν N Ξ \\Xi Ο O Π "
    "\\Pi "
    "Ρ P Σ \\Sigma Τ T Υ \\Upsilon Φ \\Phi Χ X Ψ \\Psi Ω \\Omega "
    "α \\alpha β \\beta γ \\gamma δ \\delta ε \\varepsilon ϵ \\epsilon ζ \\zeta η \\eta θ \\theta "
    "ϑ \\vartheta ι \\iota κ \\kappa ϰ \\varkappa λ \\lambda μ \\mu µ \\mu ν \\nu ξ \\xi ο o π "
    "\\pi "
    "ϖ \\varpi ρ \\rho ϱ \\varrho σ \\sigma ς \\varsigma τ \\tau υ \\upsilon φ \\varphi ϕ \\phi "
    "χ \\chi ψ \\psi ω \\omega ϝ \\digamma ∂ \\partial ∇ \\nabla Ω \\Omega ∆ \\Delta ϒ \\Upsilon "
    "ϴ \\Theta"
)
_LETTERS = (
    "ℏ \\hbar ħ \\hbar ℓ \\ell ℘ \\wp ℜ \\Re ℑ \\Im ı \\imath ȷ \\jmath ℵ \\aleph ℶ \\beth ∞ "
    "\\infty "
    "∅ \\emptyset ⌀ \\varnothing ∠ \\angle ∡ \\measuredangle ∢ \\sphericalangle △ \\triangle "
    "∀ \\forall ∃ \\exists ∄ \\nexists ⊤ \\top ⊥ \\perp ⟂ \\perp ℧ \\mho Å \\mathring{A} ð \\eth "
    "… \\ldots ⋯ \\cdots ⋮ \\vdots ⋱ \\ddots ° ^{\\circ} ° ^{\\circ} ☉ \\odot ♁ \\oplus "
    "□ \\square ◻ \\square ■ \\blacksquare ∎ \\blacksquare ◇ \\Diamond ♢ \\diamondsuit "
    "♯ \\sharp ♭ \\flat ♮ \\natural ★ \\bigstar ▲ \\blacktriangle ▽ \\triangledown ✓ \\checkmark "
    "% \\% ‰ \\text{‰} # \\# & \\& $ \\$ _ \\_ € \\text{€} £ \\pounds § \\S ⨯ \\times ⊙ \\odot "
    "Å \\mathring{A} ø \\text{ø} ½ \\frac{1}{2} ¼ \\frac{1}{4} ¾ \\frac{3}{4}"
)
_OPERATORS = (
    "+ + - - − - ± \\pm ∓ \\mp × \\times · \\cdot ⋅ \\cdot ∙ \\bullet • \\bullet ÷ \\div / / ∕ "
    "/ ⁄ / "
    "∗ * * * ⋆ \\star ∘ \\circ ◦ \\circ ∖ \\setminus \\ \\backslash ⧵ \\setminus ∩ \\cap ∪ \\cup ⊎ "
    "\\uplus ⊓ \\sqcap "
    "⊔ \\sqcup ∧ \\wedge ∨ \\vee ⊕ \\oplus ⊖ \\ominus ⊗ \\otimes ⊘ \\oslash ⊙ \\odot † \\dagger "
    "‡ \\ddagger ≀ \\wr ∐ \\amalg ⋄ \\diamond ⊞ \\boxplus ⊠ \\boxtimes ¬ \\neg ∔ \\dotplus "
    "▷ \\triangleright ◁ \\triangleleft ○ \\bigcirc ◯ \\bigcirc ⋊ \\rtimes ⋉ \\ltimes"
)
_RELATIONS = (
    "= = < < > > ≤ \\leq ≥ \\geq ⩽ \\leqslant ⩾ \\geqslant ≦ \\leqq ≧ \\geqq ≠ \\neq ≡ \\equiv "
    "≢ \\not\\equiv ∼ \\sim ~ \\sim ≁ \\nsim ≃ \\simeq ≅ \\cong ≈ \\approx ≊ \\approxeq ≍ \\asymp "
    "≐ \\doteq ≑ \\doteqdot ≜ \\triangleq ≝ \\stackrel{\\mathrm{def}}{=} ≪ \\ll ≫ \\gg ⋘ \\lll "
    "⋙ \\ggg ≲ \\lesssim ≳ \\gtrsim ≶ \\lessgtr ∝ \\propto ∈ \\in ∉ \\notin ∋ \\ni ⊂ \\subset "
    "⊃ \\supset ⊆ \\subseteq ⊇ \\supseteq ⊊ \\subsetneq ⊋ \\supsetneq ⊄ \\not\\subset "
    "⊈ \\nsubseteq ⊏ \\sqsubset ⊑ \\sqsubseteq ⊐ \\sqsupset ⊒ \\sqsupseteq ∣ \\mid ∤ \\nmid "
    "∥ \\parallel ∦ \\nparallel ⊢ \\vdash ⊣ \\dashv ⊨ \\models ≺ \\prec ≻ \\succ ⪯ \\preceq "
    "⪰ \\succeq ≼ \\preccurlyeq ≽ \\succcurlyeq ⋈ \\bowtie ∴ \\therefore ∵ \\because ≮ \\nless "
    "≯ \\ngtr ≰ \\nleq ≱ \\ngeq ⌢ \\frown ⌣ \\smile ≔ := ∶ : : : ⊲ \\vartriangleleft "
    "⊳ \\vartriangleright ≇ \\ncong ≉ \\not\\approx ⪅ \\lessapprox ⪆ \\gtrapprox"
)
_ARROWS = (
    "→ \\to ← \\leftarrow ↔ \\leftrightarrow ⇒ \\Rightarrow ⇐ \\Leftarrow ⇔ \\Leftrightarrow "
    "↑ \\uparrow ↓ \\downarrow ↕ \\updownarrow ⇑ \\Uparrow ⇓ \\Downarrow ⇕ \\Updownarrow "
    "↦ \\mapsto ⟼ \\longmapsto ⟶ \\longrightarrow ⟵ \\longleftarrow ⟷ \\longleftrightarrow "
    "⟹ \\Longrightarrow ⟸ \\Longleftarrow ⟺ \\Longleftrightarrow ↪ \\hookrightarrow "
    "↩ \\hookleftarrow ↗ \\nearrow ↘ \\searrow ↖ \\nwarrow ↙ \\swarrow ⇌ \\rightleftharpoons "
    "⇋ \\leftrightharpoons ⇀ \\rightharpoonup ⇁ \\rightharpoondown ↼ \\leftharpoonup "
    "↽ \\leftharpoondown ⇄ \\rightleftarrows ⇆ \\leftrightarrows ↠ \\twoheadrightarrow "
    "↛ \\nrightarrow ⇏ \\nRightarrow ↝ \\leadsto ⇝ \\leadsto ⇉ \\rightrightarrows ↣ "
    "\\rightarrowtail "
    "↻ \\circlearrowright ↺ \\circlearrowleft"
)
_OPEN = "( ( [ [ { \\{ ⟨ \\langle 〈 \\langle ⌊ \\lfloor ⌈ \\lceil ⟦ [\\![ ⟮ ( ⌜ \\ulcorner"
_CLOSE = ") ) ] ] } \\} ⟩ \\rangle 〉 \\rangle ⌋ \\rfloor ⌉ \\rceil ⟧ ]\\!] ⟯ ) ⌝ \\urcorner"
_LARGE = (
    "∑ \\sum ∏ \\prod ∐ \\coprod ∫ \\int ∬ \\iint ∭ \\iiint ∮ \\oint ∯ \\oiint ∰ \\oiiint "
    "⋃ \\bigcup ⋂ \\bigcap ⨁ \\bigoplus ⨂ \\bigotimes ⨀ \\bigodot ⋁ \\bigvee ⋀ \\bigwedge "
    "⨆ \\bigsqcup ⨄ \\biguplus"
)
_ACCENTS = (
    "\u0302 \\hat ˆ \\hat ^ \\hat \u0303 \\tilde ˜ \\tilde \u0304 \\bar ¯ \\bar ˉ \\bar \u0305 "
    "\\overline "
    "‾ \\overline \u0306 \\breve ˘ \\breve \u0307 \\dot ˙ \\dot \u0308 \\ddot ¨ \\ddot \u20db "
    "\\dddot "
    "\u030a \\mathring ˚ \\mathring \u030c \\check ˇ \\check \u0301 \\acute ´ \\acute \u0300 "
    "\\grave "
    "` \\grave \u20d7 \\vec \u20d6 \\overleftarrow \u20d1 \\overset{\\rightharpoonup} "
    "\u0332 \\underline \u0338 \\not \u20d2 \\not ⏞ \\overbrace ⏟ \\underbrace ⎴ \\overbracket "
    "⎵ \\underbracket ⏜ \\overgroup ⏝ \\undergroup \u20e1 \\overleftrightarrow"
)
_PRIMES = "′ ' ″ '' ‴ ''' ⁗ '''' ' ' ’ '"
_PUNCTUATION = ", , . . ; ; ! ! ? ? | | ∣ | ‖ \\| ǀ | ︱ | 、 \\text{、} ， , 。 . ： : ； ;"
_PIECES = "⎛⎜⎝⎞⎟⎠⎡⎢⎣⎤⎥⎦⎧⎨⎩⎪⎫⎬⎭⎰⎱⎷⌠⎮⌡⎲⎳⏐⎯"
_BRACKET_OF_PIECE = {
    **dict.fromkeys("⎛⎜⎝", ("(", "open")),
    **dict.fromkeys("⎞⎟⎠", (")", "close")),
    **dict.fromkeys("⎡⎢⎣", ("[", "open")),
    **dict.fromkeys("⎤⎥⎦", ("]", "close")),
    **dict.fromkeys("⎧⎨⎩⎰", ("\\{", "open")),
    **dict.fromkeys("⎫⎬⎭⎱", ("\\}", "close")),
}


def _pairs(table: str, kind: Kind) -> dict[str, GlyphSymbol]:
    words = table.split(" ")
    return {a: GlyphSymbol(b, kind) for a, b in zip(words[::2], words[1::2], strict=True)}


@cache
def _table() -> dict[str, GlyphSymbol]:
    """Tables by priority: the first that has a character decides."""
    table: dict[str, GlyphSymbol] = {}
    kinds: tuple[tuple[str, Kind], ...] = (
        (_LARGE, "large"),
        (_GREEK, "letter"),
        (_OPERATORS, "operator"),
        (_RELATIONS, "relation"),
        (_ARROWS, "arrow"),
        (_OPEN, "open"),
        (_CLOSE, "close"),
        (_PRIMES, "prime"),
        (_PUNCTUATION, "punctuation"),
        (_LETTERS, "letter"),
        (_ACCENTS, "accent"),
    )
    for text, kind in kinds:
        for character, symbol in _pairs(text, kind).items():
            table.setdefault(character, symbol)
    table["√"] = GlyphSymbol("\\sqrt", "root")
    table["∛"] = GlyphSymbol("\\sqrt[3]", "root")
    table["∜"] = GlyphSymbol("\\sqrt[4]", "root")
    for piece in _PIECES:
        table[piece] = GlyphSymbol(_BRACKET_OF_PIECE.get(piece, ("", ""))[0], "piece")
    return table


_STYLES = (
    ("BOLD ITALIC", "\\boldsymbol"),
    ("BOLD SCRIPT", "\\mathcal"),
    ("SCRIPT", "\\mathcal"),
    ("BOLD FRAKTUR", "\\mathfrak"),
    ("FRAKTUR", "\\mathfrak"),
    ("BLACK-LETTER", "\\mathfrak"),
    ("DOUBLE-STRUCK", "\\mathbb"),
    ("SANS-SERIF BOLD", "\\boldsymbol"),
    ("SANS-SERIF", "\\mathsf"),
    ("MONOSPACE", "\\mathtt"),
    ("BOLD", "\\mathbf"),
    ("ITALIC", ""),
)


def of_character(text: str) -> GlyphSymbol:
    """Return the symbol of a Unicode character.

    Args:
        text: One character, possibly a mathematical letter (U+1D400 and on).

    Returns:
        Its symbol, of kind `unknown` if no table has it.
    """
    if (
        not text
        or text.isspace()
        or unicodedata.category(text[0]) in {"Cf", "Zs"}
        or "\ufe00" <= text <= "\ufe0f"
    ):
        return GlyphSymbol("", "space")
    if text in _table():
        return _table()[text]
    name = unicodedata.name(text[0], "")
    if name.startswith(("MATHEMATICAL ", "SCRIPT ", "BLACK-LETTER ", "DOUBLE-STRUCK ")):
        return _apply_style(text, name.removeprefix("MATHEMATICAL "))
    plain = unicodedata.normalize("NFKC", text)
    return _compatible(text, plain) if plain != text else _letter_or_digit(text)


def _letter_or_digit(text: str) -> GlyphSymbol:
    latex = text if text.isascii() else f"\\text{{{text}}}"
    if text.isalpha():
        return GlyphSymbol(latex, "letter")
    return GlyphSymbol(latex, "digit") if text.isdigit() else UNKNOWN


def _apply_style(text: str, name: str) -> GlyphSymbol:
    """Return a letter of a mathematical alphabet, by its Unicode name."""
    codes = unicodedata.decomposition(text).removeprefix("<font> ")
    plain = chr(int(codes, 16)) if codes else text
    base = of_character(plain) if plain != text else UNKNOWN
    if base.kind == "unknown":
        return base
    command = next((command for style, command in _STYLES if name.startswith(style)), "")
    if command == "\\mathbf" and base.latex.startswith("\\"):
        command = "\\boldsymbol"
    if command == "\\mathcal" and base.latex.islower() and base.latex.isascii():
        return (
            GlyphSymbol("\\ell", "letter")
            if plain == "l"
            else GlyphSymbol(f"\\mathscr{{{plain}}}", "letter")
        )
    return GlyphSymbol(f"{command}{{{base.latex}}}" if command else base.latex, base.kind)


def _compatible(text: str, plain: str) -> GlyphSymbol:
    """Return a raised or lowered digit, a fraction, a ligature or a full-width form."""
    form = unicodedata.decomposition(text).split(" ")[0]
    symbols = [of_character(character) for character in plain]
    if not symbols or any(symbol.kind == "unknown" for symbol in symbols):
        return UNKNOWN
    latex = "".join(symbol.latex for symbol in symbols)
    if form == "<super>":
        return GlyphSymbol(f"^{{{latex}}}", symbols[0].kind)
    if form == "<sub>":
        return GlyphSymbol(f"_{{{latex}}}", symbols[0].kind)
    if form == "<fraction>" and "⁄" in plain:
        above, below = plain.split("⁄")
        return GlyphSymbol(f"\\frac{{{above}}}{{{below}}}", "digit")
    return GlyphSymbol(latex, symbols[0].kind)
