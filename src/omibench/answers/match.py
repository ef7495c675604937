"""Whether an answer matches the gold: letters, truth values, lists, numbers, formulas, text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from glyphtex import lazy_re as re
from omibench.answers import prose
from omibench.answers.chemistry import same_chemistry
from omibench.answers.extraction.cues import find_cued_answer
from omibench.answers.formulas.formula import same_formula
from omibench.answers.formulas.intervals import same_intervals
from omibench.answers.formulas.latex import flatten_environments, fold, same_text, tidy
from omibench.answers.formulas.operators import Equality, same_set
from omibench.answers.formulas.relations import same_bracketed, same_relation
from omibench.answers.formulas.symbolic import numeric_value
from omibench.answers.mathematics import same_mathematics
from omibench.answers.multipart import (
    SPLITTERS,
    AnswerPart,
    by_comma,
    key_pieces,
    labelled_part,
    split_labelled,
    without_label,
)
from omibench.answers.quantity import quantity, same_constant, same_quantity
from omibench.text.pieces import split_outside_brackets

# Truth values and option letters: which lists are ordered, and which are sets.

_TRUE = frozenset((
    "t", "true", "verdadero", "verdadera", "verdadeiro", "verdadeira", "vrai", "wahr", "richtig",
    "vero", "верно", "правда", "да", "correct", "对", "正确", "✓", "✔",
))  # fmt: skip
_FALSE = frozenset((
    "f", "false", "falso", "falsa", "faux", "falsch", "неверно", "ложь", "нет", "incorrect", "错",
    "错误", "✗", "✘",
))  # fmt: skip


_IN_MATHEMATICS = re.compile(r"\s*(?:\$+|\\[(\[])\s*[TF]\s*(?:\$+|\\[)\]])[\s.]*")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


def truth(text: str, in_list: bool = False) -> bool | None:
    """Return the truth value of a text, or None. A single t, f, V, √ or × counts only in a list."""
    plain = without_label(text).strip(" .;,()$*")
    word = plain.casefold()
    if not in_list and plain in ("t", "f"):
        return None
    if word in _TRUE or (in_list and word in ("v", "√")):
        return True
    return False if word in _FALSE or (in_list and word == "×") else None


def is_symbol(text: str) -> bool:
    """Return whether T or F in a raw text is a symbol: a tension, a force."""
    return _IN_MATHEMATICS.fullmatch(text) is not None


def truths(parts: Sequence[AnswerPart]) -> list[bool] | None:
    """Return the truth values of a list with only truth values; None for any other list."""
    values = [truth(part.text, in_list=True) for part in parts]
    readable = [value for value in values if value is not None]
    return readable if len(readable) == len(values) else None


def is_letter_set(parts: Sequence[AnswerPart]) -> bool:
    """Return whether parts are letters chosen from options in any order: A and C.

    Roman numerals in ascending order also count: I, III and IV. Letters under labels, repeated
    letters and truth values answer one question each, in order.
    """
    letters = [fold(part.text) for part in parts]
    if letters and all(letter in _ROMAN for letter in letters):
        return letters == sorted(set(letters), key=_ROMAN.index) and len(letters) > 1
    plain = all(len(x) == 1 and x.isalpha() for x in letters) and not any(p.key for p in parts)
    return plain and len(set(letters)) == len(letters) and truths(parts) is None


# Alternative solutions in any order: x = 1 or x = 2, ±2.

_NAME = re.compile(r"\s*(\\?[A-Za-z]+(?:_\{\w+\})?)\s*=\s*(?=\S)")
_PLUS_MINUS = re.compile(r"\s*±\s*([^±]+)")
_SIGN = re.compile(r"±|或|\s(?:or|oder|ou|или)\s")
_IS_NAME = re.compile(r"\s*[A-Z][A-Za-z]*\s*")
_OR, _AND = re.compile(r"\sor\s"), re.compile(r"\sand\s")
_INEQUALITY = re.compile(r"[<>]|\\[lg]eq(?![A-Za-z])")
_MAX_CHARS = 200


def same_alternatives(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Return whether two tidied texts list the same values; None if neither lists alternatives.

    A comma-separated list equals one joined by "or" or abbreviated by ±. Two values for a gold
    answer with one value are a hedge; the tiers that reject lists handle them.
    """
    if max(len(gold), len(pred)) > _MAX_CHARS or not _has_sign(gold, pred):
        return None
    if any(";" in text or "；" in text or split_labelled(text) for text in (gold, pred)):
        return None
    joins = [bool(_OR.search(text)) for text in (gold, pred)]
    if joins[0] != joins[1] and all(map(_INEQUALITY.search, (gold, pred))):
        return False if _AND.search(pred if joins[0] else gold) else None
    g, p = alternatives(gold), alternatives(pred)
    if (g is None and p is None) or (_PLUS_MINUS.search(gold) and _PLUS_MINUS.search(pred)):
        return None
    g, p = g or _split_values(gold), p or _split_values(pred)
    if g is None or p is None or len(g) != len(p):
        return None
    return same_set(g, p, is_same)


