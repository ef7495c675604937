"""Conversion of mhchem notation such as `\\ce{SO4^2-}` to plain LaTeX: `SO4^{2-}`."""

from __future__ import annotations

from functools import lru_cache

from glyphtex import lazy_re as re
from glyphtex.latex.signs import (
    ALIKE,
    COMMANDS,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    SYNONYMS,
    list_words,
)
from omibench.answers.prose import fold_words

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
_NUCLIDE = re.compile(r"(?:\^(\d{1,3})_(-?\d{1,3})|_(-?\d{1,3})\^(\d{1,3}))(?=\s*[A-Za-z])")
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
    text = _NUCLIDE.sub(lambda m: f"^{{{m[1] or m[4]}}}_{{{m[2] or m[3]}}}", text)
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


# Normalisation of LaTeX and Unicode: equal answers become equal strings.
#
# `tidy` preserves meaning: it never drops a digit, a sign, the case of a letter or a grouping
# brace. `glyphtex.latex` says which characters and commands print the same; here, signs that
# mean the same in an answer become equal as well, such as `⇒` and `→`, and text around formulas is
# kept as it is.

_SUPER, _SUB = str.maketrans(SUPERSCRIPTS), str.maketrans(SUBSCRIPTS)
_SUPER_RUN = re.compile(f"[{''.join(SUPERSCRIPTS)}]+")
_SUB_RUN = re.compile(f"[{''.join(SUBSCRIPTS)}]+")
_WRAPPERS = (
    "text|textnormal|textup|textsf|texttt|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|mathcal|mathbb|rm|bf|operatorname|mbox|hbox"
    "|boldsymbol|bm|emph|underline|mathop|boxed|fbox"
)
_INNER = r"(?:[^{}]++|\{[^{}]*+\})*+"
_WRAP = re.compile(rf"\\(?:{_WRAPPERS})\s*\*?\s*\{{({_INNER})\}}")
_LONG_ARROW = re.compile(
    r"\\xrightarrow\s*(?:\[[^\[\]]*\])?\s*\{[^{}]*\}|\\overset\s*\{[^{}]*\}\s*\{\\(?:long)?rightarrow\}"
)
_ION = re.compile(r"(?<=[A-Za-z\d)\]}])\^(\d[+-])(?!\s*[\w\\({])")
_ROOT = re.compile(r"√\s*(\d+(?:\.\d+)?|[A-Za-zπ](?![A-Za-z])|\([^()]*+\)|\{[^{}]*+\})")
_SCRIPT = re.compile(rf"([\^_])\s*{_WRAP.pattern}")
_SPACING = re.compile(
    r"\\[,;:!> ]|\\(?:quad|qquad|displaystyle|limits|nolimits|left|right|middle|[bB]igg?[lrm]?"
    r"|textstyle|(?:rm|bf|mathrm|mathbf)(?!\s*\{)|it|thinspace|medspace|hspace\{[^{}]*\}|phantom\{[^{}]*\})(?![A-Za-z])"
)
_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\s*\{(?:equation|align|gather|math)\*?\}|\\tag\{[^{}]*\}"
)
_SAME_PRINT = r"""
    \dfrac \tfrac \cfrac \geqslant \leqslant \ge \le \ne \lt \gt \cdotp \degree \textdegree \lvert
    \rvert \vert \mid \varnothing \rightleftarrows \ohm
"""
_SYNONYMS = {command: SYNONYMS[command] for command in _SAME_PRINT.split()} | {
    r"\rightarrow": r"\to", r"\longrightarrow": r"\to", r"\xrightarrow": r"\to",
    r"\Rightarrow": r"\to", r"\leftrightarrow": r"\rightleftharpoons",
    r"\leftrightharpoons": r"\rightleftharpoons", r"\epsilon": r"\varepsilon", r"\phi": r"\varphi",
    r"\vartheta": r"\theta", r"\approx": "≈", r"\simeq": "≈", r"\sim": "≈", r"\pm": "±",
    r"\infty": "∞", r"\ldots": "...", r"\dots": "...", r"\prime": "'", r"\circ": "°",
    r"\div": "/", r"\%": "%", r"\lbrace": "\\{", r"\rbrace": "\\}", r"\AA": "Å",
}  # fmt: skip
"""Commands that print the same, then those that mean the same in an answer."""
_COMMAND = re.compile(r"\\[A-Za-z]+")
_CHOOSE = re.compile(r"\{([^{}]*)\\choose(?![A-Za-z])([^{}]*)\}")
_SYMBOL = r"\s*(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[A-Za-z])"
_BOLD = rf"\\(?:mathbf|boldsymbol|bm){_SYMBOL}"
_LOW = r"(?:\s*_\s*(?:\{[^{}]*\}|\\?[A-Za-z0-9]))?"
_TIMES = r"\s*(?:\\(?:cdot|times)(?![A-Za-z])|[×·])\s*"
_OF_VECTORS = re.compile(rf"(?:{_BOLD}{_LOW}|\\nabla){_TIMES}{_BOLD}")
_BOLD_LETTER = re.compile(
    r"\\(?:mathbf|boldsymbol|bm)(?=\s*(?:\{\s*\\?[A-Za-z]+\s*\}|\\?[A-Za-z]))"
)
_VECTOR = (
    rf"(?:\\(?:nabla(?![A-Za-z])|(?:vec|overrightarrow|hat){_SYMBOL}{_LOW})"
    r"|\([^()]*\\(?:vec|overrightarrow|hat)(?![A-Za-z])[^()]*\))"
)
_DOT = re.compile(rf"({_VECTOR})\s*(?:\\cdot(?![A-Za-z])|·)\s*(?={_VECTOR})")
_BRACED = re.compile(r"\d+(?:\s*\{[,.]\}\s*\d+)+")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+")
_VULGAR = {
    sign: rf" \frac{{{top}}}{{{bottom}}}"
    for sign, top, bottom in (
        ("½", 1, 2), ("⅓", 1, 3), ("⅔", 2, 3), ("¼", 1, 4), ("¾", 3, 4), ("⅕", 1, 5), ("⅖", 2, 5),
        ("⅗", 3, 5), ("⅘", 4, 5), ("⅙", 1, 6), ("⅚", 5, 6), ("⅛", 1, 8), ("⅜", 3, 8), ("⅝", 5, 8),
        ("⅞", 7, 8),
    )
}  # fmt: skip
_MIXED = re.compile(r"(?<![\d.,/^_{])(\d+)\s+(\d{1,2})\s*/\s*(\d{1,2})(?![\d/.^])")
_MARKED = re.compile(r"[\\^_$*~&/{}]|[^\x00-\x7f]")
"""A text without any of these needs no normalisation except of its spaces."""
_SPACE = re.compile(r"\s+")
_END = re.compile(r"[.,;:]+$")
_MARKS = re.compile(r"\\[()\[\]]|\$+|\*\*|(?<!\\)~|&(?=\s*=)")
_BRACED_MARK = re.compile(r"\{([,.;:])\}")
_PRODUCT = re.compile(r"\\(?:times|cdot)(?![A-Za-z])|×|·")
_DEGREE = re.compile(r"\^\s*(?:\{\s*°\s*\}|°)")
_PRIMES = re.compile(r"\^\s*\{\s*('+)\s*\}")
_LONG_SCRIPT = re.compile(r"([\^_])\s*(\d+|[A-Za-z*+-])(?![}\w\\({])")
_SHORT_SCRIPT = re.compile(r"([\^_])\s*([A-Za-z0-9])")
_NAMED_INDEX = re.compile(r"_\s*(\\[A-Za-z]+)(?![A-Za-z]|\s*\{)")
_BARE_ARGUMENT = re.compile(r"\\(frac|sqrt)\s*(\d)(?=\s|\d|$|[^\w\s{])")
_BARE_DENOMINATOR = re.compile(r"\\frac\s*(\{[^{}]*\})\s*(\w)")
_MATRIX = re.compile(r"\\(begin|end)\s*\{(?:[pbB]|small)?matrix\}")
_BARE_NUMERATOR = re.compile(r"\\frac\s*(\d)(?=\s*\{)")
_BARE_FRACTION = re.compile(r"\\frac(?:\s+|(?=\d))([A-Za-z0-9])\s*([A-Za-z0-9])")
_ALIKE = "−–‐‑º˚℃’′"
_WRITTEN = "≤≥≠→⇒⟶⟹⇌⇄↔↓↑∅∼≃∠△÷παβγδθλμµρστφωΩ\u2126ΔεϵνκηψΣΓ⌊⌋⌈⌉"
"""Characters that are read as their command; answers keep others, such as ∪ and ±."""


