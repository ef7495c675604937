"""Tokens of a formula, including Unicode characters that have LaTeX commands."""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

from glyphtex import lazy_re as re
from glyphtex.latex.signs import (
    ALIKE,
    ARGUMENTS,
    ARROWS_WITH_TEXT,
    COMMANDS,
    FONTS,
    FUNCTIONS,
    NEW_CELL,
    NEW_ROW,
    PRIME,
    SIZED,
    SPACES,
    SPACES_WITH_LENGTH,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    SWITCHES,
    SYNONYMS,
    Atom,
    build_command,
    build_rows,
    join_pieces,
    make_atom,
    write_row,
)

_TOKEN: Final = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_ALPHABETS: Final = {
    "DOUBLE-STRUCK": "bb", "SCRIPT": "cal", "FRAKTUR": "frak", "BLACK-LETTER": "frak",
    "SANS-SERIF": "sf", "MONOSPACE": "tt",
}  # fmt: skip


class LatexToken(NamedTuple):
    """A command, a character or a run of spaces, and its position in the source."""

    text: str
    start: int
    end: int


def split_tokens(latex: str) -> list[LatexToken]:
    """Split a formula into tokens that together cover all of it."""
    return [LatexToken(match.group(), *match.span()) for match in _TOKEN.finditer(latex)]


def unify_characters(latex: str) -> str:
    """Replace characters that look the same by one, so that a minus is a hyphen.

    Args:
        latex: Formula that can contain Unicode characters instead of commands.
    """
    return unicodedata.normalize("NFC", latex).translate(ALIKE)


def read_character(character: str) -> tuple[str, str]:
    """Return the meaning of a character in a formula.

    Args:
        character: A single character.

    Returns:
        Its LaTeX without a font, and its font: `ℝ` is `R` in `bb`, `𝛼` is `\\alpha`.
    """
    if character in COMMANDS:
        return COMMANDS[character], ""
    if character.isascii():
        return character, ""
    name = unicodedata.name(character, "").split()
    plain = unicodedata.normalize("NFKC", character)
    if len(plain) != 1 or plain == character:
        return character, ""
    font = next((_ALPHABETS[word] for word in name if word in _ALPHABETS), "")
    if not font and "MATHEMATICAL" in name and "BOLD" in name:
        font = "bf"
    return COMMANDS.get(plain, plain), font


def read_script(character: str) -> tuple[str, str] | None:
    """Return `^` or `_` and the plain character of a raised or lowered one such as `²`, or None."""
    if character == "°":
        return "^", r"\circ"
    if character in SUPERSCRIPTS:
        return "^", SUPERSCRIPTS[character]
    return ("_", SUBSCRIPTS[character]) if character in SUBSCRIPTS else None


# Notation of mhchem as plain LaTeX.

_ARROW: Final = re.compile(r"\s*(<=>>|<<=>|<=>|<-->|<->|->|<-)((?:\[[^\[\]]*\]){0,2})\s*")
_ARROWS: Final = {
    "->": r"\rightarrow", "<-": r"\leftarrow", "<->": r"\leftrightarrow",
    "<-->": r"\rightleftharpoons", "<=>": r"\rightleftharpoons",
    "<=>>": r"\rightleftharpoons", "<<=>": r"\rightleftharpoons",
}  # fmt: skip
_VARIABLE: Final = re.compile(r"([_^])\{([a-z])(?=[+-]?\})")
_SIGN_OF_PHASE: Final = re.compile(r"(?<=\s)(v|\^)(?=\s|$)")
_SIGNS_OF_PHASE: Final = {"v": r"\downarrow", "^": r"\uparrow"}
_STATE: Final = re.compile(r"\s+(?=\((?:s|l|g|aq)\))")
_DOT: Final = re.compile(r"\s*(?:\*|·|\\cdot(?![A-Za-z]))\s*|(?<=[A-Za-z\d)\]}])\.(?=\d*[A-Z(])")
_SPACED_COEFFICIENT: Final = re.compile(r"(?:(?<=^)|(?<=[\s.]))(\d+(?:/\d+)?)\s+(?=[A-Z(\[])")
_LOWERED: Final = re.compile(r"_(\{[^{}]*\}|[A-Za-z0-9])")
_RAISED: Final = re.compile(r"\^(\{[^{}]*\}|[a-z\d]?\d*[+-]|[+-]\d+|\d+|[A-Za-z.*])")
_CHARGE: Final = re.compile(r"(?<=[A-Za-z\d)\]}])([+-])(?=$|\)|\]|\(|,)")
_SCRIPTS: Final = re.compile(r"(\^\{[^{}]*\})(_\{[^{}]*\})")
_INDEX: Final = re.compile(r"(?<=[A-Za-z)\]])(\d+)(?![^{}]*\})")


