"""Stack machine over complex numbers that evaluates the programs of `reader`."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Literal, NamedTuple

from glyphtex import lazy_re as re


class Symbol(NamedTuple):
    """Push the value of the symbol with this index."""

    place: int


class Operation(NamedTuple):
    """Replace the top `takes` values by the result of `does`."""

    takes: int
    does: Callable[..., complex]


class Loop(NamedTuple):
    r"""Push a sum or product of `body` for each integer from `low` to `high`: \sum_{k=1}^{n}."""

    place: int
    low: Program
    high: Program
    body: Program
    is_product: bool


Step = complex | Symbol | Operation | Loop
Program = tuple[Step, ...]


class Unstable(ArithmeticError):
    """A sum in which cancellation left no significant digits."""


_CANCELLED = 1e-9
_MAX_DOUBLE = 300


def _add(a: complex, b: complex) -> complex:
    total = a + b
    if abs(total) < _CANCELLED * abs(a):
        raise Unstable
    return total


def _root(n: complex, a: complex) -> complex:
    """Return the n-th root; of a negative number, the real one where there is one."""
    if a.imag == 0 > a.real and n.real % 2 == 1 and n.imag == 0:
        return -((-a) ** (1 / n))
    return a ** (1 / n)


def _real(a: complex) -> float:
    if abs(a.imag) > _CANCELLED * abs(a):
        raise Unstable
    return a.real


def _integer(a: complex) -> int:
    nearest = round(_real(a))
    if abs(a.real - nearest) > _CANCELLED * max(1.0, abs(a.real)):
        raise Unstable
    return nearest


def _factorial(a: complex) -> complex:
    return complex(math.gamma(_real(a) + 1))


def _binomial(n: complex, k: complex) -> complex:
    return _factorial(n) / (_factorial(k) * _factorial(n - k))


def _double_factorial(a: complex) -> complex:
    n = _integer(a)
    if not -1 <= n <= _MAX_DOUBLE:
        raise Unstable
    return complex(math.prod(range(n, 0, -2)))


def _opaque(kind: int) -> Callable[[complex], complex]:
    """Return a placeholder for a sum, a mean or a vector: equal only for equal arguments."""
    return lambda a: cmath.sin(kind * a) + a / kind


ADD = Operation(2, _add)
NEGATE = Operation(1, lambda a: 0 - a)  # -a would give -4-0i, whose root is not 2i
TIMES, OVER = Operation(2, lambda a, b: a * b), Operation(2, lambda a, b: a / b + 0)
# + 0: a quotient with -0i would be on the other side of the cut of a logarithm
POWER, ROOT = Operation(2, lambda a, b: a**b), Operation(2, _root)
SQUARE_ROOT, SIZE = Operation(1, cmath.sqrt), Operation(1, lambda a: complex(abs(a)))
LOG = Operation(2, lambda base, a: cmath.log(a) / cmath.log(base))
FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "cot": lambda a: 1 / cmath.tan(a),
    "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan, "sinh": cmath.sinh,
    "cosh": cmath.cosh, "tanh": cmath.tanh, "ln": cmath.log, "exp": cmath.exp,
    "sec": lambda a: 1 / cmath.cos(a), "csc": lambda a: 1 / cmath.sin(a),
    "cosec": lambda a: 1 / cmath.sin(a), "coth": lambda a: 1 / cmath.tanh(a),
    "sech": lambda a: 1 / cmath.cosh(a), "csch": lambda a: 1 / cmath.sinh(a),
    "arcsinh": cmath.asinh, "arccosh": cmath.acosh, "arctanh": cmath.atanh,
    "arccot": lambda a: cmath.pi / 2 - cmath.atan(a), "lg": cmath.log10,
    "log": cmath.log10, "sum": _opaque(1), "prod": _opaque(2), "int": _opaque(3),
    "oint": _opaque(4), "semifactorial": _double_factorial,
}  # fmt: skip
ACCENTS = {
    name: Operation(1, _opaque(kind))
    for kind, name in enumerate(
        ("vec", "dot", "ddot", "bar", "hat", "overline", "tilde", "overrightarrow"), start=5
    )
}
INDEX = Operation(2, lambda a, index: cmath.sin(a) * cmath.cos(index) + a * index)
INVERSE = {
    "sin": cmath.asin, "cos": cmath.acos, "tan": cmath.atan, "cot": FUNCTIONS["arccot"],
    "sinh": cmath.asinh, "cosh": cmath.acosh, "tanh": cmath.atanh,
}  # fmt: skip
FACTORIAL, BINOMIAL = Operation(1, _factorial), Operation(2, _binomial)
DOUBLE_FACTORIAL = Operation(1, FUNCTIONS["semifactorial"])
FLOOR = Operation(1, lambda a: complex(math.floor(_real(a) + _CANCELLED)))
CEILING = Operation(1, lambda a: complex(math.ceil(_real(a) - _CANCELLED)))
REMAINDER = Operation(2, lambda a, b: complex(_integer(a) % _integer(b)))
OF_TWO: dict[str, Operation] = {
    "max": Operation(2, lambda a, b: complex(max(_real(a), _real(b)))),
    "min": Operation(2, lambda a, b: complex(min(_real(a), _real(b)))),
    "gcd": Operation(2, lambda a, b: complex(math.gcd(_integer(a), _integer(b)))),
    "lcm": Operation(2, lambda a, b: complex(math.lcm(_integer(a), _integer(b)))),
}
"""Functions of two or more arguments in brackets."""
CONSTANTS = {"pi": complex(cmath.pi), "imaginary": 1j, "degree": complex(cmath.pi / 180)}
MAX_TERMS, MAX_INNER_TERMS = 1_000, 40
"""Most terms of a sum or product, and of one inside another."""


def evaluate(program: Program, point: Sequence[complex]) -> complex | None:
    """Return the value of a program at a point; None if undefined or numerically unreliable."""
    stack: list[complex] = []
    try:
        for step in program:
            if isinstance(step, complex):
                stack.append(step)
            elif isinstance(step, Symbol):
                stack.append(point[step.place])
            elif isinstance(step, Loop):
                stack.append(_run_loop(step, point))
            else:
                values = stack[-step.takes :]
                del stack[-step.takes :]
                stack.append(step.does(*values))
    except (ArithmeticError, ValueError):
        return None
    return stack[0] if cmath.isfinite(stack[0]) else None


def _run_loop(loop: Loop, point: Sequence[complex]) -> complex:
    ends = [evaluate(end, point) for end in (loop.low, loop.high)]
    if ends[0] is None or ends[1] is None:
        raise Unstable
    low, high = map(_integer, (ends[0], ends[1]))
    inner = any(isinstance(step, Loop) for step in loop.body)
    if high - low >= (MAX_INNER_TERMS if inner else MAX_TERMS):
        raise Unstable
    total, at = complex(loop.is_product), list(point)
    for number in range(low, high + 1):
        at[loop.place] = complex(number)
        value = evaluate(loop.body, at)
        if value is None:
            raise Unstable
        total = total * value if loop.is_product else total + value
    return total


# Reader of plain formulas: LaTeX to programs of a stack machine over complex numbers.
#
# It reads numbers, the renamed symbols x_{0}, x_{1}, ... of `formula.neutral`, e, pi, the four
# operations, powers, roots, fractions, brackets, bars and the common functions. For any other text
# it returns None. Nothing is evaluated as code: a step is a number, a symbol index or one of the
# functions below. Time and memory are linear in the text.

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
        elif name in FUNCTIONS:
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
        does, based = Operation(1, FUNCTIONS[name]), False
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
        if kind == "command" and self._now.text in FUNCTIONS:
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
        function = kind == "command" and text in FUNCTIONS
        if function or not (text in ("×", "*", "/") or self._starts_operand()):
            return False
        self.ambiguous = True
        return True


# Numeric comparison: formulas are equal if they agree at random points.
#
# Points are positive, so that sqrt(gh) equals sqrt(g) sqrt(h), as intended in physics. A formula
# with two readings (1/2 x) equals either. The comparison takes milliseconds in this process;
# formulas that the reader cannot parse go to the workers (`omibench.answers.formulas.symbolic`).

REL_TOLERANCE = 1e-6
_RANDOM = Random(20)  # noqa: S311 (sample points, not a secret)
POINTS = [[complex(_RANDOM.uniform(0.6, 2.4)) for _ in range(MAX_SYMBOLS)] for _ in range(3)]
SIGNED = [[-x if (i + n) % 2 else x for i, x in enumerate(p)] for n, p in enumerate(POINTS)]
"""Sample points of formulas with bars, which would not count at positive ones."""
COMPLEX = [[cmath.rect(abs(x), i + n) for i, x in enumerate(p)] for n, p in enumerate(POINTS, 1)]
"""Sample points of moduli of complex numbers: |z - i| is not |z + i|."""
INTEGERS = [[complex(_RANDOM.randint(2, 9)) for _ in range(MAX_SYMBOLS)] for _ in range(3)]
"""Sample points of formulas that are defined for integers only."""


_EXACT_BITS = 100_000


def _small(number: Fraction) -> int:
    if number.denominator != 1 or not 0 <= number <= 1_000:
        raise ValueError
    return int(number)


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction:
    bits = (abs(base.numerator) * base.denominator).bit_length()
    if exponent.denominator != 1 or bits * abs(exponent) > _EXACT_BITS:
        raise ValueError
    return base ** int(exponent)


_EXACT: dict[Operation, Callable[..., Fraction]] = {
    ADD: lambda a, b: a + b, NEGATE: lambda a: -a, TIMES: lambda a, b: a * b,
    OVER: lambda a, b: a / b, POWER: _exact_power,
    FACTORIAL: lambda n: Fraction(math.factorial(_small(n))),
    BINOMIAL: lambda n, k: Fraction(math.comb(_small(n), _small(k))),
}  # fmt: skip


def _evaluate_exactly(program: Program) -> Fraction | None:
    """Return the value of a program of integers and the operations of fractions; else None."""
    stack: list[Fraction] = []
    try:
        for step in program:
            if isinstance(step, complex) and step.imag == 0 and step.real.is_integer():
                stack.append(Fraction(int(step.real)))
            elif isinstance(step, Operation) and step in _EXACT:
                values = stack[-step.takes :]
                del stack[-step.takes :]
                stack.append(_EXACT[step](*values))
            else:
                return None
    except (ArithmeticError, ValueError):
        return None
    return stack[0]


def same_at_samples(gold: str, pred: str) -> bool | None:
    """Return whether two formulas agree at three points to six digits; None if undecidable."""
    if "±" in gold or "±" in pred:
        verdicts = [same_at_samples(gold.replace("±", s), pred.replace("±", s)) for s in "+-"]
        return None if None in verdicts else all(verdicts)
    golds, preds = readings(gold), readings(pred)
    if not golds or not preds:
        return None
    pairs = [_agree(g, p) for g in golds for p in preds]
    if any(pairs):
        return True
    return None if None in pairs else False


def differ_by_constant(gold: str, pred: str) -> bool:
    """Return whether the difference of two formulas with symbols is the same at every point."""
    pairs = ((g, p) for g in readings(gold) if _free_symbols(g) for p in readings(pred))
    return any(_differ_by_constant(g, p) for g, p in pairs)


def value_at_samples(text: str) -> float | None:
    """Return the real value of a text without symbols; None if absent or ambiguous."""
    programs = readings(text)
    if len(programs) != 1 or _free_symbols(programs[0]):
        return None
    number = evaluate(programs[0], POINTS[0])
    return None if number is None or number.imag else number.real


def _differ_by_constant(gold: Program, pred: Program) -> bool:
    differences = list[complex]()
    for left, right in _values(gold, pred):
        if left is None or right is None:
            return False
        differences.append(left - right)
    size = max(map(abs, differences), default=0.0)
    return all(abs(d - differences[0]) <= REL_TOLERANCE * max(size, 1.0) for d in differences)


START = 0.3819660112501051
"""Not a root of an equation in an answer: a sum that cancels has no digits."""


def solve_linear(
    program: Program, place: int, point: Sequence[complex]
) -> tuple[float, float] | None:
    """Return slope and root of a program in one symbol; None if it is not linear and real in it.

    Args:
        program: Program of a formula.
        place: Index of the symbol.
        point: Values of the other symbols.
    """
    at, values = list(point), list[float]()
    for x in (START, START + 1, START + 3):
        at[place] = complex(x)
        value = evaluate(program, at)
        if value is None or value.imag:
            return None
        values.append(value.real)
    slope = values[1] - values[0]
    linear = math.isclose(values[2] - values[0], 3 * slope, rel_tol=REL_TOLERANCE)
    return (slope, START - values[0] / slope) if linear and slope else None


def _free_symbols(program: Program) -> set[int]:
    """Return the places of the symbols on which a value depends."""
    places = set[int]()
    for step in program:
        if isinstance(step, Symbol):
            places.add(step.place)
        elif isinstance(step, Loop):
            places |= _free_symbols(step.body) - {step.place}
            places |= _free_symbols(step.low) | _free_symbols(step.high)
    return places


def _agree(gold: Program, pred: Program) -> bool | None:
    exact = _evaluate_exactly(gold), _evaluate_exactly(pred)
    if exact[0] is not None and exact[1] is not None:
        return exact[0] == exact[1]
    for left, right in _values(gold, pred):
        if left is None or right is None:
            return None
        if abs(left - right) > REL_TOLERANCE * max(abs(left), abs(right)):
            return False
    return True


def _values(gold: Program, pred: Program) -> Iterator[tuple[complex | None, complex | None]]:
    steps = (*gold, *pred)
    constant = not _free_symbols(steps)
    whole = any(isinstance(step, Loop) or step in (REMAINDER, DOUBLE_FACTORIAL) for step in steps)
    points = INTEGERS if whole else SIGNED if SIZE in steps else POINTS
    if SIZE in steps and CONSTANTS["imaginary"] in steps:
        points = COMPLEX
    if FLOOR in steps or CEILING in steps:
        points = [*points, *INTEGERS]
    for point in points[:1] if constant else points:
        yield evaluate(gold, point), evaluate(pred, point)