def _read_sign(sign: str) -> str:
    text = _SYNONYMS.get(COMMANDS[sign], COMMANDS[sign])
    return f"{text} " if text.startswith("\\") else text


_UNICODE = str.maketrans(
    _VULGAR
    | {sign: ALIKE[ord(sign)] for sign in _ALIKE}
    | {sign: _read_sign(sign) for sign in _WRITTEN}
    | {"—": "-", "⋅": "·", "∙": "·", "Ø": r"\emptyset ", "➝": r"\to ", "➔": r"\to ", "“": '"',
       "”": '"', "‘": "'", "″": "''", "\u00a0": " ", "\u2009": " ", "\u202f": " "}
)  # fmt: skip
_VECTOR_SIGNS = list_words(r"\vec \mathbf \boldsymbol \bm \overrightarrow \hat \nabla")
_BETWEEN_NUMBERS = re.compile(r"(?<=\d)\s+(?=\d)(?!\d{3}(?!\d))")
MAX_CHARS = 4_000


@lru_cache(maxsize=8192)
def tidy(text: str) -> str:
    """Normalise an answer: no dollars, sizes, fonts or repeated spaces; plain braces.

    Unicode superscripts and subscripts become `^{...}` and `_{...}`; a single character after
    `^` or `_` gets braces; `{,}` and `{.}` become the decimal point, but `{,}` between thousands
    groups digits. The dot between two vectors remains distinct from ×, 2 1/3 is a mixed number,
    and matrices have round brackets. Only the first 4,000 characters are used.
    """
    text = text[:MAX_CHARS]
    if _MARKED.search(text):
        text = _plain_latex(text)
    text = _SPACE.sub(" ", text).strip()
    return _END.sub("", text).strip() if not text.endswith("...") else text


