"""TeX fonts, identified by the glyph names in their font programs.

The names are those of the AMS's Type 1 programs of Computer Modern, Euler and the AMS symbols, and
of the fonts that follow them: Latin Modern, newtx and STIX.
"""

from __future__ import annotations

import re

from omibench.stages.ocr.formulas.fonts.characters import of_character
from omibench.stages.ocr.formulas.marks import GlyphSymbol

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

_NAMES = (
    "epsilon \\varepsilon epsilon1 \\epsilon phi \\phi phi1 \\varphi theta1 \\vartheta rho1 "
    "\\varrho sigma1 \\varsigma pi1 \\varpi omega1 \\varpi kappa1 \\varkappa dotlessi \\imath "
    "dotlessj \\jmath lscript \\ell weierstrass \\wp Rfractur \\Re Ifractur \\Im Rfraktur \\Re "
    "Ifraktur \\Im planckover2pi \\hbar planckover2pi1 \\hbar aleph \\aleph beth \\beth "
    "infinity \\infty emptyset \\emptyset varnothing \\varnothing universal \\forall "
    "existential \\exists notexistential \\nexists perpendicular \\perp latticetop \\top "
    "triangle \\triangle triangleinv \\bigtriangledown club \\clubsuit spade \\spadesuit "
    "heart \\heartsuit diamond \\diamondsuit angle \\angle measuredangle \\measuredangle "
    "square \\square squaresolid \\blacksquare lozenge \\lozenge star \\star starfill \\bigstar "
    "section \\S nabla \\nabla gradient \\nabla partialdiff \\partial Delta \\Delta "
    "Omega \\Omega mu \\mu eth \\eth Upsilon1 \\Upsilon Digamma \\digamma digamma \\digamma"
)
_OPERATOR_NAMES = (
    "minus - plus + multiply \\times periodcentered \\cdot divide \\div asteriskmath * "
    "diamondmath \\diamond plusminus \\pm minusplus \\mp circleplus \\oplus circleminus \\ominus "
    "circlemultiply \\otimes circledivide \\oslash circledot \\odot circlecopyrt \\bigcirc "
    "openbullet \\circ bullet \\bullet intersection \\cap union \\cup unionmulti \\uplus "
    "logicaland \\wedge logicalor \\vee backslash \\backslash wreathproduct \\wr unionsq \\sqcup "
    "intersectionsq \\sqcap slash / dagger \\dagger daggerdbl \\ddagger coproduct \\amalg "
    "logicalnot \\neg"
)
_RELATION_NAMES = (
    "equal = less < greater > lessequal \\leq greaterequal \\geq lessorequalslant \\leqslant "
    "greaterorequalslant \\geqslant lessorsimilar \\lesssim greaterorsimilar \\gtrsim "
    "lessmuch \\ll greatermuch \\gg equivalence \\equiv similar \\sim approxequal \\approx "
    "similarequal \\simeq simequal \\cong equivasymptotic \\asymp proportional \\propto "
    "element \\in owner \\ni "
    "propersubset \\subset propersuperset \\supset reflexsubset \\subseteq "
    "reflexsuperset \\supseteq precedes \\prec follows \\succ precedesequal \\preceq "
    "followsequal \\succeq turnstileleft \\vdash turnstileright \\dashv colon : "
    "notequal \\neq therefore \\therefore because \\because approxorequal \\approxeq "
    "notlessequal \\nleq notgreaterequal \\ngeq notless \\nless notgreater \\ngtr "
    "notsubsetoreql \\nsubseteq subsetnotequal \\subsetneq divides \\mid notbar \\nmid "
    "notparallel \\nparallel triangleleft \\triangleleft triangleright \\triangleright"
)
_ARROW_NAMES = (
    "arrowright \\to arrowleft \\leftarrow arrowup \\uparrow arrowdown \\downarrow "
    "arrowboth \\leftrightarrow arrowdblright \\Rightarrow arrowdblleft \\Leftarrow "
    "arrowdblboth \\Leftrightarrow arrowdblup \\Uparrow arrowdbldown \\Downarrow "
    "arrownortheast \\nearrow arrowsoutheast \\searrow arrownorthwest \\nwarrow "
    "arrowsouthwest \\swarrow arrowbothv \\updownarrow harpoonleftright \\rightleftharpoons "
    "harpoonrightleft \\leftrightharpoons arrowparrrightleft \\rightleftarrows "
    "arrowparrleftright \\leftrightarrows arrowtwoheadright \\twoheadrightarrow "
    "squiggleright \\rightsquigarrow "
    "arrowsquiggleright \\rightsquigarrow harpoonleftup \\leftharpoonup "
    "harpoonleftdown \\leftharpoondown harpoonrightup \\rightharpoonup "
    "harpoonrightdown \\rightharpoondown"
)
_PUNCTUATION_NAMES = "bar | bardbl \\| period . comma , semicolon ; exclam ! question ?"
_ACCENT_NAMES = (
    "vector \\vec vec \\vec circumflex \\hat hat \\hat tilde \\tilde macron \\bar dotaccent \\dot "
    "dotacc \\dot dieresis \\ddot ddotacc \\ddot ring \\mathring caron \\check breve \\breve "
    "acute \\acute grave \\grave hatwide \\widehat hatwider \\widehat hatwidest \\widehat "
    "tildewide \\widetilde tildewider \\widetilde tildewidest \\widetilde tie \\overset{\\frown} "
    "negationslash \\not"
)
_LARGE_NAMES = (
    "summation \\sum product \\prod coproduct \\coprod integral \\int contintegral \\oint "
    "union \\bigcup intersection \\bigcap circleplus \\bigoplus circlemultiply \\bigotimes "
    "circledot \\bigodot logicaland \\bigwedge logicalor \\bigvee unionsq \\bigsqcup "
    "unionmulti \\biguplus"
)
_LARGE = re.compile(r"(\w+?)(text|display)(\.\d+)?$")
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
_CODE_NAME = re.compile(r"u(?:ni)?([0-9A-F]{4,6})(?:\.(\w+))?$")
_PARTS_OF_ARROWS = {
    "mapsto": GlyphSymbol("\\mapstochar", "piece"),
    "arrowhookleft": GlyphSymbol("\\lhook", "piece"),
    "arrowhookright": GlyphSymbol("\\rhook", "piece"),
    "vextendsingle": GlyphSymbol("|", "piece"),
    "vextenddouble": GlyphSymbol("\\|", "piece"),
    "braceex": GlyphSymbol("\\{", "piece"),
    "suppress": GlyphSymbol("-", "piece"),
    "barex": GlyphSymbol("|", "piece"),
    "bracehext": GlyphSymbol("\\overbracket", "accent"),
    "uni20D6.x": GlyphSymbol("\\overline", "accent"),
    "uni20D7.x": GlyphSymbol("\\overline", "accent"),
    "horizontal.x": GlyphSymbol("-", "operator"),
}