def _exchange_or(gold: str, pred: str) -> bool:
    """Return whether one text has "and" where the other has "or": Alice and Bob."""
    joins = [(" or " in text, " and " in text) for text in (gold, pred)]
    exchanged = sorted(joins) == [(False, True), (True, False)]
    return exchanged and _have_own_names(gold) and _have_own_names(pred)


def _have_own_names(text: str) -> bool:
    """Return whether values are words (Alice, B) or of different names (x = 1, y = 2)."""
    values = split_outside_brackets(text, {",", ";", "and", "or"})
    names = {name[1] if (name := _NAME.match(value)) else "" for value in values}
    return len(names) > 1 or all(map(_IS_NAME.fullmatch, values))


def _has_sign(gold: str, pred: str) -> bool:
    return any(_SIGN.search(text) for text in (gold, pred))


def alternatives(text: str) -> list[str] | None:
    """Return the values of "1, 2 or 3", "x = 1 or x = 2" or ±2, without the variable."""
    if len(split_outside_brackets(text, {"or"})) > 1:
        return _split_values(text)
    name = _NAME.match(text)
    signed = _PLUS_MINUS.fullmatch(text[name.end() :] if name else text)
    return [signed.group(1).strip(), f"-{signed.group(1).strip()}"] if signed else None


def _split_values(text: str) -> list[str] | None:
    """Return the values of a list if all, only the first or none have the same variable."""
    values = split_outside_brackets(text, {",", "，", ";", "；", "and", "or", "&"})
    names = {name.group(1) for value in values if (name := _NAME.match(value))}
    return [_NAME.sub("", value, count=1) for value in values] if len(names) < 2 else None


# Ratios of numbers: 3:1 is 6:2 and 3/1, but not 3.

REL_TOLERANCE = 1e-6
_NUMERIC = re.compile(r"(?:\\(?:frac|sqrt|pi)(?![A-Za-z])|[\d.{}()\s+×/-])+")
_FRACTION = re.compile(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}|([^/]+)/([^/]+)")


def same_ratio(gold: str, pred: str) -> bool | None:
    """Return whether two tidied texts are the same ratio; None if neither is one.

    A ratio of two terms can be a fraction; a single number is not a ratio.
    """
    g, p = _terms(gold), _terms(pred)
    if g is None and p is None:
        return None
    g, p = g or _fraction(gold), p or _fraction(pred)
    if g is None or p is None:
        number = gold if g is None else pred
        return False if quantity(number) is not None else None
    return len(g) == len(p) and all(
        math.isclose(a * p[-1], b * g[-1], rel_tol=REL_TOLERANCE) for a, b in zip(g, p, strict=True)
    )