def _plain_latex(text: str) -> str:
    """Remove the marks of LaTeX, Markdown or Unicode from a text."""
    if "arrow" in text:
        text = _LONG_ARROW.sub(r"\\to ", text)
    if "^" in text:
        text = _ION.sub(r"^{\1}", text)
    if "\\ce" in text or "\\cf" in text:
        text = plain_mhchem(text)
    if not text.isascii():
        if "√" in text:
            text = _ROOT.sub(lambda m: rf"\sqrt{{{m.group(1).strip('(){}')}}}", text)
        text = _SUPER_RUN.sub(lambda m: f"^{{{m.group().translate(_SUPER)}}}", text)
        text = _SUB_RUN.sub(lambda m: f"_{{{m.group().translate(_SUB)}}}", text)
        text = text.translate(_UNICODE)
    return _tidy_text(_undress(text))


def _undress(text: str) -> str:
    """Remove environments, dollars and similar marks; bring numbers and matrices to one form."""
    if "\\" in text:
        text = _ENVIRONMENT.sub(" ", text)
    if "\\choose" in text:
        text = _CHOOSE.sub(r"\\binom{\1}{\2}", text)
    text = _MARKS.sub(" ", text).replace(r"\~", " ").replace("\\\\", " ")
    if "/" in text:
        text = _MIXED.sub(_join_mixed_number, text)
    if "matrix" in text:
        text = _MATRIX.sub(r"\\\1{pmatrix}", text)
    if "{," in text or "{." in text:
        text = _BRACED.sub(_point_or_group, text)
    return _BRACED_MARK.sub(r"\1", text) if "{" in text else text


