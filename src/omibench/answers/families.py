r"""Reader of texts with a parameter: families of values and intervals, sets of integers.

`x = k\pi, k \in \mathbb{Z}`, `(2k\pi, 2k\pi + \pi), k \in Z`, `all odd integers n > 1`,
`n \equiv 1 \pmod 4`, `3 \nmid n` and `f(x) = cx, c \in \mathbb{R}`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from glyphtex import lazy_re as re
from omibench.answers.formulas.formula import symbols
from omibench.answers.formulas.samples import POINTS
from omibench.answers.number_sets import (
    NOT_ZERO,
    REALS,
    Span,
    Spans,
    intersect,
    read_number_set,
    write_comparison,
)

MAX_CHARS = 300
MEMBERS = 80
"""Members on each side of 0 that are computed; a window of eight periods must lie within them."""
_LETTERS = r"(?P<letters{0}>\\?[A-Za-z]+(?:_\{{\w+\}})?(?:\s*(?:,|and)\s*[A-Za-z](?:_\{{\w+\}})?)*)"
_LEAD = (
    r"(?:(?:where|for|with|when|here|and|in which)\s+)?"
    r"(?:(?:any|all|every|each|some|an?|the|arbitrary|fixed|real)\s+)*"
)
_NOUN = (
    r"(?:(?:an?|any|some|all|arbitrary|fixed|every)\s+)*"
    r"(?P<sign{0}>positive|non-?negative|non-?zero|natural|real|complex)?\s*"
    r"(?P<noun{0}>integers?|whole numbers?|naturals?"
    r"|(?<=natural\s)numbers?|(?<=real\s)numbers?|(?<=positive\s)numbers?"
    r"|reals?|constants?|parameters?)"
)
_QUALIFIER = re.compile(
    r"(?P<body>.*?\S)(?:\s*[,;(][\s,;(]*"
    r"|\s+(?=(?:where|for|with|when|and|any|all)\b|[a-z]\s*(?:\\in(?![A-Za-z])|∈)))"
    + _LEAD + "(?:"
    + _LETTERS.format("a") + r"\s*(?:\\in(?![A-Za-z])|∈)\s*(?P<domain>Z|N|\\reals|R|Q)\s*"
    r"(?P<mark>[_^]\s*\{\s*[^{}]{1,8}\s*\})?"
    "|" + _NOUN.format("b") + r"\s+" + _LETTERS.format("b")
    + "|" + _LETTERS.format("c") + r"\s*(?:is|are|being|denotes?)?\s*" + _NOUN.format("c")
    + r")\s*\)?[\s.]*",
    re.DOTALL,
)  # fmt: skip
_DOMAIN_FIRST = re.compile(
    r"([a-z]\s*(?:\\in(?![A-Za-z])|∈)\s*[NZ](?:\s*[_^]\s*\{[^{}]{1,8}\})?)\s*(?:,|with|and)\s*(.+)",
    re.DOTALL,
)
"""n in N, n > 2: what is said of a letter comes last elsewhere."""
_NOT_ZERO = re.compile(
    r"(.+?)[\s,(]+(?:(?:where|for|with|and|any)\s+)*([A-Za-z])\s*\\neq\s*0\s*\)?", re.DOTALL
)
_COUNTED = re.compile(
    r"(?P<body>.*\S)[\s,;(]+(?:where\s+|for\s+)?(?P<letter>[a-z])\s*=\s*(?P<first>[01])\s*,\s*"
    r"(?:(?P<signed>±\s*1\s*,\s*±\s*2)|[12]\s*,\s*[23])\s*(?:,\s*±?\s*\d\s*)?,\s*\.\.\.\s*\)?[\s.]*",
    re.DOTALL,
)
BUILDER = re.compile(r"\\\{\s*(.+?)\s*(?:\||:|\\mid(?![A-Za-z]))\s*(.+?)\s*\\\}", re.DOTALL)
_WORDS = re.compile(
    r"(?:(?:the\s+)?set\s+of\s+)?(?:all|any|every|each)?\s*(?:of\s+)?(?:the\s+)?"
    r"(?P<sign>(?:positive|negative|non-?negative|natural)\s+)?(?P<kind>(?:even|odd)\s+)?"
    r"(?P<sign2>(?:positive|negative|non-?negative|natural)\s+)?"
    r"(?P<noun>integers?|whole numbers?|numbers?"
    r"|(?:integer\s+)?multiples?\s+of\s+(?P<step>\d{1,4})|(?=[a-z]\s*(?:[<>=\\]|$)))"
    r"(?:\s*,?\s*(?:that are\s+)?divisible\s+by\s+(?P<step2>\d{1,4}))?"
    r"\s*(?P<condition>(?:[a-z]\s*)?(?:[<>]|\\[lg]eq).+|(?:greater|less|more|smaller)\s+than\s+.+"
    r"|at\s+(?:least|most)\s+.+|[a-z])?",
    re.DOTALL,
)
_DIVISIBLE = re.compile(
    r"(?:(?:all|any|every)\s+)?(?:the\s+)?(?:integers?\s+)?(?P<letter>[a-z])?\s*(?:that\s+)?(?:(?:is|are)\s+)?"
    r"(?:(?P<not>not\s+)?(?:divisible\s+by|(?:an?\s+)?multiples?\s+of)\s+(?P<step>\d{1,4})|(?P<kind>odd|even))"
    r"|(?P<step2>\d{1,4})\s*(?:\||\\mid(?![A-Za-z])|(?P<not2>\\nmid(?![A-Za-z])|∤))\s*(?P<letter2>[a-z])"
    r"|(?P<letter3>[a-z])\s*\\not\s*\\equiv\s*(?P<rest>-?\d{1,4})\s*"
    r"\(?\s*(?:\\pmod|\\bmod|\\mod|mod)\s*\{?\s*(?P<step3>\d{1,4})\s*\}?\s*\)?"
)
_CONGRUENT = re.compile(
    r"([a-z])\s*(?:\\equiv|≡)\s*([-+±\d,\s]+?(?:\s*(?:or|and)\s*[-\d]+)?)\s*"
    r"\(?\s*(?:\\pmod|\\bmod|\\mod|\\operatorname\s*mod|mod)\s*\{?\s*(\d{1,4})\s*\}?\s*\)?"
)
_INTEGER_SET = re.compile(
    r"(?:[a-z]\s*(?:\\in(?![A-Za-z])|∈)\s*(?P<letter>[NZ])|(?P<name>\\integers|\\naturals))"
    r"(?:\s*[_^]\s*\{\s*(?:(?P<positive>\+|>\s*0|\\geq\s*1)|(?P<from0>\\geq\s*0)|(?P<not0>[*×]))\s*\}"
    r"|\s*\\setminus\s*\\\{\s*(?P<without>0)\s*\\\})?"
)
"""Z alone is a letter; `mathematics` writes blackboard letters as names of sets."""
_ANY_HINT = re.compile(
    r"^\\(?:integers|naturals)|mod|integer|whole|divisible|mid|\||∤|number|multiple|even|odd|natural|real|constant|parameter|\\in|∈|\\neq"
    r"|\\\{|\.\.\."
)
"""Every text with a parameter has one of these: most texts are not read any further."""
FUNCTION = re.compile(
    r"\s*(?:\\?([A-Za-z])\s*(?:\(\s*([a-z])\s*\)|_\{\s*([a-z])\s*\})|y(?=.*C.*x))\s*="
)
_LOWEST = {"positive": 1, "natural": 1, "nonnegative": 0}


class Family(NamedTuple):
    """A text without the words on its parameters, the parameters, and the lowest of an integer.

    `integer` is false if the parameters are real constants. `within` limits the members. `is_set`
    marks a set of integers in words, which is not the formula of one of them.
    """

    body: str
    letters: tuple[str, ...]
    integer: bool = True
    lowest: int | None = None
    within: Spans = REALS
    is_set: bool = False


@lru_cache(maxsize=2048)
def read_family(text: str) -> Family | None:
    """Return a tidied text as a family; None if it says nothing of a parameter."""
    text = text.strip(" .$")
    if not _ANY_HINT.search(text):
        return None
    if first := _DOMAIN_FIRST.fullmatch(text):
        text = f"{first[2]}, {first[1]}"
    for pattern, read in (
        (_INTEGER_SET, _read_integers),
        (_CONGRUENT, _read_congruent),
        (_DIVISIBLE, _read_divisible),
        (_WORDS, _read_words),
        (BUILDER, _read_builder),
        (_COUNTED, _read_counted),
    ):
        if (match := pattern.fullmatch(text)) and (family := read(match)):
            return family
    return _read_qualified(text)


def _read_integers(match: re.Match[str]) -> Family:
    natural = match["letter"] == "N" or match["name"] == r"\naturals"
    if match["from0"]:
        return Family("n", ("n",), True, 0)
    if natural or match["positive"]:
        return Family("n", ("n",), True, 1)
    within = NOT_ZERO if match["not0"] or match["without"] else REALS
    return Family("n", ("n",), True, None, within)


def _read_congruent(match: re.Match[str]) -> Family:
    name, rests, step = match.groups()
    values = [rest for rest in re.split(r"\s*(?:,|or|and)\s*", rests) if rest.strip()]
    return _write_remainders(name, step, [f"({rest})" for rest in values])


def _write_remainders(name: str | None, step: int | str, rests: Sequence[int | str]) -> Family:
    """Return n = 3k + 1, n = 3k + 2 for the remainders 1 and 2 of n."""
    letter = "m" if name == "k" else "k"
    head = f"{name} = " if name else ""
    body = ", ".join(f"{head}{step} {letter} + {rest}" for rest in rests)
    return Family(body, (letter,), is_set=not name)


def _read_counted(match: re.Match[str]) -> Family:
    lowest = None if match["signed"] else int(match["first"])
    return Family(match["body"].strip(" ,;("), (match["letter"],), True, lowest)


def _read_divisible(match: re.Match[str]) -> Family | None:
    r"""Read 3 \nmid n, "n is not divisible by 3", n \not\equiv 1 \pmod 3 and "n is odd"."""
    step = int(match["step"] or match["step2"] or match["step3"] or 2)
    name = match["letter"] or match["letter2"] or match["letter3"]
    denied = bool(match["not"] or match["not2"] or match["rest"])
    at = int(match["rest"] or 0) if match["kind"] is None else int(match["kind"] == "odd")
    if not 1 < step <= MEMBERS // 8:
        return None
    rests = [rest for rest in range(step) if (rest == at % step) != denied]
    return _write_remainders(name, step, rests)


def _read_qualified(text: str) -> Family | None:
    function = _NOT_ZERO.fullmatch(text)
    if function and (head := FUNCTION.match(function[1])) and function[2] != head[2]:
        return Family(function[1].strip(), (function[2],), False)
    match = _QUALIFIER.fullmatch(text)
    if match is None:
        return None
    named = match["lettersa"] or match["lettersb"] or match["lettersc"]
    letters = tuple(re.sub(r"\s", "", name) for name in re.split(r"\s*(?:,|and)\s*", named))
    body = match["body"].strip(" ,;")
    inner = _read_qualified(body)  # a \in Z and b \in Z
    if inner:
        body, letters = inner.body, (*inner.letters, *letters)
    if not set(letters) <= symbols(body):
        return None
    sign = (match["signb"] or match["signc"] or "").replace("-", "")
    noun = match["nounb"] or match["nounc"] or ""
    mark = re.sub(r"[\s{}_^]", "", match["mark"] or "")
    domain = match["domain"] or ("Z" if noun.startswith(("integer", "whole")) else "R")
    if noun.startswith("natural") or sign == "natural":
        domain = "N"
    if domain in ("R", r"\reals", "Q"):
        return Family(body, letters, False)
    lowest = _LOWEST.get(sign, 1 if domain == "N" or mark in ("+", "*", ">0") else None)
    return Family(body, letters, True, 0 if mark in ("0", r"\geq0", ">=0") else lowest)


def _read_builder(match: re.Match[str]) -> Family | None:
    r"""Read {2k : k \in Z}, {x | x = 2k, k \in Z} and {n \in Z : n > 3}."""
    element, condition = match.groups()
    member = re.fullmatch(r"([a-z])\s*(?:\\in(?![A-Za-z])|∈)\s*(Z|N)(\s*\^\{[+*]\})?", element)
    if member:
        inner = read_number_set(condition, (member[1],))
        within = inner.at(POINTS[0]) if inner and inner.variable in ("", member[1]) else None
        lowest = 1 if member[2] == "N" or member[3] else None
        return Family(member[1], (member[1],), True, lowest, within) if within is not None else None
    name = re.fullmatch(r"([a-z])(?:\s*(?:\\in(?![A-Za-z])|∈)\s*(?:\\reals|Z|R))?", element)
    if name and name[1] in symbols(condition):
        return _read_qualified(condition)
    return _read_qualified(f"{element} , {condition}")


def _read_words(words: re.Match[str]) -> Family | None:
    """Read "all odd integers n > 1", "positive multiples of 3", "odd n > 1"."""
    step = int(words["step"] or words["step2"] or (2 if words["kind"] else 1))
    sign = (words["sign"] or words["sign2"] or "").strip().replace("-", "")
    if not (words["noun"] or words["kind"]) or (
        words["noun"] == "numbers" and step == 1 and sign != "natural"
    ):
        return None
    within = _signed(sign)
    condition = write_comparison((words["condition"] or "").strip())
    if condition and not re.fullmatch("[a-z]", condition):
        lettered = condition if condition[0].isalpha() else f"n {condition}"
        inner = read_number_set(lettered, (lettered[0],))
        limits = inner.at(POINTS[0]) if inner and inner.variable == lettered[0] else None
        if limits is None:
            return None
        within = intersect(within, limits)
    odd = (words["kind"] or "").strip() == "odd"
    body = "n" if step == 1 else f"{step} n + {int(odd)}"
    return Family(body, ("n",), True, None, within, True)


def _signed(sign: str) -> Spans:
    if sign == "negative":
        return (Span(-math.inf, False, 0.0, False),)
    if sign in ("positive", "natural"):
        return (Span(0.0, False, math.inf, False),)
    return (Span(0.0, True, math.inf, False),) if sign == "nonnegative" else REALS
