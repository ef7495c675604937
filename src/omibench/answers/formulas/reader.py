"""Reader of plain formulas: LaTeX to programs of a stack machine over complex numbers.

It reads numbers, the renamed symbols x_{0}, x_{1}, ... of `formula.neutral`, e, pi, the four
operations, powers, roots, fractions, brackets, bars and the common functions. For any other text
it returns None. Time and memory are linear in the text.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.formulas.machine import (
    ACCENTS,
    ADD,
    BINOMIAL,
    CEILING,
    CONSTANTS,
    FACTORIAL,
    FLOOR,
    FUNCTIONS,
    INDEX,
    INVERSE,
    LOG,
    NEGATE,
    OF_TWO,
    OPAQUE,
    OVER,
    POWER,
    REMAINDER,
    ROOT,
    SIZE,
    SQUARE_ROOT,
    TIMES,
    Loop,
    Operation,
    Program,
    Step,
    Symbol,
)

MAX_CHARS = 2_000
MAX_DEPTH = 40
MAX_SYMBOLS = 64

Reach = Literal["factor", "product", "term"]
REACHES: tuple[Reach, ...] = ("product", "term", "factor")
r"""Extent of the argument of a function without brackets: in `\sin a b / c` it is a, ab or ab/c.
With "factor" a product also binds no tighter than a slash: 1/2 x is half of x.
"""


_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?|\.\d+)|x_\{(?P<symbol>\d+)\}|\\(?P<command>[a-z]+)"
    r"|(?P<mark>[-+*/×^_(){}\[\]|!=,]|e(?![A-Za-z])))"
)
_CLOSES = {"(": ")", "[": "]", "{": "}", "|": "|"}


class _Unreadable(Exception):
    """The reader does not support the text."""


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "")
_CALLED = FUNCTIONS | OPAQUE
_NOT_OPERANDS = ("rfloor", "rceil", "bmod")


@lru_cache(maxsize=8_192)
def readings(text: str) -> tuple[Program, ...]:
    """Return the programs of a text, one per reading; () if it cannot be parsed."""
    tokens = _tokens(text)
    if tokens is None:
        return ()
    try:
        first = _Reader(tokens, REACHES[0])
        program = first.whole()
        if not first.ambiguous:
            return (program,)
        other_programs = (_Reader(tokens, reach).whole() for reach in REACHES[1:])
        return tuple(dict.fromkeys((program, *other_programs)))
    except _Unreadable:
        return ()


def _tokens(text: str) -> list[_Token] | None:
    text = text.strip()
    if not 0 < len(text) <= MAX_CHARS or text.startswith("\\{"):  # this is a set
        return None
    text = text.replace("\\{", "(").replace("\\}", ")").replace("√", "\\sqrt ")
    tokens, end = list[_Token](), 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        if match is None or match.lastgroup is None:
            return None
        tokens.append(_Token(match.lastgroup, match[match.lastgroup]))
        end = match.end()
    return [*tokens, _END]


class _Reader:
    """Recursive descent over the tokens of one text under one reach."""

    def __init__(self, tokens: list[_Token], reach: Reach) -> None:
        self._tokens, self._at, self._reach = tokens, 0, reach
        self._steps: list[Step] = []
        self._depth = 0
        self._bars: list[int] = []
        self.ambiguous = False

    def whole(self) -> Program:
        self._sum()
        if self._now.kind != "end":
            raise _Unreadable
        return tuple(self._steps)

    @property
    def _now(self) -> _Token:
        return self._tokens[self._at]

    def _take(self, mark: str) -> bool:
        is_next = self._now == _Token("mark", mark)
        self._at += is_next
        return is_next

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            raise _Unreadable

    def _sum(self) -> None:
        self._term()
        while self._now.text in ("+", "-"):
            minus = self._take("-") or not self._take("+")
            self._term()
            self._steps += (NEGATE, ADD) if minus else (ADD,)

    def _term(self) -> None:
        self._signed_product()
        divided = False
        while True:
            if self._take("×") or self._take("*"):
                self._signed_product()
                self._steps.append(TIMES)
            elif self._take("/"):
                divided = True
                self._signed_product()
                self._steps.append(OVER)
            elif self._now == _Token("command", "bmod"):
                self._at += 1
                self._signed_product()
                self._steps.append(REMAINDER)
            elif self._starts_operand():  # only under "factor"
                self._power()
                self._steps.append(TIMES)
            else:
                return
            self.ambiguous |= divided and self._starts_operand()

    def _signed_product(self) -> None:
        minus = False
        while self._now.text in ("+", "-"):
            minus ^= self._now.text == "-"
            self._at += 1
        if self._reach == "factor":
            self._power()
        else:
            self._product()
        if minus:
            self._steps.append(NEGATE)

    def _product(self) -> None:
        after_stroke = self._tokens[self._at - 1].text == "/" if self._at else False
        self._power()
        while self._starts_operand():
            self.ambiguous |= after_stroke
            self._power()
            self._steps.append(TIMES)

    def _starts_operand(self) -> bool:
        kind, text = self._now
        if kind == "number" and self._tokens[self._at - 1].kind == "number":
            raise _Unreadable  # 2 3 and 1 \frac{1}{2} are not products
        if kind == "mark":
            return text in ("(", "[", "{", "e") or (text == "|" and not self._closes_bar())
        return kind in ("number", "symbol") or (kind == "command" and text not in _NOT_OPERANDS)

    def _closes_bar(self) -> bool:
        return bool(self._bars) and self._bars[-1] == self._depth

    def _power(self) -> None:
        self._atom()
        if self._take("_"):
            self._script()
            self._steps.append(INDEX)
        if self._take("!"):
            self._steps.append(FACTORIAL)
            if self._now.text == "!":
                raise _Unreadable
        if self._take("^"):
            self._script()
            self._steps.append(POWER)
            if self._now.text == "^":
                raise _Unreadable

    def _atom(self) -> None:
        kind, text = self._now
        if kind == "mark" and text in _CLOSES:
            self._group()
            return
        before = self._tokens[self._at - 1].kind if self._at else ""
        self._at += 1
        if kind == "number":
            self._steps.append(complex(float(text)))
        elif kind == "symbol" and len(text) < 3 and int(text) < MAX_SYMBOLS:
            self._steps.append(Symbol(int(text)))
        elif (kind, text) == ("mark", "e"):
            self._steps.append(complex(cmath.e))
        elif kind == "command":
            after = self._tokens[self._at + 1 : self._at + 2]
            mixed = before == "number" and after and after[0].kind == "number"
            if text == "frac" and mixed:
                raise _Unreadable
            self._command(text)
        else:
            raise _Unreadable

    def _group(self) -> None:
        """Parse one bracketed sum."""
        opener = self._now.text
        self._at += 1
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Unreadable
        if opener == "|":
            self._bars.append(self._depth)
        self._sum()
        self._expect(_CLOSES[opener])
        self._depth -= 1
        if opener == "|":
            self._bars.pop()
            self._steps.append(SIZE)

    def _script(self) -> None:
        r"""Parse the operand of ^, _, \frac or \sqrt: a group in braces, or one token."""
        kind, text = self._now
        if kind == "mark" and text in ("{", "("):
            self._group()
        elif kind in ("number", "symbol") or text == "e" or text in CONSTANTS:
            self._atom()
        else:
            raise _Unreadable

    def _command(self, name: str) -> None:
        if name in CONSTANTS:
            self._steps.append(CONSTANTS[name])
        elif name in ("frac", "dfrac", "tfrac", "binom", "dbinom", "tbinom"):
            if self._now.text != "{":
                raise _Unreadable
            self._script()
            self._script()
            self._steps.append(BINOMIAL if name.endswith("binom") else OVER)
        elif name in ("lfloor", "lceil"):
            self._sum()
            if self._now != _Token("command", f"r{name[1:]}"):
                raise _Unreadable
            self._at += 1
            self._steps.append(FLOOR if name == "lfloor" else CEILING)
        elif name in OF_TWO:
            self._list_arguments(OF_TWO[name])
        elif name in ("sum", "prod") and self._take("_"):
            self._loop(is_product=name == "prod")
        elif name == "sqrt":
            indexed = self._now.text == "["
            if indexed:
                self._group()
            self._atom()
            self._steps.append(ROOT if indexed else SQUARE_ROOT)
        elif name in ACCENTS:
            self._script()
            self._steps.append(ACCENTS[name])
        elif name in _CALLED:
            self._function(name)
        else:
            raise _Unreadable

    def _list_arguments(self, does: Operation) -> None:
        """Parse two or more arguments in brackets: (12, 18)."""
        closes = _CLOSES.get(self._now.text)
        if closes is None or not (self._take("(") or self._take("{")):
            raise _Unreadable
        self._sum()
        while self._take(","):
            self._sum()
            self._steps.append(does)
        self._expect(closes)

    def _loop(self, is_product: bool) -> None:
        r"""Parse the bounds and the term of \sum_{k=1}^{n} k^{2} after its underscore."""
        self._expect("{")
        kind, text = self._now
        self._at += 1
        self._expect("=")
        if kind != "symbol" or len(text) > 2 or int(text) >= MAX_SYMBOLS:
            raise _Unreadable
        low = self._apart(self._sum)
        self._expect("}")
        self._expect("^")
        high = self._apart(self._script)
        body = self._apart(self._term)
        self._steps.append(Loop(int(text), low, high, body, is_product))

    def _apart(self, parse: Callable[[], None]) -> Program:
        """Return the steps of what `parse` reads, without adding them."""
        steps, self._steps = self._steps, []
        try:
            parse()
            return tuple(self._steps)
        finally:
            self._steps = steps

    def _function(self, name: str) -> None:
        does, based = Operation(1, _CALLED[name]), False
        if name == "log" and self._take("_"):
            self._script()
            does, based = LOG, True
        start = len(self._steps)
        if self._take("^"):
            self._script()
        power = self._steps[start:]
        del self._steps[start:]
        if power == [complex(1), NEGATE] and name in INVERSE:
            does, power = Operation(1, INVERSE[name]), []
        if based and power:
            raise _Unreadable
        self._argument()
        self._steps.append(does)
        if power:
            self._steps += (*power, POWER)

    def _argument(self) -> None:
        if self._now.kind == "mark" and self._now.text in "([{|":
            self._group()
            return
        self._argument_power()
        while self._argument_continues():
            if self._reach == "factor":
                return
            stroke = self._take("/")
            if stroke or self._take("×") or self._take("*"):
                if self._reach == "product":
                    self._at -= 1
                    return
                self._argument_power()
                self._steps.append(OVER if stroke else TIMES)
            else:
                self._argument_power()
                self._steps.append(TIMES)

    def _argument_power(self) -> None:
        """Parse a factor of an argument; a number takes the next factor: 2 x is one factor."""
        kind = self._now.kind
        if kind == "command" and self._now.text in _CALLED:
            raise _Unreadable
        self._power()
        if (
            kind == "number"
            and self._now.kind in ("symbol", "command")
            and self._argument_continues()
        ):
            self._power()
            self._steps.append(TIMES)

    def _argument_continues(self) -> bool:
        """Return whether the argument can continue, with anything but a sum or another function."""
        kind, text = self._now
        function = kind == "command" and text in _CALLED
        if function or not (text in ("×", "*", "/") or self._starts_operand()):
            return False
        self.ambiguous = True
        return True