def _tidy_text(text: str) -> str:
    """Bring commands, sizes, fonts and scripts to one spelling."""
    if "\\" in text:
        text = _COMMAND.sub(lambda m: _SYNONYMS.get(m.group(), m.group()), text)
        if any(sign in text for sign in _VECTOR_SIGNS):
            text = _vectors(text)
    text = _PRODUCT.sub(" × ", text)
    if "\\" in text:
        text = _unwrap(_SCRIPT.sub(r"\1{\2}", _SPACING.sub(" ", text)))
    if "^" in text or "_" in text:
        text = _PRIMES.sub(r"\1", _DEGREE.sub("°", text))
    text = text.replace(r"\%", "%").replace(r"\$", " ")
    if "^" in text or "_" in text:
        text = _LONG_SCRIPT.sub(r"\1{\2}", text)
        text = _SHORT_SCRIPT.sub(r"\1{\2}", text)
        text = _NAMED_INDEX.sub(r"_{\1}", text)
    if "\\" in text:
        text = _BARE_NUMERATOR.sub(r"\\frac{\1}", text)
        text = _BARE_FRACTION.sub(r"\\frac{\1}{\2}", text)
        text = _BARE_ARGUMENT.sub(r"\\\1{\2}", text)
        text = _BARE_DENOMINATOR.sub(r"\\frac\1{\2}", text)
    return text


_ENVIRONMENT_ROWS = re.compile(
    r"(?:\\left\s*[(\[.]|(?<=\\left)\\\{)?\s*\\begin\s*\{((?:[pbB]|small)?matrix|array|cases|aligned|split)\}"
    r"\s*(?:\{[lcr|\s]*\})?(.*?)\\end\s*\{\1\}(?:\s*\\right\s*[)\].])?",
    re.DOTALL,
)
_LISTS = ("cases", "aligned", "split")
_RELATES = re.compile(r"[=<>≤≥≠]|\\(?:[lg]eq?(?:slant)?|neq?|in)(?![A-Za-z])")
_WORD_OF_CONDITION = re.compile(r"\b(?:if|for|when|otherwise|else|odd|even)\b")
_BEFORE_CONDITION = re.compile(r"(?:\\text(?:rm)?\s*\{)?\s*(?:if|for|when)\b(?:\s*\})?")
_WITH_CONDITION = re.compile(r"(.+),\s*([^,]+)", re.DOTALL)


def flatten_environments(text: str) -> str:
    r"""Write matrices of a raw text as rows in brackets, [[1, 2], [3, 4]], and cases as a list.

    A column vector is a matrix with one entry in each row.
    """
    return _ENVIRONMENT_ROWS.sub(_write_rows, text) if "\\begin" in text else text


def _write_rows(match: re.Match[str]) -> str:
    rows = [row.strip() for row in re.split(r"\\\\(?:\[[^\]]*\])?|\\cr(?![a-z])", match[2])]
    cells = [[cell.strip() for cell in row.split("&")] for row in rows if row]
    listed = match[1] == "array" and all(_RELATES.search("".join(row)) for row in cells)
    if match[1] in _LISTS or listed or (match[1] == "array" and match[0].startswith("\\{")):
        conditions = [_write_condition([cell for cell in row if cell]) for row in cells]
        if all(conditions) and len(conditions) > 1:
            return " " + "; ".join(filter(None, conditions))
        return ", ".join(" ".join(row).strip(" ,;.") for row in cells)
    rows_in_brackets = ", ".join("[" + ", ".join(row) + "]" for row in cells)
    return f"[{rows_in_brackets}]"


