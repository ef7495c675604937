"""Alternative solutions in any order: x = 1 or x = 2, ±2."""

from __future__ import annotations

import re

from omibench.answers.formulas.operators import Equality, same_set
from omibench.answers.parts import split_labelled
from omibench.text.pieces import split_outside_brackets

_NAME = re.compile(r"\s*(\\?[A-Za-z]+(?:_\{\w+\})?)\s*=\s*(?=\S)")
_PLUS_MINUS = re.compile(r"\s*±\s*([^±]+)")
_SIGN = re.compile(r"±|或|\s(?:or|oder|ou|или)\s")
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
    g, p = alternatives(gold), alternatives(pred)
    if (g is None and p is None) or (_PLUS_MINUS.search(gold) and _PLUS_MINUS.search(pred)):
        return None
    g, p = g or _split_values(gold), p or _split_values(pred)
    if g is None or p is None or len(g) != len(p):
        return None
    return same_set(g, p, is_same)


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
