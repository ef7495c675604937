r"""Sets of real numbers: intervals, inequalities, set-builder forms, complements of points.

A text is read as a tree of intervals whose ends are formulas. Two sets are equal if, at three
sample points of their symbols, they are the same sorted list of disjoint intervals, so that
`|x| < 3`, `-3 < x < 3` and `(-3, 3)` are one set, and so are `x \neq 2` and `(-\infty, 2) \cup
(2, \infty)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.formulas.formula import neutral, same_formula, symbols
from omibench.answers.formulas.intervals import FLIPPED
from omibench.answers.formulas.machine import Program, evaluate
from omibench.answers.formulas.reader import readings
from omibench.answers.formulas.samples import POINTS, REL_TOLERANCE, SIGNED, solve_linear
from omibench.text.pieces import split_outside_brackets

MAX_CHARS = 300
MAX_INTEGERS = 200
_WHOLE = re.compile(
    r"\\reals|\(\s*-\s*∞\s*,\s*\+?\s*∞\s*\)|(?:all|any)\s+(?:the\s+)?real(?:s|\s+numbers?)?(?:\s+[a-z])?"
)
_AT_LEAST_ZERO = re.compile(r"(?:all )?non-?negative real(?:s|(?: number)s?)", re.IGNORECASE)
_POSITIVE = re.compile(
    r"(?:all )?positive real(?:s|(?: number)s?)"
    r"|\\reals\s*(?:[\^_]\s*\{?\s*\+\s*\}?|_\s*\{?\s*>\s*0\s*\}?)"
)
_COMPARES = (
    (re.compile(r"^(?:greater|more)\s+than\s+or\s+equal\s+to|^at\s+least"), r"\\geq "),
    (re.compile(r"^(?:less|smaller)\s+than\s+or\s+equal\s+to|^at\s+most"), r"\\leq "),
    (re.compile(r"^(?:greater|more)\s+than"), ">"),
    (re.compile(r"^(?:less|smaller)\s+than"), "<"),
)
_REALS_THAT = re.compile(
    r"(?:all|any)?\s*(?:the\s+)?real(?:s|\s+numbers?)(?:\s+[a-z])?\s+"
    r"(?:(?:that|which)\s+are\s+)?((?:greater|more|less|smaller)\s+than.+|at\s+(?:least|most).+)",
    re.DOTALL,
)
_NOT_ZERO = re.compile(
    r"(?:all |any )?non-?zero real(?:s|(?: number)s?)"
    r"|\\reals\s*(?:\^\s*\{?\s*(?:\*|×)\s*\}?|_\s*\{\s*\\neq\s*0\s*\})",
    re.IGNORECASE,
)
_SUCH = r"(?:such|real|real-valued) "
_PROBLEM = r"equations?|systems?(?: of equations)?|inequalit(?:y|ies)|conditions?|problem"
_EXISTS = rf" (?:exists?|(?:that )?satisf(?:y|ies) (?:it|this|(?:the|this) (?:{_PROBLEM})))"
_EMPTY = re.compile(
    r"\\emptyset|\\\{\s*\\\}|(?:the )?(?:empty|null) set|(?:the )?(?:solution )?set is empty"
    rf"|(?:(?:the |this )?(?:given )?(?:{_PROBLEM}) )?has no (?:{_SUCH})?(?:solutions?|roots?)"
    rf"|(?:there (?:is|are|exists?) )?no (?:{_SUCH})?"
    rf"(?:solutions?|roots?|(?:numbers?|values?)(?: of [a-z])?)(?:{_EXISTS})?"
    rf"|(?:there (?:is|exists) )?no (?:{_SUCH}[a-z]|[b-z]|a(?={_EXISTS}))(?:{_EXISTS})?",
    re.IGNORECASE,
)
_NO_INTEGERS = re.compile(
    rf"(?:(?:the |this )?(?:given )?(?:{_PROBLEM}) has|there (?:is|are|exists?))? ?no (?:such )?"
    rf"(?:integer (?:solutions?|roots?|values?)|integers?)(?:{_EXISTS})?",
    re.IGNORECASE,
)
"""Another domain than that of the empty set."""
DENIES = re.compile(r"[\W]*(?:there (?:is|are|exists?) )?no\b|.{0,80}\bhas no\b", re.IGNORECASE)
"""The start of a text that is the empty set only as a whole: no solution except 0."""
_REALS_BEYOND = re.compile(r"\\reals\s*_\s*\{\s*((?:[<>]|\\[lg]eq).+)\}", re.DOTALL)
_LEAD = re.compile(r"(?:all|any|every)\s+(?:real\s+)?(?=[a-z]\s*(?:[<>]|\\[lg]eq))")
_IS = re.compile(r"([a-z])\s+is\s+(?=(?:greater|more|less|smaller)\s+than|at\s+(?:least|most))")
_SUCH_THAT = re.compile(r"\s(?:such that|so that|s\.t\.|with)\s")
_MEMBER = re.compile(r"(\\?[A-Za-z]+(?:\s*_\{\w+\})?)\s*(?:\\in(?![A-Za-z])|∈)\s*(.+)", re.DOTALL)
_BUILDER = re.compile(
    r"\\?\{\s*(\\?[A-Za-z])\s*(?:(?:\\in|∈)\s*(\\reals|Z|N)\s*)?(?:\||:|\\mid|;)(.+?)\\?\}",
    re.DOTALL,
)
_INTERVAL = re.compile(r"([(\[\]])(.+)([)\]\[])", re.DOTALL)
_POINTS = re.compile(r"\\\{(.+)\\\}", re.DOTALL)
_WITHOUT = re.compile(
    r"\\setminus(?![A-Za-z])|\\backslash(?![A-Za-z])|∖|\sexcept(?:\sfor)?\s|(?<=\\reals)\s*-\s*(?=\\\{)"
)
_UNION = re.compile(r"\\cup(?![A-Za-z])|∪|\sor\s|\sU\s|\\lor(?![A-Za-z])|\\vee(?![A-Za-z])|∨|或")
_MEET = re.compile(r"\\cap(?![A-Za-z])|∩|\sand\s|\\land(?![A-Za-z])|\\wedge(?![A-Za-z])|∧|且")
_SIGN = re.compile(r"\\leq(?![A-Za-z])|\\geq(?![A-Za-z])|\\neq(?![A-Za-z])|[<>=]")
_CONNECTIVE = re.compile(r"(?<![\\A-Za-z])(?:and|or|for|if|where|when|with|all|any)(?![A-Za-z])")
"""A word that a parser would read as a product of symbols."""
_SIZE = re.compile(r"\s*(?:\|([^|]+)\||\\left\s*\|([^|]+)\\right\s*\|)\s*")
_SYMBOL = re.compile(r"\\?[A-Za-z]+(?:\s*_\s*\{\s*\w+\s*\})?(?:\s*\(\s*[a-z]\s*\))?")
_ORDERED = re.compile(r"[(\[{]|[)\]}]|\\[{}]")


class Span(NamedTuple):
    """An interval of numbers."""

    low: float
    low_closed: bool
    high: float
    high_closed: bool


Spans = tuple[Span, ...]
Point = Sequence[complex]
Tree = Callable[[Point], Spans]
"""A set whose ends depend on the values of symbols."""

REALS: Spans = (Span(-math.inf, False, math.inf, False),)
NOT_ZERO: Spans = (Span(-math.inf, False, 0.0, False), Span(0.0, False, math.inf, False))
_FROM_ZERO: Spans = (Span(0.0, True, math.inf, False),)
_NAMED_SETS: tuple[tuple[re.Pattern[str], Spans], ...] = (
    (_WHOLE, REALS), (_EMPTY, ()), (_POSITIVE, (Span(0.0, False, math.inf, False),)),
    (_AT_LEAST_ZERO, (Span(0.0, True, math.inf, False),)),
    (_NOT_ZERO, NOT_ZERO),
)  # fmt: skip


class NumberSet(NamedTuple):
    """A set read from a text, its variable ("" if not named), and how it is written.

    `points` are single numbers; a `pair` such as (1, 2) can also be a point in the plane.
    """

    variable: str
    tree: Tree
    kind: Literal["points", "pair", "region"]

    def at(self, point: Point) -> Spans | None:
        """Return the set at values of the symbols; None if an end has no real value there."""
        try:
            return self.tree(point)
        except _NotASet:
            return None


class _NotASet(Exception):
    """The text is not a set of numbers."""


def same_number_set(gold: str, pred: str) -> bool | None:
    """Return whether two tidied texts are the same set of numbers; None if one is not a set.

    `\\reals` means the real numbers. A pair (1, 2) beside a pair is left to others.
    """
    if all(_NO_INTEGERS.fullmatch(text.strip(" .,$")) for text in (gold, pred)):
        return True
    names = tuple(sorted(symbols(gold) | symbols(pred)))
    g, p = read_number_set(gold, names), read_number_set(pred, names)
    if g is None or p is None or "region" not in (g.kind, p.kind):
        return None
    if g.variable and p.variable and not same_formula(g.variable, p.variable):
        return False
    try:
        return all(same_spans(g.tree(point), p.tree(point)) for point in POINTS)
    except _NotASet:
        return None


def same_inequality(gold: str, pred: str) -> bool | None:
    """Return whether two inequalities of several symbols are multiples: x + y <= 4, y <= 4 - x.

    None if one is not a single inequality or cannot be evaluated.
    """
    names = tuple(sorted(symbols(gold) | symbols(pred)))
    pair = [_difference(text, names) for text in (gold, pred)]
    if pair[0] is None or pair[1] is None:
        return None
    (sign, f), (other_sign, g) = pair[0], pair[1]
    if (r"\neq" in (sign, other_sign)) and sign != other_sign:
        return False
    ratios = list[float]()
    for point in (*POINTS, *SIGNED):
        values = evaluate(f, point), evaluate(g, point)
        if values[0] is None or values[1] is None or abs(values[1]) == 0:
            return None
        ratio = values[0] / values[1]
        if abs(ratio.imag) > REL_TOLERANCE * abs(ratio):
            return False
        ratios.append(ratio.real)
    constant = all(math.isclose(ratio, ratios[0], rel_tol=REL_TOLERANCE) for ratio in ratios)
    expected = sign if ratios[0] > 0 else FLIPPED.get(sign, sign)
    return constant and expected == other_sign


@lru_cache(maxsize=2048)
def read_number_set(text: str, names: tuple[str, ...]) -> NumberSet | None:
    """Return the set of numbers in a tidied text, or None; `names` are all symbols in use."""
    if len(text) > MAX_CHARS:
        return None
    try:
        return _read(text.strip(), names)
    except _NotASet:
        return None


def _read(text: str, names: tuple[str, ...]) -> NumberSet:
    text = text.strip(" .,$")
    named = next((spans for pattern, spans in _NAMED_SETS if pattern.fullmatch(text)), None)
    if named is not None:
        return NumberSet("", lambda _: named, "region")
    if DENIES.match(text):
        raise _NotASet
    if words := _REALS_THAT.fullmatch(text) or _REALS_BEYOND.fullmatch(text):
        text = f"x {write_comparison(words[1])}"
        return _read(text, names)._replace(variable="")
    text = _LEAD.sub("", text)
    if words := _IS.match(text):
        text = f"{words[1]} {write_comparison(text[words.end() :])}"
    if joined := _read_joined(text, names):
        return joined
    pieces = split_outside_brackets(text, {",", ";"})
    if len(pieces) > 1 and all(_SIGN.search(piece) or _MEMBER.fullmatch(piece) for piece in pieces):
        return _combine([_read(piece, names) for piece in pieces], intersect)
    if member := _MEMBER.fullmatch(text):
        return NumberSet(_plain(member[1]), _read(member[2], names).tree, "region")
    return _read_points(text, names) or _read_interval(text, names) or _read_chain(text, names)


def write_comparison(text: str) -> str:
    """Return "greater than 2" as "> 2"."""
    for pattern, mark in _COMPARES:
        text = pattern.sub(mark, text)
    return text


def _read_joined(text: str, names: tuple[str, ...]) -> NumberSet | None:
    """Read a set-builder form, a union, an intersection or a complement."""
    for mark, combine in ((_UNION, _union), (_MEET, intersect), (_WITHOUT, _without)):
        pieces = _split(text, mark)
        if len(pieces) == 2 and mark is _WITHOUT and not _SIGN.search(pieces[1]):
            left = _read(pieces[0], names)
            bare = re.sub(r"\s*\\[{}]\s*|\\\{|\\\}", "", pieces[1])
            if not _INTERVAL.fullmatch(bare.strip()):
                return _combine([left, NumberSet("", _read_values(bare, names), "points")], combine)
        if len(pieces) > 1:
            return _combine([_read(piece, names) for piece in pieces], combine)
    if builder := _BUILDER.fullmatch(_SUCH_THAT.sub(" : ", text)):
        inner = _read(builder[3], names)
        limits = {"Z": REALS, "N": _FROM_ZERO}.get(builder[2])
        if limits is None:
            return NumberSet("", inner.tree, "region")
        return NumberSet("", lambda p: _integers(intersect(inner.tree(p), limits)), "region")
    return None


def _combine(sets: list[NumberSet], combine: Callable[[Spans, Spans], Spans]) -> NumberSet:
    variables = {item.variable for item in sets if item.variable}
    if len(variables) > 1:
        raise _NotASet

    if combine is intersect and all(item.kind != "region" for item in sets):
        raise _NotASet  # x = 1, x = 2 and (1, 2), (3, 4) are lists

    def tree(point: Point) -> Spans:
        spans = sets[0].tree(point)
        for item in sets[1:]:
            spans = combine(spans, item.tree(point))
        return spans

    return NumberSet(next(iter(variables), ""), tree, "region")


def _read_points(text: str, names: tuple[str, ...]) -> NumberSet | None:
    match = _POINTS.fullmatch(text)
    if match is None:
        return None
    return NumberSet("", _read_values(match[1], names), "points")


def _read_interval(text: str, names: tuple[str, ...]) -> NumberSet | None:
    match = _INTERVAL.fullmatch(text)
    ends = split_outside_brackets(match[2], {",", ";"}) if match else []
    if match is None or len(ends) != 2:
        return None
    low, high = (_read_end(end, names) for end in ends)
    low_closed, high_closed = match[1] == "[", match[3] == "]"
    infinite = "∞" in text
    mixed = low_closed != high_closed or match[1] + match[3] == "]["

    def tree(point: Point) -> Spans:
        return join_spans([_span(low(point), low_closed, high(point), high_closed)])

    return NumberSet("", tree, "region" if infinite or mixed else "pair")


def _read_chain(text: str, names: tuple[str, ...]) -> NumberSet:
    """Read x < 3, -1 < x <= 3, |x - 1| < 2, -2t > -6, x \\neq 1, 2, x = 1."""
    signs = _SIGN.findall(text)
    sides = [side.strip() for side in _SIGN.split(text)]
    if not 1 <= len(signs) <= 2 or not all(sides):
        raise _NotASet
    bounded = len(sides) == 3 and not (symbols(sides[0]) or symbols(sides[2]))
    if bounded and (len(symbols(sides[1])) != 1 or _SYMBOL.fullmatch(sides[1])):
        return _read_bounds(sides, signs, names)
    variable = _find_variable(sides)
    if signs in ([r"\neq"], ["="]):
        return _read_exclusion(variable, sides, signs[0], names)
    if "=" in signs or r"\neq" in signs:
        raise _NotASet
    steps = [
        _solve(a, sign, b, variable, names)
        for (a, b), sign in zip(pairwise(sides), signs, strict=True)
    ]

    def tree(point: Point) -> Spans:
        spans = steps[0](point)
        for step in steps[1:]:
            spans = intersect(spans, step(point))
        return spans

    return NumberSet(variable, tree, "region")


def _read_bounds(sides: list[str], signs: list[str], names: tuple[str, ...]) -> NumberSet:
    """Read 0 <= f(x, y) < 1 as the interval of what is between its bounds."""
    if signs[0] in (">", r"\geq"):
        sides, signs = sides[::-1], [FLIPPED.get(sign, sign) for sign in reversed(signs)]
    if not {*signs} <= {"<", r"\leq"}:
        raise _NotASet
    low, high = _read_end(sides[0], names), _read_end(sides[2], names)
    closed = [sign == r"\leq" for sign in signs]

    def tree(point: Point) -> Spans:
        return join_spans([_span(low(point), closed[0], high(point), closed[1])])

    return NumberSet(sides[1], tree, "region")


def _read_values(text: str, names: tuple[str, ...]) -> Tree:
    """Read single numbers: 1, 2 and ±3."""
    signed = [
        piece.replace("±", sign)
        for piece in split_outside_brackets(text, {",", ";", "and"})
        for sign in ("+-" if "±" in piece else "+")
    ]
    values = [_read_end(piece, names) for piece in signed]
    return lambda point: join_spans(_at(value(point)) for value in values)


def _read_exclusion(
    variable: str, sides: list[str], sign: str, names: tuple[str, ...]
) -> NumberSet:
    if _plain(sides[0]) != variable:
        raise _NotASet
    points = _read_values(sides[1], names)
    if sign == "=":
        return NumberSet(variable, points, "points")
    return NumberSet(variable, lambda point: _without(REALS, points(point)), "region")


def _find_variable(sides: list[str]) -> str:
    """Return the only symbol of an inequality, or the only side that is a symbol."""
    found = set[str]().union(*map(symbols, sides))
    if len(found) == 1:
        return next(iter(found))
    alone = [_plain(side) for side in sides if _SYMBOL.fullmatch(side)]
    if len(alone) != 1:
        raise _NotASet
    return alone[0]


def _solve(left: str, sign: str, right: str, variable: str, names: tuple[str, ...]) -> Tree:
    """Solve an inequality that is linear in its variable, or in the variable between bars."""
    if variable in symbols(right) and variable not in symbols(left):
        left, sign, right = right, FLIPPED[sign], left
    if _plain(left) == variable:
        end, place = _read_end(right, names), None
        return lambda point: _ray(1.0, end(point), sign)
    size = _SIZE.fullmatch(left)
    if size and variable not in symbols(right):
        inner, bound = size[1] or size[2], right
        return _solve_size(inner, sign, bound, variable, names)
    place = names.index(variable) if variable in names else -1
    program = _program(f"{left}-({right})", names)
    if place < 0:
        raise _NotASet

    def solve(point: Point) -> Spans:
        line = solve_linear(program, place, point)
        if line is None:
            raise _NotASet
        return _ray(*line, sign)

    return solve


def _solve_size(inner: str, sign: str, bound: str, variable: str, names: tuple[str, ...]) -> Tree:
    below = sign in ("<", r"\leq")
    upper = _solve(inner, sign, bound, variable, names)
    lower = _solve(inner, FLIPPED[sign], f"-({bound})", variable, names)
    combine = intersect if below else _union
    return lambda point: combine(upper(point), lower(point))


def _ray(slope: float, root: float, sign: str) -> Spans:
    """Return where slope * (x - root) has a sign."""
    if slope < 0:
        sign = FLIPPED[sign]
    closed = sign in (r"\leq", r"\geq") and math.isfinite(root)
    if sign in ("<", r"\leq"):
        return (Span(-math.inf, False, root, closed),)
    return (Span(root, closed, math.inf, False),)


def _read_end(text: str, names: tuple[str, ...]) -> Callable[[Point], float]:
    plain = text.strip().removeprefix("+").strip()
    if plain == "∞":
        return lambda _: math.inf
    if re.fullmatch(r"-\s*∞", plain):
        return lambda _: -math.inf
    program = _program(plain, names)

    def value(point: Point) -> float:
        number = evaluate(program, point)
        if number is None or abs(number.imag) > REL_TOLERANCE * abs(number):
            raise _NotASet
        return number.real

    return value


def _program(text: str, names: tuple[str, ...]) -> Program:
    if _CONNECTIVE.search(text):
        raise _NotASet
    programs = readings(neutral(text, {name: place for place, name in enumerate(names)}))
    if not programs:
        raise _NotASet
    return programs[0]


def _difference(text: str, names: tuple[str, ...]) -> tuple[str, Program] | None:
    signs = _SIGN.findall(text)
    if len(signs) != 1 or signs[0] == "=" or len(text) > MAX_CHARS:
        return None
    left, right = _SIGN.split(text)
    try:
        return signs[0], _program(f"{left}-({right})", names)
    except _NotASet:
        return None


def _split(text: str, mark: re.Pattern[str]) -> list[str]:
    """Split a text at a mark outside brackets, which may be those of half-open intervals."""
    pieces, start, depth = list[str](), 0, 0
    marks = {match.start(): match for match in mark.finditer(text)}
    brackets = {match.start(): match.group() for match in _ORDERED.finditer(text)}
    for at in sorted(marks.keys() | brackets.keys()):
        if at in brackets:
            depth += 1 if brackets[at][-1] in "([{" else -1
        elif depth == 0:
            pieces.append(text[start:at])
            start = marks[at].end()
    return [*pieces, text[start:]]


def _plain(symbol: str) -> str:
    return re.sub(r"\s", "", symbol)


def _at(value: float) -> Span:
    return Span(value, True, value, True)


def _span(low: float, low_closed: bool, high: float, high_closed: bool) -> Span:
    if low > high or (low == high and not (low_closed and high_closed)):
        raise _NotASet
    closed = low_closed and math.isfinite(low), high_closed and math.isfinite(high)
    return Span(low, closed[0], high, closed[1])


def join_spans(spans: Iterable[Span]) -> Spans:
    """Return spans in order, those that touch joined."""
    joined = list[Span]()
    for span in sorted(spans, key=lambda s: (s.low, not s.low_closed)):
        last = joined[-1] if joined else None
        touches = last and (
            span.low < last.high
            or (span.low == last.high and (span.low_closed or last.high_closed))
        )
        if last and touches:
            high, closed = max((last.high, last.high_closed), (span.high, span.high_closed))
            joined[-1] = Span(last.low, last.low_closed, high, closed)
        else:
            joined.append(span)
    return tuple(joined)


def _integers(spans: Spans) -> Spans:
    """Return the integers of a bounded set."""
    found = list[Span]()
    for span in spans:
        if not (math.isfinite(span.low) and span.high - span.low <= MAX_INTEGERS):
            raise _NotASet
        for number in range(math.ceil(span.low), math.floor(span.high) + 1):
            inside = intersect((span,), (_at(float(number)),))
            found.extend(inside)
    return join_spans(found)


def _union(a: Spans, b: Spans) -> Spans:
    return join_spans([*a, *b])


def intersect(a: Spans, b: Spans) -> Spans:
    spans = list[Span]()
    for x in a:
        for y in b:
            low, low_open = max((x.low, not x.low_closed), (y.low, not y.low_closed))
            high, high_closed = min((x.high, x.high_closed), (y.high, y.high_closed))
            if low < high or (low == high and not low_open and high_closed):
                spans.append(Span(low, not low_open, high, high_closed))
    return join_spans(spans)


def _without(a: Spans, b: Spans) -> Spans:
    rest = a
    for span in b:
        outside = (
            Span(-math.inf, False, span.low, not span.low_closed),
            Span(span.high, not span.high_closed, math.inf, False),
        )
        rest = intersect(rest, outside)
    return rest


def same_spans(a: Spans, b: Spans) -> bool:
    return len(a) == len(b) and all(
        x[1::2] == y[1::2]
        and all(
            left == right or math.isclose(left, right, rel_tol=REL_TOLERANCE, abs_tol=1e-9)
            for left, right in ((x.low, y.low), (x.high, y.high))
        )
        for x, y in zip(a, b, strict=True)
    )