def _write_condition(cells: list[str]) -> str | None:
    r"""Return the row x^2 & x \ge 0 of a function as "x^2 if x \ge 0"; None for another row."""
    if len(cells) == 1 and (alone := _WITH_CONDITION.fullmatch(cells[0].strip(" ,;."))):
        cells = [alone[1], alone[2]]
    if len(cells) != 2:
        return None
    value, condition = (cell.strip(" ,;.") for cell in cells)
    starts_with_sign = _RELATES.match(condition)
    if _RELATES.search(value) or starts_with_sign:
        return None
    if _WORD_OF_CONDITION.search(condition) and re.search(r"otherwise|else", condition):
        return f"{value} otherwise"
    written = _RELATES.search(condition) or _WORD_OF_CONDITION.search(condition)
    return (
        rf"{value} \text{{ if }} {_BEFORE_CONDITION.sub('', condition, count=1)}"
        if written
        else None
    )


def _join_mixed_number(match: re.Match[str]) -> str:
    """Return 2 1/3 as 2\\frac{1}{3}; keep two numbers if the second is not a proper fraction."""
    integer, top, bottom = match.groups()
    return rf"{integer}\frac{{{top}}}{{{bottom}}}" if 0 < int(top) < int(bottom) else match.group()


def _point_or_group(match: re.Match[str]) -> str:
    """Return 1{,}024 as 1,024; 0{,}657, 57{,}35 and 3{.}141 with a decimal point."""
    digits = re.sub(r"[\s{}]", "", match.group())
    return digits if _GROUPED.fullmatch(digits) else re.sub("[,.]", ".", digits)


def _vectors(text: str) -> str:
    """Mark bold letters in products as vectors, and give the scalar product a distinct dot."""
    if _OF_VECTORS.search(text):
        text = _BOLD_LETTER.sub(r"\\vec ", text)
    return _DOT.sub(r"\1 ⋅ ", text)


def _unwrap(text: str) -> str:
    for _ in range(20):
        plain = _WRAP.sub(r" \1 ", text)
        if plain == text:
            break
        text = plain
    return text


@lru_cache(maxsize=8192)
def squash(text: str) -> str:
    """Return `tidy` without spaces: answers with equal `squash` are the same answer.

    Two numbers remain two ("2 1" is not 21), except digits in groups of three.
    """
    return re.sub(r"\s+", "", _BETWEEN_NUMBERS.sub("\x01", tidy(text)))


def fold(text: str) -> str:
    """Return `squash` in lower case, for labels and option letters."""
    return squash(text).casefold()


_DROPS_DIGITS = ("space", "phantom", "tag", "arrow", "overset", "\\ce", "\\cf")
"""Commands with an argument that `tidy` drops."""
_NOT_DIGITS = bytes(code for code in range(256) if not 48 <= code <= 57)
_NOT_ALPHANUMERIC = bytes(code for code in range(256) if not chr(code).isalnum() or code > 127)


def _have_other_letters(a: str, b: str) -> bool:
    """Return whether letters or digits tell apart two texts in which `tidy` changes none.

    That is much faster than `squash`. Where there are commands, only digits are compared.
    """
    if len(a) > MAX_CHARS or len(b) > MAX_CHARS or not (a.isascii() and b.isascii()):
        return False
    commands = "\\" in a or "\\" in b
    if commands and any(word in a or word in b for word in _DROPS_DIGITS):
        return False
    other = _NOT_DIGITS if commands else _NOT_ALPHANUMERIC
    kept = [text.encode("ascii").translate(None, other).lower() for text in (a, b)]
    return kept[0] != kept[1]


@lru_cache(maxsize=4096)
def same_text(a: str, b: str) -> bool:
    """Return whether two texts differ only in markup; case is ignored only in ordinary words."""
    if _have_other_letters(a, b):
        return False
    if squash(a) == squash(b):
        return squash(a) != "" or a.strip() == b.strip()
    return fold(a) == fold(b) != "" and squash(fold_words(tidy(a))) == squash(fold_words(tidy(b)))