def _terms(text: str) -> list[float] | None:
    """Return the terms of a:b or a:b:c; None for labels and clock times (3:05)."""
    pieces = text.split(":")
    if len(pieces) < 2 or any(re.match(r"\s*0\d", piece) for piece in pieces):
        return None
    return _values(pieces)


def _fraction(text: str) -> list[float] | None:
    match = _FRACTION.fullmatch(text.strip())
    return _values([piece for piece in match.groups() if piece is not None]) if match else None


def _values(pieces: list[str]) -> list[float] | None:
    values = [_value(piece.strip()) for piece in pieces]
    readable = [value for value in values if value is not None]
    return readable if len(readable) == len(values) and readable[-1] != 0 else None


def _value(text: str) -> float | None:
    if not _NUMERIC.fullmatch(text):
        return None
    number = quantity(text)
    return number.value if number else numeric_value(text)


# Tiers of `match`: each returns whether two tidied texts are equal, or None if undecided.
#
# `same` compares parts of the texts by all tiers again.

_CLAUSE_WORDS = 4
"""A comma-separated text whose parts are all shorter is a list."""

_LETTER = r"[(\[]?[A-Za-z][)\]]?"
_ENCLOSED = re.compile(r"(\(|\\\{)([^()\[\]\\]*(?:\\(?![{}])[^()\[\]\\]*)*)(?:\)|\\\})")
_NAMED_TUPLE = re.compile(r"\(([A-Za-z\s,_{}\\\d]+)\)\s*=\s*\(([^()=]+)\)")
_DEGREES = re.compile(r"[-+\d.]+\s*°")
_STATES = re.compile(
    r"([^=<>:;,]{2,80}?)\s(?:is|are|was|were|equals|will be|must be|ist|sind|est|sont|es|son|é|è)"
    r"(?:\s(?:equal to|exactly))?\s+(\S.{0,80})|(\w[^=<>:;,$]{2,80}):\s+(\S.{0,200})",
    re.IGNORECASE | re.DOTALL,
)
_LEAVES = re.compile(r"(?<=[\w})])\s*\\(?:down|up)arrow\s*$")
"""The arrow of a solid or a gas that leaves a solution."""
_YES_OR_NO = re.compile(r"(yes|no)(?:[.,;:!]|\s*$)", re.IGNORECASE)
_LETTER_ALONE = re.compile(r"\b[A-Za-z]\b")
_RUN = re.compile(r"[A-J]{2,8}")
_IN_BRACES = re.compile(r"\\?\{([^{}]*?)\\?\}")
_LETTERS = re.compile(rf"{_LETTER}(?:(?:\s*(?:,|;|&|\band\b)\s*|\s+){_LETTER})+")


def _truth(gold: str, pred: str, is_same: Equality) -> bool | None:
    opening = _YES_OR_NO.match(pred) if gold.casefold() in ("yes", "no") else None
    if opening:
        return gold.casefold() == opening[1].casefold()
    g, p = truth(gold), truth(pred)
    return None if g is None or p is None else g == p


def _chemistry(gold: str, pred: str, is_same: Equality) -> bool | None:
    bare = without_label(gold), without_label(pred)
    if "arrow" in gold + pred:
        bare = _LEAVES.sub("", bare[0]), _LEAVES.sub("", bare[1])
    return same_chemistry(*bare)


def _number(gold: str, pred: str, is_same: Equality) -> bool | None:
    equal = same_quantity(gold, pred)
    return same_quantity(without_label(gold), without_label(pred)) if equal is None else equal


def _ratio(gold: str, pred: str, is_same: Equality) -> bool | None:
    return same_ratio(without_label(gold), without_label(pred))


def _letters(gold: str, pred: str, is_same: Equality) -> bool | None:
    g, p = _letter_set(gold), _letter_set(pred)
    if g is None or p is None:  # ACD and A, C, D; two runs of letters are names
        g, p = g or (_letter_run(gold) if p else None), p or (_letter_run(pred) if g else None)
    return None if g is None or p is None else g == p