def write_chemistry(source: str) -> str:
    r"""Convert the content of `\ce{...}` to plain LaTeX: `\ce{Na+ -> X}` is `Na^{+} \rightarrow X`.

    Args:
        source: Content without `\ce` and its braces; letters are upright, except a variable in a
            script.
    """
    source = source.replace("−", "-").replace("⇌", "<=>").replace("→", "->")
    first, *rest = _ARROW.split(source)
    pieces = [_write_substances(first)]
    for arrow, labels, substances in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        pieces += [_write_arrow(arrow, labels), _write_substances(substances)]
    text = _VARIABLE.sub(r"\1{\\mathit{\2}", " ".join(pieces))
    text = _SIGN_OF_PHASE.sub(lambda match: _SIGNS_OF_PHASE[match[1]], text)
    return text.replace(".", r"\cdot ").replace("#", r"\equiv ")


def _write_arrow(arrow: str, labels: str) -> str:
    text = _ARROWS[arrow]
    above, below = (*re.findall(r"\[([^\[\]]*)\]", labels), "", "")[:2]
    text = rf"\overset{{{above}}}{{{text}}}" if above else text
    return rf"\underset{{{below}}}{{{text}}}" if below else text


def _write_substances(text: str) -> str:
    """Write what is between two arrows; the dot of a hydrate becomes a full stop."""
    text = _DOT.sub(".", _STATE.sub("", text.strip()))
    return " ".join(map(_write_substance, _SPACED_COEFFICIENT.sub(r"\1", text).split()))


def _write_substance(word: str) -> str:
    """Write indices and charges as scripts in braces."""
    if word in {"+", "-", "=", "v", "^"}:
        return word
    word = _RAISED.sub(lambda match: f"^{{{match[1].strip('{}')}}}", word)
    word = _CHARGE.sub(r"^{\1}", word)
    word = _LOWERED.sub(lambda match: f"_{{{match[1].strip('{}')}}}", word)
    return _SCRIPTS.sub(r"\2\1", _INDEX.sub(r"_{\1}", word))


# Parser of formulas into atoms; formulas that print the same give the same text.

_LENGTH: Final = re.compile(r"\s*\[\s*-?[\d.]+\s*[a-z]{2}\s*\]")
_FRACTIONS: Final = {r"\over": "frac", r"\choose": "binom", r"\atop": "atop"}


