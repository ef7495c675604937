r"""Solutions of a problem: values, points and assignments of values to names, in any order.

`(0,5),(5,0)`, `x = 4, -8, -10`, `x_1 = 1, x_2 = 3`, `1 \pm \sqrt{2}`, `\{1, 2, 3\}` and `x=1, y=2
or x=2, y=1` are sets of solutions. A plain list and a single point keep their order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.formulas.operators import Equality
from omibench.answers.multipart import labelled_part, split_labelled
from omibench.answers.prose import is_prose
from omibench.text.pieces import split_outside_brackets

MAX_CHARS = 400
MAX_SOLUTIONS = 24
_BRACES = re.compile(r"\\?\{(.+?)\\?\}", re.DOTALL)
_TUPLE = re.compile(r"(?:\\langle|[(\[])(.+?)(?:\\rangle|[)\]])", re.DOTALL)
_NAMED_TUPLE = re.compile(r"\(([^()=]+)\)\s*=\s*(\(.+\))", re.DOTALL)
_NAMED = re.compile(
    r"(\\?[A-Za-z]+(?:\s*_\{\s*\w+\s*\})?(?:\([a-z]\))?)\s*(=|\\in(?![A-Za-z])|∈)\s*(\S.*)",
    re.DOTALL,
)
_CHAIN = re.compile(r"((?:\\?[a-z]\s*=\s*){2,})([^=]+)")
_NAMED_SET = re.compile(r"\([^()]*\)\s*(?:\\in(?![A-Za-z])|∈|=)\s*(\\?\{.+\})", re.DOTALL)
_UNCERTAIN = re.compile(r"[\d.]+\s*±\s*[\d.]+\s*(?!i(?![A-Za-z])|\\(?:sqrt|pi|frac)).*", re.DOTALL)
"""A measured value with its uncertainty: 5.0 ± 0.1."""
_ROOT = re.compile(r"([xzf])\s*_\{\s*(\d)\s*\}(?:\s*\([a-z]\))?")
_OTHER = re.compile(r"[=<>≈]|\\(?:leq|geq|neq)(?![A-Za-z])|\\\{|\\emptyset")
"""A value with a relation or a set in it is not one number."""
_LIST, _OR = {",", "，", ";", "；", "、", "and", "&", "\n"}, {"or"}
_ENDS_IN_UNIT = re.compile(
    r"\d\s*(?!\\(?:pi|sqrt|frac|times|cdot)(?![A-Za-z])|[ei](?![A-Za-z]))\\?[A-Za-z°%]"
)


class Solution(NamedTuple):
    """One solution: its values, and the names of the values ("" without a name)."""

    names: tuple[str, ...]
    values: tuple[str, ...]


class Solutions(NamedTuple):
    """The solutions in a text, and whether their order has no meaning."""

    found: tuple[Solution, ...]
    any_order: bool


def same_solutions(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Return whether two tidied texts have the same solutions; None if neither is a set of them.

    Args:
        gold: Gold answer, tidied.
        pred: Answer, tidied.
        is_same: Comparison of two values.
    """
    g, p = read_solutions(gold), read_solutions(pred)
    if g is None or p is None or not (g.any_order or p.any_order or _is_assignment(g, p)):
        return None
    values = [value for side in (g, p) for solution in side.found for value in solution.values]
    if max(len(g.found), len(p.found)) > MAX_SOLUTIONS:
        return None
    if any(_OTHER.search(value) or labelled_part(value).key for value in values):
        return None
    remaining = list(dict.fromkeys(p.found))
    for solution in dict.fromkeys(g.found):
        hit = next((other for other in remaining if _same(solution, other, is_same)), None)
        if hit is None:
            return False
        remaining.remove(hit)
    return not remaining


def _is_assignment(gold: Solutions, pred: Solutions) -> bool:
    """Return whether both texts are one point, and one gives its values names: x = y = z = 0."""
    both = (*gold.found, *pred.found)
    named = [all(solution.names) for solution in both]
    return len(both) == 2 and any(named) and all(len(s.values) > 1 for s in both)


def _same(gold: Solution, pred: Solution, is_same: Equality) -> bool:
    if len(gold.values) != len(pred.values):
        return False
    if all(gold.names) and all(pred.names):
        if set(gold.names) != set(pred.names):
            return False
        by_name = dict(zip(pred.names, pred.values, strict=True))
        return all(is_same(v, by_name[n]) for n, v in zip(gold.names, gold.values, strict=True))
    return all(map(is_same, gold.values, pred.values))


@lru_cache(maxsize=2048)
def read_solutions(text: str) -> Solutions | None:
    """Return the solutions in a tidied text, or None; `any_order` only where that is written."""
    text = text.strip(" .$")
    if not 0 < len(text) <= MAX_CHARS or is_prose(text):
        return None
    if split_labelled(text) or labelled_part(text).key:
        return None
    if named_set := _NAMED_SET.fullmatch(text):
        text = named_set[1]
    braces = _BRACES.fullmatch(text)
    if braces:
        inner = read_solutions(braces[1]) or Solutions((_one(braces[1]),), True)
        return inner._replace(any_order=True)
    named = _NAMED.fullmatch(text)
    if named and _BRACES.fullmatch(named[3]):
        return read_solutions(named[3])
    choices = split_outside_brackets(text, _OR)
    if len(choices) > 1:
        groups = [_read_list(choice) for choice in choices]
        found = [solution for group in groups for solution in group.found]
        return _expand_signs(Solutions(tuple(_with_name(found)), True))
    return _expand_signs(_read_list(text))