def _letter_run(text: str) -> frozenset[str] | None:
    """Return the letters of a run in alphabetical order (ACD); other orders have a meaning."""
    run = text.strip()
    return frozenset(run) if _RUN.fullmatch(run) and list(run) == sorted(set(run)) else None


def _letter_set(text: str) -> frozenset[str] | None:
    """Return the letters of "a c d", "A, C and D"; None for one letter, words, repeats, T and F."""
    text = _IN_BRACES.sub(r"\1", text)
    if not _LETTERS.fullmatch(text):
        return None
    letters = [letter.upper() for letter in _LETTER_ALONE.findall(text)]
    return (
        frozenset(letters)
        if is_letter_set([AnswerPart("", letter) for letter in letters])
        else None
    )


def _parts(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare part by part, for every split of both; None if the gold answer is a single part.

    A list never equals a single part, unless the gold answer is prose with a comma.
    """
    splits = [entries for split in SPLITTERS if (entries := split(gold))]
    if not splits:
        return False if by_comma(pred) and not prose.is_prose(gold) else None
    pred_splits = [parts for split in SPLITTERS if (parts := split(pred))]
    return any(
        len(entries) == len(parts) and same_parts(entries, parts, is_same)
        for entries in splits
        for parts in pred_splits
    ) or (_is_sentence(gold, splits) and prose.same_words(gold, pred))


def _is_sentence(gold: str, splits: Sequence[Sequence[AnswerPart]]) -> bool:
    """Return whether a gold answer is prose with commas rather than a list of names."""
    if not prose.is_prose(gold) or any(all(part.key for part in parts) for parts in splits):
        return False
    return max(len(part.text.split()) for part in splits[-1]) >= _CLAUSE_WORDS


def same_parts(gold: Sequence[AnswerPart], pred: Sequence[AnswerPart], is_same: Equality) -> bool:
    """Compare by key if both have the same keys, as a set for option letters, else in order."""
    if truths(gold) is not None:
        is_same = same_truth
    keys = {part.key for part in pred}
    if "" not in keys and keys == {part.key for part in gold} and len(keys) == len(gold):
        by_key = {part.key: part.text for part in pred}
        return all(is_same(part.text, by_key[part.key]) for part in gold)
    if is_letter_set(gold) and not any(part.key for part in pred):
        return {fold(part.text) for part in gold} == {fold(part.text) for part in pred}
    return all(
        is_same(g.text, p.text) and (not (g.key and p.key) or same_key(g.key, p.key))
        for g, p in zip(gold, pred, strict=True)
    )


def same_truth(gold: str, pred: str) -> bool:
    return truth(gold, in_list=True) == truth(pred, in_list=True)


def same_key(gold: str, pred: str) -> bool:
    """Compare labels of different styles (1 for a) by order; labels of one style must agree."""
    digits = re.sub(r"[^\d+]", "", gold), re.sub(r"[^\d+]", "", pred)
    if gold.isalnum() and pred.isalnum() and len(gold) <= 4 and len(pred) <= 4:
        return gold == pred or gold.isdigit() != pred.isdigit()
    return digits[0] == digits[1]


def _plain_list(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare a tuple or set with an unbracketed list; (x, y) = (1, 2) is x = 1, y = 2."""
    named = _named_tuple(gold), _named_tuple(pred)
    if any(named):
        return is_same(named[0] or gold, named[1] or pred) or None
    inner = [
        _ENCLOSED.fullmatch(gold.strip()),
        _ENCLOSED.fullmatch(_use_round_brackets(pred.strip())),
    ]
    if (inner[0] is None) == (inner[1] is None):
        return None
    texts = [m.group(2) if m else text for m, text in zip(inner, (gold, pred), strict=True)]
    lists = [_order_coordinates(by_comma(text)) for text in texts]
    g, p = ([part.text for part in parts] for parts in lists)
    if len(g) < 2 or len(g) != len(p):
        return None
    if any(m and m.group(1) == "\\{" for m in inner):
        names = {part.key for parts in lists for part in parts if part.key}
        return len(names) < 2 and same_set(g, p, is_same)  # a set does not say which is x
    return all(is_same(a, b) for a, b in zip(g, p, strict=True))


def _order_coordinates(parts: list[AnswerPart]) -> list[AnswerPart]:
    """Return y = 4, x = 3 as x = 3, y = 4, for a point (3, 4)."""
    names = {part.key for part in parts}
    known = len(names) == len(parts) and names <= {"x", "y", "z"}
    return sorted(parts, key=lambda part: part.key) if known else parts


def _use_round_brackets(text: str) -> str:
    """Rewrite a list in square brackets, as in programs, with round ones."""
    return f"({text[1:-1]})" if text[:1] == "[" and text[-1:] == "]" else text


def _named_tuple(text: str) -> str | None:
    match = _NAMED_TUPLE.fullmatch(text.strip())
    names, values = (group.split(",") for group in match.groups()) if match else ([], [])
    if len(names) != len(values) or len(names) < 2:
        return None
    return ", ".join(f"{n.strip()} = {v.strip()}" for n, v in zip(names, values, strict=True))


def _tuple(gold: str, pred: str, is_same: Equality) -> bool | None:
    return same_bracketed(without_label(gold), without_label(pred), is_same)


def _relation(gold: str, pred: str, is_same: Equality) -> bool | None:
    return same_relation(without_label(gold), without_label(pred), is_same)


def _angle(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare degrees with a multiple of pi: 60° is pi/3."""
    if ("°" in gold) == ("°" in pred) or (r"\pi" in gold) == (r"\pi" in pred):
        return None
    degrees, radians = (gold, pred) if "°" in gold else (pred, gold)
    if _DEGREES.fullmatch(degrees.strip()) is None:
        angle = quantity(degrees)
        if angle is None or angle.unit is None:
            return None
        degrees = f"{angle.value}°"
    return same_formula(re.sub("°", r" × \\pi / 180", degrees), radians)


def _statement(gold: str, pred: str, is_same: Equality) -> bool | None:
    """Compare a sentence that states a value with an answer that is not a sentence."""
    states = [_STATES.fullmatch(text) for text in (gold, pred)]
    subjects = [match and (match[1] or match[3]) for match in states]
    values = [match and (match[2] or match[4]) for match in states]
    if values[0] and not states[1] and not prose.is_prose(values[0]):
        return is_same(values[0], pred) or None
    if states[0] or not values[1] or prose.denies(subjects[1] or ""):
        return None
    return is_same(gold, values[1]) or None


def _words(gold: str, pred: str, is_same: Equality) -> bool | None:
    if prose.is_prose(gold) or prose.is_prose(pred):
        return prose.same_words(without_label(gold), without_label(pred))
    return None


def _formula(gold: str, pred: str, is_same: Equality) -> bool | None:
    bare = without_label(gold), without_label(pred)
    return (
        same_text(*bare)
        or same_quantity(*bare)
        or same_formula(*bare)
        or same_constant(*bare)
        or (bare != (gold, pred) and same_formula(gold, pred))  # (2)x^2 has no label
    )


TIERS: tuple[tuple[str, Callable[[str, str, Equality], bool | None]], ...] = (
    ("truth value", _truth),
    ("chemistry", _chemistry),
    ("number", _number),
    ("angle", _angle),
    ("ratio", _ratio),
    ("letter set", _letters),
    ("alternatives", same_alternatives),
    ("interval", same_intervals),
    ("list", _plain_list),
    ("parts", _parts),
    ("tuple", _tuple),
    ("relation", _relation),
    ("statement", _statement),
    ("words", _words),
    ("formula", _formula),
)
TRUTHLESS = TIERS[1:]
"""Return the tiers for a gold answer in which T or F is a symbol."""


# Matching of one extracted answer with its gold answer, part by part, under the `robust` rules.
#
# A tier compares two texts and either decides (equal or not) or passes them on. Tiers run from the
# cheapest to the most expensive; the first that can decide does. The gold answer determines the
# kind of comparison.

MAX_CHARS = 4_000
MAX_DEPTH = 3
_BEFORE = re.compile(
    r"^\W{0,3}(?:answers?\s*:\s*|pH\s+(?:of\s+)?(?=\d)"
    r"|(?:(?:thus|therefore|hence),?|(?:so|in conclusion|finally),|so(?=\s+(?:\$|\\\()))\s+"
    r"|(?:so |thus |hence )?(?:in total,? )?(?:we (?:get|obtain|find|have)|there (?:is|are))\s+)"
    r"(?=\S)",
    re.IGNORECASE,
)
_APPROXIMATELY = re.compile(r"^[\s$]*(?:\\approx(?![A-Za-z])|≈)")
_ESCAPED_TWICE = re.compile(r"(?<!\\)\\\\(?=[A-Za-z]{2})")
_THIN_SPACE = re.compile(r"(?<=\d),\\!\s*(?=\d{3})")
_POINTED = re.compile(r"(?:\\left\s*)?\\langle(?![A-Za-z])([^|]*?,[^|]*?)(?:\\right\s*)?\\rangle")
_AROUND = re.compile(
    r"^(?:both|only)\s+(?=\S)|(?<=\S)\s+\(?(?:only|approximately|approx\.?)\)?(?=\W*$)",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"\\(?:text)?color\s*\{[^{}]*\}")
_WINS = re.compile(
    r"((?:^|(?<=[\s{$]))(?!(?:[Yy]es|[Nn]o|[Tt]rue|[Ff]alse|[Nn]obody|[Nn]either)\b)"
    r"(?:[A-Z][a-z]*|(?i:(?:the\s+)?(?:first|second|other|starting)|player)(?:\s+\w+)?))"
    r"\s+(?:wins|has (?:a|the) winning strategy)(?=\W*$)"
)
"""What is said of the name of a winner."""


def match_answer(gold: Sequence[str], pred: str) -> str | None:
    """Return the tier that finds `pred` equal to the whole gold answer; None if not equal.

    A gold answer of several entries is one answer in pieces: all of them are required. It is
    compared entry by entry, and also joined by commas, for lists that were split incorrectly. A
    gold answer that contains a derivation also matches by its stated answer.
    """
    # A timeout in one response must not affect another.
    decide_equality.cache_clear()
    gold, pred = [without_cue(entry) for entry in gold], without_cue(pred[:MAX_CHARS])
    if len(gold) == 1:
        stated = find_cued_answer(gold[0])
        return match_text(gold[0], pred) or (match_text(stated, pred) if stated else None)
    joined = ", ".join(gold)
    if same_text(joined, pred) or same_text("; ".join(gold), pred):
        return "same text"
    labelled = [labelled_part(tidy(entry)) for entry in gold]
    named = labelled if any(part.key for part in labelled) else key_pieces([tidy(g) for g in gold])
    for split in SPLITTERS:
        parts = split(tidy(pred))
        entries = named if all(part.key for part in parts) else labelled
        if len(parts) == len(entries) and same_parts(entries, parts, _one_deeper(0)):
            return "parts"
    return match_text(joined, pred)


def match_text(gold: str, pred: str, depth: int = 0) -> str | None:
    """Return the tier that finds one text equal to another, or None if they differ."""
    tier, equal = decide_equality(gold, pred, depth)
    return tier if equal else None


@lru_cache(maxsize=4096)
def decide_equality(gold: str, pred: str, depth: int = 0) -> tuple[str, bool]:
    """Return the tier that can decide whether two texts are equal, and its verdict."""
    if not pred.strip() or depth > MAX_DEPTH:
        return "missing", False
    if same_text(gold, pred):
        return "same text", True
    tiers = TRUTHLESS if is_symbol(gold) else TIERS
    raw = gold, pred
    money = [_name_currency(text) for text in raw]
    if any(money):
        raw = gold, pred = _write_cents(gold, pred, money[1]), _write_cents(pred, gold, money[0])
        named = zip(money, raw, strict=True)
        money = [name or (_POUND if "pound" in text else None) for name, text in named]
    gold, pred = tidy(gold), tidy(pred)
    if money[0] != money[1] and (all(money) or _has_unit(pred if money[0] else gold)):
        return "number", False
    if _exchange_or(gold, pred):
        return "alternatives", False
    is_same = _one_deeper(depth)
    verdicts = ((name, tier(gold, pred, is_same)) for name, tier in tiers)
    name, equal = next((v for v in verdicts if v[1] is not None), ("same text", False))
    if equal and name in _LISTS and "..." in gold + pred:
        equal = bool(_DOTS.search(gold)) == bool(_DOTS.search(pred))
    elif not equal and name in _SECOND_OPINION and same_mathematics(*raw, is_same):
        return "mathematics", True
    return name, bool(equal)


_LISTS = frozenset(("list", "parts", "tuple"))
_DOTS = re.compile(r"(?:^|,)\s*\.\.\.\s*(?=,|[)\]}]|\\\}|$)")
"""What is left out in a list: 1, 2, ..., 10 is not 1, 2, 10."""
_CURRENCY = re.compile(
    r"(\\\$|US\$|USD|^\$(?=\d[\d,.]*$)|\bdollars?\b)|(€|EUR|\beuros?\b)|(£|GBP)"
    r"|(¥|CNY|RMB|JPY|\byuan\b|\byen\b)|(₹|INR|\brupees?\b)"
)
_POUND, _WITH_CENTS = 3, (1, 2)
_CENTS = re.compile(r"[\s$]*(\d{1,9}(?:\.\d{1,4})?)\s*(?:\\text\s*\{\s*)?(?:cents?|¢)\s*\}?[\s.$]*")


def _name_currency(text: str) -> int | None:
    found = _CURRENCY.search(text)
    return found and found.lastindex


def _write_cents(text: str, other: str, currency: int | None) -> str:
    """Return 50 cents as 0.5 beside an amount of dollars or euros."""
    cents = _CENTS.fullmatch(text) if currency in _WITH_CENTS and "cent" not in other else None
    return f"{float(cents[1]) / 100:g}" if cents else text


def _has_unit(text: str) -> bool:
    measured = quantity(text) or quantity(without_label(text))
    if "pound" in text:  # of money or of mass
        return False
    return measured is not None and (measured.unit is not None or measured.percent)


_SECOND_OPINION = frozenset((
    "letter set", "alternatives", "interval", "list", "parts", "tuple", "relation", "words",
    "formula", "same text", "number", "ratio", "angle",
))  # fmt: skip
"""Tiers that may not know the notation of a text that they call different."""


def without_cue(text: str) -> str:
    """Strip a leading "Answer:" or "Thus," and a surrounding "both" or "only"; write out matrices.

    The thin space that sets a group of thousands is dropped: 1,\\!000.
    """
    if "color" in text:
        text = _COLOUR.sub("", text)
    plain = _APPROXIMATELY.sub("", _AROUND.sub("", _BEFORE.sub("", text)))
    if "win" in plain:
        plain = _WINS.sub(r"\1", plain)
    if "\\" not in plain:
        return plain
    if "\\\\" in plain and "\\begin" not in plain:
        plain = _ESCAPED_TWICE.sub(r"\\", plain)
    return _THIN_SPACE.sub(",", flatten_environments(_POINTED.sub(r"(\1)", plain)))


def _one_deeper(depth: int) -> Equality:
    def same(gold: str, pred: str) -> bool:
        if not gold.strip() or not pred.strip():
            return gold.strip() == pred.strip()
        return match_text(gold, pred, depth + 1) is not None

    return same