class LatexParser:
    """Parses one formula; unclosed braces end with it, unmatched closing ones are dropped.

    The caller limits the depth of the braces: parsing is recursive.
    """

    def __init__(self, latex: str) -> None:
        self._source = latex
        self._tokens = split_tokens(latex)
        self._place = 0

    def read_formula(self, font: str = "") -> list[Atom]:
        """Parse everything, with a default font for letters."""
        atoms: list[Atom] = []
        while self._place < len(self._tokens):
            atoms += self._read_row(frozenset({"}"}), font)
            self._place += 1
        while atoms and atoms[-1] == Atom(NEW_ROW):
            atoms.pop()
        return atoms

    # -- rows ---------------------------------------------------------------------------------

    def _read_row(self, stops: frozenset[str], font: str) -> list[Atom]:
        """Return atoms up to one of the tokens `stops`, which is not consumed, or to the end."""
        atoms: list[Atom] = []
        while (token := self._look()) not in stops and token:
            if token in _FRACTIONS:
                self._place += 1
                below = write_row(self._read_row(stops, font))
                name = _FRACTIONS[token]
                return [Atom(f"\\{name}{{{write_row(atoms)}}}{{{below}}}")]
            if token in SWITCHES:
                self._place += 1
                font = SWITCHES[token].strip("-")
                continue
            self._read_nucleus_with_scripts(atoms, font)
        return atoms

    def _read_nucleus_with_scripts(self, atoms: list[Atom], font: str) -> None:
        """Parse the next nucleus with its scripts to the end of a row."""
        is_group = self._look() == "{"
        is_script = self._look() in {"^", "_", "'"} or self._is_script_character()
        nucleus = [] if is_script else self._read_nucleus(font)
        sub, sup = self._read_scripts(font)
        if not sub and not sup:
            atoms += nucleus
            return
        if not nucleus and sup == r"\circ" and not sub and atoms and not atoms[-1].sup:
            atoms[-1] = atoms[-1]._replace(sup=sup)
            return
        if not nucleus:
            nucleus = [Atom("{}")]
        elif nucleus[-1].has_scripts or nucleus[-1].text == NEW_ROW:
            nucleus = [Atom(f"{{{write_row(nucleus)}}}")] if is_group else [*nucleus, Atom("{}")]
        atoms += [*nucleus[:-1], nucleus[-1]._replace(sub=sub, sup=sup)]

    def _read_scripts(self, font: str) -> tuple[str, str]:
        """Return subscript and superscript after a nucleus; the latter starts with primes."""
        scripts = {"_": "", "^": ""}
        while True:
            token = SYNONYMS.get(self._look(), self._look())
            if token == PRIME:
                if scripts["^"].replace(r"\prime", ""):
                    break
                self._place += 1
                scripts["^"] += r"\prime"
                continue
            raised = read_script(token) if token else None
            sign = raised[0] if raised else token
            if sign not in scripts or scripts[sign].replace(r"\prime", ""):
                break
            self._place += 1
            text = self._read_raised(sign, raised[1]) if raised else self._read_argument(font)
            scripts[sign] = join_pieces([scripts[sign], text])
        return scripts["_"], scripts["^"]

    def _read_raised(self, sign: str, text: str) -> str:
        """Return a run of raised or lowered characters, of which `text` is the first."""
        while (script := read_script(self._look() or " ")) and script[0] == sign:
            text = join_pieces([text, script[1]])
            self._place += 1
        return text

    # -- a nucleus ----------------------------------------------------------------------------

    def _read_nucleus(self, font: str) -> list[Atom]:
        """Return the atoms of the next token with its arguments."""
        token = self._take()
        if token.text == "{":
            return self._read_group(font)
        if token.text in {"}", NEW_CELL, "$"}:
            return []
        if token.text.startswith("\\") and token.text != NEW_ROW:
            return self._read_command(token, font)
        if token.text == NEW_ROW:
            return [Atom(NEW_ROW)]
        if self._source[token.start : token.start + 3] == "...":
            self._place += 2
            return [Atom(r"\ldots")]
        text, alphabet = read_character(token.text)
        return [make_atom(SYNONYMS.get(text, text), alphabet or font)]

    def _read_group(self, font: str) -> list[Atom]:
        atoms = self._read_row(frozenset({"}"}), font)
        self._place += 1
        return atoms

    def _read_command(self, token: LatexToken, font: str) -> list[Atom]:
        name = SYNONYMS.get(token.text, token.text)
        if name in FONTS:
            return self._read_font(name, font)
        if name[1:] in FUNCTIONS:
            return [make_atom(letter, "rm") for letter in name[1:]]
        if name in ARGUMENTS:
            return self._read_arguments(name, font)
        if name == r"\begin":
            return self._read_environment(font)
        if name in {r"\ce", r"\cf", r"\end"}:
            source = self._read_source()
            is_chemistry = name != r"\end"
            return LatexParser(write_chemistry(source)).read_formula("rm") if is_chemistry else []
        return [make_atom(name, font)]

    def _read_font(self, name: str, font: str) -> list[Atom]:
        if name == r"\operatorname" and self._look() == "*":
            self._place += 1
        chosen_font = FONTS[name].strip("-")
        return self._read_argument_atoms(chosen_font or ("" if name == r"\mathit" else font))

    def _read_arguments(self, name: str, font: str) -> list[Atom]:
        options: list[str] = []
        while name in {r"\sqrt", *ARROWS_WITH_TEXT} and self._look() == "[" and not options:
            self._place += 1
            options.append(write_row(self._read_row(frozenset({"]", "}"}), font)))
            self._place += self._look() == "]"
        arguments = [self._read_argument_atoms(font) for _ in range(ARGUMENTS[name])]
        return build_command(name, options, arguments)

    def _read_environment(self, font: str) -> list[Atom]:
        name = self._read_name()
        if name in {"array", "alignat", "alignedat", "tabular"}:
            self._read_source()
        rows: list[list[list[Atom]]] = [[[]]]
        while (token := self._look()) and token not in {r"\end", "}"}:
            if token == NEW_CELL:
                self._place += 1
                rows[-1].append([])
            elif token == NEW_ROW:
                self._place += 1
                self._skip_length()
                rows.append([[]])
            else:
                rows[-1][-1] += self._read_row(frozenset({"&", NEW_ROW, r"\end", "}"}), font)
        if self._look() == r"\end":
            self._place += 1
            self._read_name()
        while len(rows) > 1 and not any(rows[-1]):
            rows.pop()
        return build_rows(name, rows)

    # -- arguments ----------------------------------------------------------------------------

    def _read_argument(self, font: str) -> str:
        return write_row(self._read_argument_atoms(font))

    def _read_argument_atoms(self, font: str) -> list[Atom]:
        """Return a group, or the next token with its arguments."""
        token = self._look()
        if not token or token in {"}", "&", "^", "_", NEW_ROW}:
            return []
        return self._read_nucleus(font)

    def _read_source(self) -> str:
        """Return the source of a group unchanged, or the next token."""
        if self._look() != "{":
            return self._take().text if self._look() else ""
        start, depth = self._tokens[self._place].end, 0
        while self._place < len(self._tokens):
            token = self._tokens[self._place]
            self._place += 1
            depth += {"{": 1, "}": -1}.get(token.text, 0)
            if depth == 0:
                return self._source[start : token.start]
        return self._source[start:]

    def _read_name(self) -> str:
        """Return the name of an environment without its star."""
        return re.sub(r"[\s*]", "", self._read_source())

    # -- tokens -------------------------------------------------------------------------------

    def _look(self) -> str:
        """Return the next token that prints something; empty at the end."""
        self._skip_spaces()
        return self._tokens[self._place].text if self._place < len(self._tokens) else ""

    def _take(self) -> LatexToken:
        self._skip_spaces()
        self._place += 1
        return self._tokens[self._place - 1]

    def _is_script_character(self) -> bool:
        token = SYNONYMS.get(self._look(), self._look())
        return len(token) == 1 and read_script(token) is not None

    def _skip_spaces(self) -> None:
        while self._place < len(self._tokens):
            token = self._tokens[self._place].text
            if token in SIZED:
                self._place += 1
                self._skip_sized()
            elif token in SPACES_WITH_LENGTH:
                self._place += 1
                self._skip_star()
                self._read_source()
            elif token in SPACES or token.isspace():
                self._place += 1
            else:
                return

    def _skip_star(self) -> None:
        if self._place < len(self._tokens) and self._tokens[self._place].text == "*":
            self._place += 1

    def _skip_sized(self) -> None:
        """Return the delimiter after `\\left` etc.: a full stop is empty, `<` an angle bracket."""
        while self._place < len(self._tokens) and self._tokens[self._place].text.isspace():
            self._place += 1
        if self._place == len(self._tokens):
            return
        token = self._tokens[self._place]
        if token.text == ".":
            self._place += 1
        elif token.text in {"<", ">"}:
            bracket = r"\langle" if token.text == "<" else r"\rangle"
            self._tokens[self._place] = token._replace(text=bracket)

    def _skip_length(self) -> None:
        """Skip the row distance after `\\\\`, as in `\\\\[2pt]`."""
        if self._place < len(self._tokens):
            start = self._tokens[self._place].start
            if match := _LENGTH.match(self._source, start):
                while self._place < len(self._tokens) and (
                    self._tokens[self._place].start < match.end()
                ):
                    self._place += 1