def _read_list(text: str) -> Solutions:
    pieces = split_outside_brackets(text, _LIST)
    if len(pieces) < 2:
        return Solutions((_one(text),), False)
    named = [_NAMED.fullmatch(piece) for piece in pieces]
    names = [_bare(match[1]) if match else "" for match in named]
    values = [match[3] if match else piece for match, piece in zip(named, pieces, strict=True)]
    plain = not any(_ENDS_IN_UNIT.search(value) for value in values)
    if _are_roots(pieces) and plain:
        return Solutions(tuple(Solution(("",), (value,)) for value in values), True)
    if all(names) and (size := _find_block(names)):
        starts = range(0, len(names), size)
        order = sorted(range(size), key=names.__getitem__) if {*names} <= {*"xyz"} else range(size)
        found = [
            Solution(tuple(names[i + n] for n in order), tuple(values[i + n] for n in order))
            for i in starts
        ]
        return Solutions(tuple(found), len(found) > 1)
    if names[0] and set(names) <= {names[0], ""} and plain:
        return Solutions(tuple(Solution((names[0],), (value,)) for value in values), True)
    found = [_one(piece) for piece in pieces]
    sizes = {len(solution.values) for solution in found}
    return Solutions(tuple(found), len(sizes) == 1 and sizes != {1})


def _one(text: str) -> Solution:
    """Read a value, a point or a value with its name."""
    text = text.strip()
    if named := _NAMED_TUPLE.fullmatch(text):
        names, point = named[1].split(","), _one(named[2])
        if len(names) == len(point.values):
            return Solution(tuple(map(_bare, names)), point.values)
    if point_match := _TUPLE.fullmatch(text):
        values = split_outside_brackets(point_match[1], {",", ";"})
        if len(values) > 1 and _is_balanced(point_match[1]):
            return Solution(("",) * len(values), tuple(values))
    if chain := _CHAIN.fullmatch(text):
        names = tuple(map(_bare, chain[1].split("=")[:-1]))
        return Solution(names, (chain[2],) * len(names))
    match = _NAMED.fullmatch(text)
    return Solution((_bare(match[1]),), (match[3],)) if match else Solution(("",), (text,))


def _with_name(found: list[Solution]) -> list[Solution]:
    """Give the name of the first value to values without one: x = 1 or 2."""
    names = {solution.names for solution in found if len(solution.names) == 1 and solution.names[0]}
    if len(names) != 1:
        return found
    name = next(iter(names))
    return [s._replace(names=name) if s.names == ("",) else s for s in found]


def _expand_signs(solutions: Solutions) -> Solutions:
    """Write each solution with ± as two, with the upper and the lower signs."""
    found = list[Solution]()
    for solution in solutions.found:
        has_sign = any("±" in value for value in solution.values)
        if not has_sign or any(map(_UNCERTAIN.fullmatch, solution.values)):
            found.append(solution)
            continue
        for upper, lower in (("+", "-"), ("-", "+")):
            values = [v.replace("±", upper).replace("∓", lower).strip() for v in solution.values]
            point = re.fullmatch(r"([+-])\s*(\(.+\))", values[0]) if len(values) == 1 else None
            signed = _signed_point(point[1], point[2]) if point else None
            found.append(signed or solution._replace(values=tuple(values)))
    any_order = solutions.any_order or len(found) > len(solutions.found)
    return Solutions(tuple(found), any_order)


def _signed_point(sign: str, text: str) -> Solution:
    point = _one(text)
    return point._replace(values=tuple(f"{sign}({value})" for value in point.values))


def _are_roots(pieces: list[str]) -> bool:
    """Return whether pieces are the numbered roots of one equation: x_1 = 3, x_2 = 1."""
    heads = [_ROOT.fullmatch(piece.partition("=")[0].strip()) for piece in pieces]
    letters = {head[1] for head in heads if head}
    numbers = sorted(head[2] for head in heads if head)
    first = numbers[0] if numbers else ""
    ordered = first in ("0", "1") and numbers == [str(int(first) + i) for i in range(len(numbers))]
    return all(heads) and len(letters) == 1 and len(pieces) > 1 and ordered


def _find_block(names: list[str]) -> int:
    """Return the number of different names that repeat in order: 2 for x, y, x, y; 0 if none."""
    block = list(dict.fromkeys(names))
    times, rest = divmod(len(names), len(block))
    return len(block) if len(block) > 1 and rest == 0 and names == block * times else 0


def _is_balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            return False
    return depth == 0


def _bare(name: str) -> str:
    return re.sub(r"[\s{}\\]", "", name)
