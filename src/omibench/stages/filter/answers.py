"""Interpretation of a key's answer: one option, several, or nothing definite."""

from __future__ import annotations

import re

from omibench.schemas.problem import Choice

_LETTERS = re.compile(
    r"\s*(?:\(?([A-Z])[.)]?)((?:\s*(?:,|;|/|&|\bor\b|\band\b|\bund\b|\boder\b|\bou\b|\bet\b|"
    r"\b[oyeu]\b|[和或、])?\s*\(?[A-Z][.)]?)*)\s*"
)
_ALTERNATIVES = re.compile(r"\s+(?:or|oder|ou|either)\s+|\s*或(?:者)?\s*", re.I)
_ALTERNATIVES_OF = {"es": re.compile(r"\s+[ou]\s+", re.I), "it": re.compile(r"\s+o\s+", re.I)}
_EQUATION = re.compile(r"\s*\$?\\?(\w{1,8})\s*(?:=|<|>|≤|≥|\\leq?|\\geq?)\s*\S")
_ELSEWHERE = re.compile(
    r"^\W*(?:see|siehe|véase|vease|ver|vide|voir|refer to)\b|^\W*[见參参]|"
    r"\b(?:see|siehe|véase|ver|voir)\s+(?:\w+\s+)?(?:solutions?|page|appendix|figure|table|text|"
    r"below|above|sheet|diagram|scheme|lösung|seite|soluci[oó]n|solução|página|corrigé|annexe)\b",
    re.I,
)
_NO_ANSWER = re.compile(
    r"^\W*(?:cancel+ed|annul+ed|withdrawn|deleted|void(?:ed)?|anulad[ao]|annul[ée]e?|gestrichen|"
    r"discarded|answers? (?:may )?var(?:y|ies)|varies|various|n/a|tbd|none given)\W*$|"
    r"^\W*(?:作废|略)\W*$",
    re.I,
)
_ALL_THAT_APPLY = re.compile(
    r"\b(?:all|any|those)\s+(?:\w+\s+){0,3}?(?:that|which)\s+(?:\w+\s+)?(?:apply|applies|are|is|hold)|"
    r"\bis\s?/\s?are\b|\b(?:statement|option|answer|reason|choice|alternative)(?:/s|\(s\))|"
    r"\b(?:one or more|more than one|(?:which|choose|select|mark|tick)\s+(?:the\s+)?"
    r"(?:two|three|four|all|statements|options))\b|"
    r"\btod[ao]s\s+(?:\w+\s+){0,3}?que\b|\b(?:una|uma) o[u]? m[aá]i?s\b|"
    r"\balle[ns]?\s+(?:\w+\s+){0,2}?(?:richtigen|zutreffenden)|\beine oder mehrere\b|"
    r"\btoutes?\s+les\b|\bune ou plusieurs\b|多选|所有正确|不定项|哪些",
    re.I,
)


def option_letters(answer: str) -> list[str] | None:
    """Return the letters of a multiple-choice answer (`B`, `(B)`, `B or D`, `BD`), else None."""
    squeezed = " ".join(answer.split())
    match = _LETTERS.fullmatch(squeezed) if len(squeezed) <= _LONGEST_LIST else None
    if not match:
        return None
    return [match.group(1), *re.findall(r"[A-Z]", match.group(2))]


def asks_for_several(statement: str) -> bool:
    """Return whether the statement allows more than one option."""
    return _ALL_THAT_APPLY.search(statement) is not None


def ambiguous_options(answer: list[str], choices: list[Choice], statement: str) -> str | None:
    """Return why a multiple-choice answer does not identify an option, or None."""
    if len(answer) == len(choices) and all(is_truth_value(part) for part in answer):
        return None
    named = [_named_options(part, choices) for part in answer]
    labels = ", ".join(choice.label for choice in choices)
    for part, options in zip(answer, named, strict=True):
        if options is None:
            return f"the key says {part!r}, which is none of the choices {labels}"
    letters = list(dict.fromkeys(letter for options in named if options for letter in options))
    if len(letters) > 1 and not asks_for_several(statement):
        return f"the key names {len(letters)} choices ({', '.join(letters)}) where one is asked for"
    return None


def ambiguous_text(part: str, language: str) -> str | None:
    """Return why one part of an open answer is not definite, or None."""
    part = " ".join(part.split())
    if "?" in part or "？" in part:
        return f"the key has a question mark: {part!r}"
    if _NO_ANSWER.search(part):
        return f"the key withholds an answer: {part!r}"
    if _ELSEWHERE.search(part):
        return f"the key refers elsewhere: {part!r}"
    if len(part.split()) > _SENTENCE:
        return None  # in a sentence, "or" joins clauses
    alternatives = [
        options
        for pattern in (_ALTERNATIVES, _ALTERNATIVES_OF.get(language))
        if pattern and len(options := pattern.split(part)) > 1
    ]
    # "x = 1 or x = 2" is one definite answer: the solution set of an equation.
    if alternatives and not all(_same_variable(options) for options in alternatives):
        return f"the key gives alternatives: {part!r}"
    return None


def is_truth_value(part: str) -> bool:
    """Return whether one part of an answer is plain true or false, in any of the six languages."""
    return part.strip(" .").casefold() in _TRUTH_VALUES


_SENTENCE = 8  # words
_LONGEST_LIST = 60  # characters
_TRUTH_WORDS = """
    true false t f yes no verdadero falso v verdadeiro wahr falsch vrai faux 对 错 正确 错误
"""
_TRUTH_VALUES = frozenset(_TRUTH_WORDS.split())


def _named_options(part: str, choices: list[Choice]) -> list[str] | None:
    labels = {choice.label.upper(): choice.label for choice in choices}
    letters = option_letters(part)
    if letters and all(letter in labels for letter in letters):
        return letters
    by_text = [c.label for c in choices if c.text and c.text.strip() == part.strip()]
    if part.strip().upper() in labels:
        return [labels[part.strip().upper()]]
    return by_text or None


def _same_variable(options: list[str]) -> bool:
    variables = [m.group(1) if (m := _EQUATION.match(option)) else None for option in options]
    return variables[0] is not None and len(set(variables)) == 1