def _table() -> dict[str, GlyphSymbol]:
    table = dict(_PARTS_OF_ARROWS)
    for text, kind in (
        (_NAMES, "letter"),
        (_OPERATOR_NAMES, "operator"),
        (_RELATION_NAMES, "relation"),
        (_ARROW_NAMES, "arrow"),
        (_PUNCTUATION_NAMES, "punctuation"),
        (_ACCENT_NAMES, "accent"),
    ):
        words = text.split()
        pairs = zip(words[::2], words[1::2], strict=True)
        table |= {name: GlyphSymbol(latex, kind) for name, latex in pairs}  # type: ignore[arg-type]
    return table


_SYMBOLS = _table()
_LARGE_SYMBOLS = dict(zip(_LARGE_NAMES.split()[::2], _LARGE_NAMES.split()[1::2], strict=True))


def is_tex(font: str) -> bool:
    """Return whether a font belongs to TeX's families."""
    return bool(_FAMILIES.match(font))


def of_name(name: str) -> GlyphSymbol | None:
    """Return the symbol of a glyph name of TeX's fonts, or None if no table has it."""
    if name in _PARTS_OF_ARROWS:
        return _PARTS_OF_ARROWS[name]
    if match := _CODE_NAME.match(name):
        return of_character(chr(min(int(match[1], 16), 0x10FFFF)))
    plain = name.partition(".")[0]
    return _of_extension(name) or _SYMBOLS.get(name) or _SYMBOLS.get(plain)


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
    if (match := _LARGE.match(name)) and match[1] in _LARGE_SYMBOLS:
        return GlyphSymbol(_LARGE_SYMBOLS[match[1]], "large")
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
