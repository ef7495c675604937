"""Symbols of glyphs: their LaTeX and their role, by character, glyph name or code of their font."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from glyphtex.marks import GlyphSymbol, Kind

# Unicode characters as LaTeX, by their role in a formula.
#
# Names are those of LaTeX, amsmath and amssymb, as KaTeX knows them. Facts from the Unicode
# standard (blocks Mathematical Operators, Arrows, Mathematical Alphanumeric Symbols and others).

UNKNOWN = GlyphSymbol("\\square", "unknown")

_CHARACTERS: dict[Kind, str] = {
    "large": r"""
        ∑ \sum ∏ \prod ∐ \coprod ∫ \int ∬ \iint ∭ \iiint ∮ \oint ∯ \oiint ∰ \oiiint ⋃ \bigcup
        ⋂ \bigcap ⨁ \bigoplus ⨂ \bigotimes ⨀ \bigodot ⋁ \bigvee ⋀ \bigwedge ⨆ \bigsqcup ⨄ \biguplus
    """,
    "letter": r"""
        Α A Β B Γ \Gamma Δ \Delta Ε E Ζ Z Η H Θ \Theta Ι I Κ K Λ \Lambda Μ M Ν N Ξ \Xi Ο O Π \Pi Ρ P
        Σ \Sigma Τ T Υ \Upsilon Φ \Phi Χ X Ψ \Psi Ω \Omega α \alpha β \beta γ \gamma δ \delta
        ε \varepsilon ϵ \epsilon ζ \zeta η \eta θ \theta ϑ \vartheta ι \iota κ \kappa ϰ \varkappa
        λ \lambda μ \mu µ \mu ν \nu ξ \xi ο o π \pi ϖ \varpi ρ \rho ϱ \varrho σ \sigma ς \varsigma
        τ \tau υ \upsilon φ \varphi ϕ \phi χ \chi ψ \psi ω \omega ϝ \digamma ∂ \partial ∇ \nabla
        ∆ \Delta ϒ \Upsilon ϴ \Theta ℏ \hbar ħ \hbar ℓ \ell ℘ \wp ℜ \Re ℑ \Im ı \imath ȷ \jmath
        ℵ \aleph ℶ \beth ∞ \infty ∅ \emptyset ⌀ \varnothing ∠ \angle ∡ \measuredangle
        ∢ \sphericalangle △ \triangle ∀ \forall ∃ \exists ∄ \nexists ⊤ \top ⊥ \perp ⟂ \perp ℧ \mho
        Å \mathring{A} ð \eth … \ldots ⋯ \cdots ⋮ \vdots ⋱ \ddots ° ^{\circ} ☉ \odot ♁ \oplus
        □ \square ◻ \square ■ \blacksquare ∎ \blacksquare ◇ \Diamond ♢ \diamondsuit ♯ \sharp ♭ \flat
        ♮ \natural ★ \bigstar ▲ \blacktriangle ▽ \triangledown ✓ \checkmark % \% ‰ \text{‰} # \#
        & \& $ \$ _ \_ € \text{€} £ \pounds § \S ⨯ \times ø \text{ø} ½ \frac{1}{2} ¼ \frac{1}{4}
        ¾ \frac{3}{4}
    """,
    "operator": r"""
        + + - - − - ± \pm ∓ \mp × \times · \cdot ⋅ \cdot ∙ \bullet • \bullet ÷ \div / / ∕ / ⁄ / ∗ *
        * * ⋆ \star ∘ \circ ◦ \circ ∖ \setminus \ \backslash ⧵ \setminus ∩ \cap ∪ \cup ⊎ \uplus
        ⊓ \sqcap ⊔ \sqcup ∧ \wedge ∨ \vee ⊕ \oplus ⊖ \ominus ⊗ \otimes ⊘ \oslash ⊙ \odot † \dagger
        ‡ \ddagger ≀ \wr ⋄ \diamond ⊞ \boxplus ⊠ \boxtimes ¬ \neg ∔ \dotplus ▷ \triangleright
        ◁ \triangleleft ○ \bigcirc ◯ \bigcirc ⋊ \rtimes ⋉ \ltimes
    """,
    "relation": r"""
        = = < < > > ≤ \leq ≥ \geq ⩽ \leqslant ⩾ \geqslant ≦ \leqq ≧ \geqq ≠ \neq ≡ \equiv
        ≢ \not\equiv ∼ \sim ~ \sim ≁ \nsim ≃ \simeq ≅ \cong ≈ \approx ≊ \approxeq ≍ \asymp ≐ \doteq
        ≑ \doteqdot ≜ \triangleq ≝ \stackrel{\mathrm{def}}{=} ≪ \ll ≫ \gg ⋘ \lll ⋙ \ggg ≲ \lesssim
        ≳ \gtrsim ≶ \lessgtr ∝ \propto ∈ \in ∉ \notin ∋ \ni ⊂ \subset ⊃ \supset ⊆ \subseteq
        ⊇ \supseteq ⊊ \subsetneq ⊋ \supsetneq ⊄ \not\subset ⊈ \nsubseteq ⊏ \sqsubset ⊑ \sqsubseteq
        ⊐ \sqsupset ⊒ \sqsupseteq ∣ \mid ∤ \nmid ∥ \parallel ∦ \nparallel ⊢ \vdash ⊣ \dashv
        ⊨ \models ≺ \prec ≻ \succ ⪯ \preceq ⪰ \succeq ≼ \preccurlyeq ≽ \succcurlyeq ⋈ \bowtie
        ∴ \therefore ∵ \because ≮ \nless ≯ \ngtr ≰ \nleq ≱ \ngeq ⌢ \frown ⌣ \smile ≔ := ∶ : : :
        ⊲ \vartriangleleft ⊳ \vartriangleright ≇ \ncong ≉ \not\approx ⪅ \lessapprox ⪆ \gtrapprox
    """,
    "arrow": r"""
        → \to ← \leftarrow ↔ \leftrightarrow ⇒ \Rightarrow ⇐ \Leftarrow ⇔ \Leftrightarrow ↑ \uparrow
        ↓ \downarrow ↕ \updownarrow ⇑ \Uparrow ⇓ \Downarrow ⇕ \Updownarrow ↦ \mapsto ⟼ \longmapsto
        ⟶ \longrightarrow ⟵ \longleftarrow ⟷ \longleftrightarrow ⟹ \Longrightarrow ⟸ \Longleftarrow
        ⟺ \Longleftrightarrow ↪ \hookrightarrow ↩ \hookleftarrow ↗ \nearrow ↘ \searrow ↖ \nwarrow
        ↙ \swarrow ⇌ \rightleftharpoons ⇋ \leftrightharpoons ⇀ \rightharpoonup ⇁ \rightharpoondown
        ↼ \leftharpoonup ↽ \leftharpoondown ⇄ \rightleftarrows ⇆ \leftrightarrows
        ↠ \twoheadrightarrow ↛ \nrightarrow ⇏ \nRightarrow ↝ \leadsto ⇝ \leadsto ⇉ \rightrightarrows
        ↣ \rightarrowtail ↻ \circlearrowright ↺ \circlearrowleft
    """,
    "open": r"""
        ( ( [ [ { \{ ⟨ \langle 〈 \langle ⌊ \lfloor ⌈ \lceil ⟦ [\![ ⟮ ( ⌜ \ulcorner
    """,
    "close": r"""
        ) ) ] ] } \} ⟩ \rangle 〉 \rangle ⌋ \rfloor ⌉ \rceil ⟧ ]\!] ⟯ ) ⌝ \urcorner
    """,
    "prime": r"""
        ′ ' ″ '' ‴ ''' ⁗ '''' ' ' ’ '
    """,
    "punctuation": r"""
        , , . . ; ; ! ! ? ? | | ‖ \| ǀ | ︱ | 、 \text{、} ， , 。 . ： : ； ;
    """,
    "accent": r"""
        ̂ \hat ˆ \hat ^ \hat ̃ \tilde ˜ \tilde ̄ \bar ¯ \bar ˉ \bar ̅ \overline ‾ \overline ̆ \breve
        ˘ \breve ̇ \dot ˙ \dot ̈ \ddot ¨ \ddot ⃛ \dddot ̊ \mathring ˚ \mathring ̌ \check ˇ \check
        ́ \acute ´ \acute ̀ \grave ` \grave ⃗ \vec ⃖ \overleftarrow ⃑ \overset{\rightharpoonup}
        ̲ \underline ̸ \not ⃒ \not ⏞ \overbrace ⏟ \underbrace ⎴ \overbracket ⎵ \underbracket
        ⏜ \overgroup ⏝ \undergroup ⃡ \overleftrightarrow
    """,
    "root": r"""
        √ \sqrt ∛ \sqrt[3] ∜ \sqrt[4]
    """,
}
_PIECES = {
    "(": "⎛⎜⎝", ")": "⎞⎟⎠", "[": "⎡⎢⎣", "]": "⎤⎥⎦", "\\{": "⎧⎨⎩⎰", "\\}": "⎫⎬⎭⎱",
    "": "⎪⎷⌠⎮⌡⎲⎳⏐⎯",
}  # fmt: skip
"""Pieces of tall signs by the bracket that they belong to."""


def _read_table(table: Mapping[Kind, str]) -> dict[str, GlyphSymbol]:
    return {
        sign: GlyphSymbol(latex, kind)
        for kind, text in table.items()
        for sign, latex in zip(text.split()[::2], text.split()[1::2], strict=True)
    }


_SYMBOLS = _read_table(_CHARACTERS) | {
    piece: GlyphSymbol(bracket, "piece") for bracket, text in _PIECES.items() for piece in text
}
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
    if text in _SYMBOLS:
        return _SYMBOLS[text]
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


# TeX fonts, identified by the glyph names in their font programs.
#
# The names are those of the AMS's Type 1 programs of Computer Modern, Euler and the AMS symbols,
# and of the fonts that follow them: Latin Modern, newtx and STIX.

_FAMILIES = re.compile(
    r"(CM(R|MI|SY|EX|BX|TI|SL|SS|TT|BSY|MIB|CSC|DUNH)|SF(R|TI|BX|SS|TT|SL)|LM(Roman|Math|Sans|Mono)|"
    r"MS[AB]M|EU[RFSEX][MBX]?|E?UF[MB]|rsfs|tx|NewTX|nxl|zxx|px|STIX|stix|wasy|bbm|dsrom|BBOLD|esint|"
    r"stmary|TeXGyre|ntx)",
)
_VARIABLES = re.compile(r"CMMI|LMMathItalic|EUR[MB]|NewTXMI|NewPXMI|nxlmi|zxl|LMMathBold")
_CALLIGRAPHIC = re.compile(r"CM(B?SY)|LMMathSymbols|EUS[MB]|txsy|txbsy|pxsy|rsfs|ntxsy|nxlsy")
_SCRIPT = re.compile(r"rsfs|RSFS|txsyc?scr")
_BLACKBOARD = re.compile(r"MSBM|txsyb|pxsyb|bbm|BBOLD|dsrom|txmia|ntxsyb")
_FRAKTUR = re.compile(r"EUF[MB]|UF[MB]")
_BOLD = re.compile(r"Demi|CMBX|CMMIB|CMBSY|EU[RFS]B|-Bold|Bold|BX\d|txb|NewTXBMI")
_ITALIC = re.compile(r"CMTI|CMSL|Italic|Oblique|SFTI|SFSL|CMBXTI|-It")

_NAMES: dict[Kind, str] = {
    "letter": r"""
        phi \phi phi1 \varphi kappa1 \varkappa dotlessj \jmath varnothing \varnothing
        triangleinv \bigtriangledown club \clubsuit spade \spadesuit heart \heartsuit
        diamond \diamondsuit lozenge \lozenge star \star starfill \bigstar digamma \digamma
    """,
    "operator": r"""
        circlecopyrt \bigcirc coproduct \amalg horizontal.x -
    """,
    "relation": r"""
        simequal \cong notsubsetoreql \nsubseteq triangleleft \triangleleft
        triangleright \triangleright
    """,
    "arrow": r"""
        arrowtwoheadright \twoheadrightarrow squiggleright \rightsquigarrow
        arrowsquiggleright \rightsquigarrow harpoonleftup \leftharpoonup
        harpoonleftdown \leftharpoondown harpoonrightup \rightharpoonup
        harpoonrightdown \rightharpoondown
    """,
    "punctuation": r"""
        bardbl \|
    """,
    "accent": r"""
        vec \vec hat \hat dotacc \dot ddotacc \ddot hatwide \widehat hatwider \widehat
        hatwidest \widehat tildewide \widetilde tildewider \widetilde tildewidest \widetilde
        tie \overset{\frown} bracehext \overbracket uni20D6.x \overline uni20D7.x \overline
    """,
    "large": r"""
        coproducttext \coprod coproductdisplay \coprod contintegraltext \oint
        contintegraldisplay \oint
    """,
    "piece": r"""
        mapsto \mapstochar arrowhookleft \lhook arrowhookright \rhook vextendsingle |
        vextenddouble \| braceex \{ barex |
    """,
}
"""Glyph names that no list has, or has for another symbol: `phi` is straight in TeX's fonts."""
_SYMBOLS_OF_NAMES = _read_table(_NAMES)


_LARGE_TEX = re.compile(r"(\w+?)(text|display)(\.\d+)?$")
_FENCES = {
    "paren": ("(", ")"),
    "bracket": ("[", "]"),
    "brace": ("\\{", "\\}"),
    "angbracket": ("\\langle", "\\rangle"),
    "floor": ("\\lfloor", "\\rfloor"),
    "ceiling": ("\\lceil", "\\rceil"),
}
_FENCE = re.compile(
    r"(paren|bracket|brace|angbracket|floor|ceiling)(left|right)"
    r"(?P<tail>(big|Big|bigg|Bigg)?(\.\w+)?|(tp|mid|bt|ex)[AB]?)$"
)
_ROOT = re.compile(r"radical(?P<tail>big|Big|bigg|Bigg|bt|vertex|tp)?[A-D\d]*(\.\w+)?$")
_HORIZONTAL_BRACE = re.compile(r"bracehtip(down|up)(left|right)")
_WIDE_ACCENT = re.compile(r"(hat|tilde)\d$")
"""Accents of newtx, which has five widths of each."""


@lru_cache(maxsize=1024)
def is_tex(font: str) -> bool:
    """Return whether a font belongs to TeX's families."""
    return bool(_FAMILIES.match(font))


def of_name(name: str) -> GlyphSymbol | None:
    """Return the symbol of a glyph name, or None if no table has it.

    The names of Adobe's list and those of Unicode numbers (`u1D465`) are looked up by MuPDF. Those
    of Latin letters say nothing: the text layer has each letter of a ligature.
    """
    from pymupdf import mupdf

    if symbol := _SYMBOLS_OF_NAMES.get(name) or _of_extension(name):
        return symbol
    symbol = _SYMBOLS_OF_NAMES.get(name.partition(".")[0])
    if symbol is None:
        symbol = of_character(chr(mupdf.fz_unicode_from_glyph_name(name)))
    is_known = symbol.kind not in ("unknown", "space") and not symbol.latex.isalpha()
    return symbol if is_known else None


def _of_extension(name: str) -> GlyphSymbol | None:
    """Return the symbol of an extension font's glyph: brackets, roots, their parts, and sums."""
    if match := _FENCE.match(name):
        side = match[2] == "right"
        is_piece = match["tail"].rstrip("AB") in {"tp", "mid", "bt", "ex"}
        return GlyphSymbol(
            _FENCES[match[1]][side], "piece" if is_piece else "close" if side else "open"
        )
    if match := _ROOT.match(name):
        is_piece = match["tail"] in {"bt", "vertex", "tp"}
        return GlyphSymbol("\\sqrt", "piece" if is_piece else "root")
    if (match := _LARGE_TEX.match(name)) and (symbol := of_name(match[1])):
        is_large = symbol.kind == "large"  # the others are large forms of operators
        return GlyphSymbol(symbol.latex if is_large else f"\\big{symbol.latex[1:]}", "large")
    if match := _HORIZONTAL_BRACE.match(name):
        tips = {"down": "\\overbrace", "up": "\\underbrace"}  # like the leftmost tip
        return GlyphSymbol(tips[match[1]], "accent")
    if _WIDE_ACCENT.match(name):
        return GlyphSymbol("\\wide" + name[:-1], "accent")
    return None


_MISTAKEN = {("STIXTwoMath-Regular", "\u1d46"): "\U0001d462"}
"""Names that programs cut short: LuaTeX writes four digits of the small italic u."""


def of_tex(font: str, text: str, name: str | None) -> GlyphSymbol:
    """Return the symbol of a glyph of a TeX font.

    Args:
        font: Font name without the subset prefix.
        text: Character according to the PDF.
        name: Glyph name in the font program, if any.
    """
    text = _MISTAKEN.get((font, text), text)
    symbol = (of_name(name) if name else None) or of_character(text)
    if symbol.kind not in {"letter", "digit"}:
        return symbol
    command = _alphabet(font, symbol.latex)
    if command:
        return GlyphSymbol(f"{command}{{{symbol.latex}}}", symbol.kind)
    is_italic = (
        _VARIABLES.match(font)
        or _ITALIC.search(font)
        or not (text.isascii() or name == symbol.latex)
    )
    return GlyphSymbol(symbol.latex, symbol.kind, upright=symbol.latex.isalpha() and not is_italic)


def _alphabet(font: str, latex: str) -> str:
    """Return the command of a font's alphabet; empty for roman and italic."""
    plain = latex.isascii() and len(latex) == 1
    if plain and latex.isalpha() and _FRAKTUR.match(font):
        return "\\mathfrak"
    if plain and _BLACKBOARD.match(font) and (latex.isupper() or "bb" in font.lower()):
        return "\\mathbb"
    if plain and _SCRIPT.match(font):
        return "\\mathscr"
    if plain and latex.isupper() and _CALLIGRAPHIC.match(font):
        return "\\mathcal"
    if not _BOLD.search(font):
        return ""
    is_roman = plain and not _VARIABLES.match(font) and not _ITALIC.search(font)
    return "\\mathbf" if is_roman else "\\boldsymbol"


# Fonts whose codes do not mean the Latin letters they appear as.
#
# Symbol and the fonts of MathType (Euclid Symbol, MT Extra, Euclid Extra, Euclid Math One and Two,
# Euclid Fraktur) come as private characters (U+F061), as Latin ones (`a`) or as the printed
# character (`α`). Sources: Adobe's Symbol encoding (PDF 32000-1, D.5), Design Science's tables of
# MTExtra and Euclid.

_SYMBOL = re.compile(r"(MT|Euclid|Standard)?[- ]?Symbols?(MT|PS|Std|Neu)?(?![a-z])", re.IGNORECASE)
_WINGDINGS = re.compile(r"Wingdings(?![- ]?[23])", re.IGNORECASE)
_FAMILIES_ENCODED = tuple(
    (re.compile(pattern, re.IGNORECASE), table, command)
    for pattern, table, command in (
        (r"(MT|Euclid)[- ]?Extra", "extra", ""),
        (r"Euclid[- ]?Math[- ]?One", "one", "\\mathcal"),
        (r"Euclid[- ]?Math[- ]?Two", "two", "\\mathbb"),
        (r"Euclid[- ]?Fraktur", "none", "\\mathfrak"),
        (r"(LT)?(MathematicalPi|UniversalGreek|MathPi)", "none", ""),
    )
)
"""Font name patterns, their code tables, and the alphabet of their letters. Symbol fonts on the
codes of letters and digits have no table: their glyphs are unknown.
"""
_MATHTYPE = re.compile(r"MT|Euclid", re.IGNORECASE)

_ROWS: dict[str, dict[int, str]] = {
    # Printed form: `f` is the straight phi and `j` the curly one.
    "symbol": {
        0x20: " !∀#∃%&∋()∗+,−./0123456789:;<=>?",
        0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
        0x60: "\0αβχδεϕγηιφκλμνοπθρστυϖωξψζ{|}∼\0",
        0xA0: "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯\0",
        0xC0: "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓",
        0xE0: "◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭\0",
    },
    "extra": {
        0x23: "\u0300\u0302\u0303\u0307\0⌣⌢",
        0x3A: "∼≃⊲≪⊳≫≜≙≐∐\0\0\0\0\0∩℧…⋯⋮⋰⋱∥∵∡∢\0∪△□▭▱↗↙\0↘↖\0",
        0x60: "‵↦↕⇕○⊙≻·ℏ\0\0\0ℓ∓\0∘≺↽\u20d7\u20d6\u20e1\0\u20d1",
        0x78: "⇁\0\0⏟⎵⏞⎴",
        0x80: "⇄⇄⇄⇌⇌⇌⇀↽",
        0xA1: "ℝℤℂℚℕ\0⟦⟧",
    },
    "one": {
        0x21: "⊖\0\0\0⊘", 0x82: "∖", 0x90: "⊢⊨\0\0⊣⊤", 0xA9: "≍≀", 0xB4: "↼\0\0⇁",
        0xE5: "⋆", 0xF1: "ϱϵ\0\0\0\0\0ȷϰ",
    },
    "two": {0x84: "⩽⩾", 0xB0: "⪯⪰", 0xE2: "⊎", 0xF0: "⊏⊐⊔⊓⊑⊒"},
    # Word makes the Wingdings arrow from `-->`.
    "wingdings": {0xDF: "←→↑↓", 0xE8: "→", 0xF3: "⇔"},
    # Adobe's private characters for the pieces of Symbol's brackets.
    "adobe": {0xF8E5: "\0⏐⎯®©™⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭"},
    "none": {},
}  # fmt: skip
_ENCODINGS = {
    name: {
        start + k: character
        for start, row in rows.items()
        for k, character in enumerate(row)
        if character != "\0"
    }
    for name, rows in _ROWS.items()
}
_EXTRA_SYMBOLS = {
    **dict.fromkeys((0x31, 0x32, 0x33, 0x34, 0x36, 0x37, 0x38), GlyphSymbol("\\brace", "piece")),
    **dict.fromkeys((0xB0, 0xB1, 0xB2), GlyphSymbol("\\widetilde", "accent")),
    **dict.fromkeys((0xB5, 0xB6, 0xB7), GlyphSymbol("\\widehat", "accent")),
}
_ADOBE = {sign: sign for sign in "×÷¬µ·®©"} | {"φ": "ϕ", "ϕ": "φ"}
"""What Symbol prints for Latin-1 characters from a correct table, and for the two letters phi of
Adobe's glyph list. In MathType's fonts, these characters are codes.
"""


def of_encoded(font: str, text: str) -> GlyphSymbol | None:
    """Return the symbol of a glyph of a font with a custom encoding.

    Args:
        font: Font name without the subset prefix.
        text: Character according to the PDF.

    Returns:
        Its symbol, of kind `unknown` if the font's table lacks the code; None for other fonts.
    """
    if not text.strip():
        return None
    code = _code(text)
    if _SYMBOL.match(font):
        return _of_symbol(font, text, code)
    if _WINGDINGS.match(font):
        character = _ENCODINGS["wingdings"].get(code)
        return of_character(character) if character else None
    for family, table, command in _FAMILIES_ENCODED:
        if family.match(font):
            if command and chr(code).isascii() and chr(code).isalpha():
                return GlyphSymbol(f"{command}{{{chr(code)}}}", "letter")
            is_special = table == "extra" and code in _EXTRA_SYMBOLS
            return _EXTRA_SYMBOLS[code] if is_special else _look_up(table, text, code)
    return None


def _of_symbol(font: str, text: str, code: int) -> GlyphSymbol:
    if not _MATHTYPE.match(font) and text in _ADOBE:
        return of_character(_ADOBE[text])
    if text in ("`", "\uf060", "\uf8e5"):
        return GlyphSymbol("\\sqrt", "piece")
    return _look_up("symbol", text, code)


def _look_up(table: str, text: str, code: int) -> GlyphSymbol:
    """Return the symbol of a code, or of a character outside all code tables."""
    character = _ENCODINGS[table].get(code)
    if character is None and ord(text[0]) > 0xFF:
        character = _ENCODINGS["adobe"].get(ord(text[0]), text)
    return of_character(character) if character else UNKNOWN


def _code(text: str) -> int:
    """Return the font's code of a character that the PDF calls Latin or private; else 0."""
    point = ord(text[0])
    if 0xF000 <= point <= 0xF0FF:
        return point - 0xF000
    try:
        return point if point < 0x100 else text[0].encode("cp1252")[0]
    except UnicodeEncodeError:
        return 0


# Symbol of a glyph of any font: each table is tried in turn.

_ITALIC_IDENTIFY = re.compile(r"italic|oblique|slanted|-it\b", re.IGNORECASE)


@lru_cache(maxsize=16_384)
def identify(font: str, text: str, *, name: str | None = None) -> GlyphSymbol:
    """Return the symbol of a glyph.

    Args:
        font: Font name without the subset prefix (`font_programs.plain_name`).
        text: Unicode character according to the PDF, U+FFFD if it gives none.
        name: Glyph name in the font program (`font_programs.EmbeddedFonts.facts`).

    Returns:
        Its symbol; of kind `unknown`, with `\\square` as LaTeX, if no table has it.
    """
    encoded = of_encoded(font, text)
    if encoded is not None:
        return encoded
    if is_tex(font):
        return of_tex(font, text, name)
    symbol = of_character(text)
    if symbol.kind == "unknown" and name:
        symbol = of_name(name) or symbol
    is_roman = symbol.kind == "letter" and text.isascii() and not _ITALIC_IDENTIFY.search(font)
    return replace(symbol, upright=True) if is_roman else symbol
