"""Whether a translation says what its original says, as far as that can be checked without a model.

Marks of pictures, numbers, signs and formulas, names of quantities and negations must survive
(OMIBench, A.2: notation and subtle constraints). A false alarm costs a translation; a number that
has changed would cost a wrong question, so what cannot be matched counts as lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from omibench.filter.negations import knows, negated_sentences
from omibench.problem import IMAGE_MARK

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺₀₁₂₃₄₅₆₇₈₉₋₊", "0123456789-+0123456789-+")
_SPACED = re.compile(r"(?<=\d)[\u00a0\u202f\u2009 ](?=\d{3}(?!\d))")
_NUMBER = re.compile(r"(?:(?<![\w)\]}.,])-)?\d+(?:[.,]\d+)*")
_FORMULA = re.compile(r"\$([^$]+)\$")
_SIGNS = frozenset("%‰°·")
_LETTER = re.compile(r"(?<![\w'’.\\-])([b-df-hj-np-tv-xz])(?![\w'’-]|\.\w)", re.IGNORECASE)
_SHOWN = 4


def findings(
    original: str, translation: str, language: str, own: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """What does not survive in an English translation, one line each; nothing when all does.

    `own` are a user's words of negation by language.
    """
    if not translation.strip():
        return ["the translation is empty"]
    before, after = _plain(original), _plain(translation)
    if not _FORMULA.search(before):  # a translator may set in dollars what was read without them
        after = after.replace("$", "")
    return [
        *_marks(original, translation),
        *_numbers(before, after),
        *_counted("signs", _signs(before), _signs(after)),
        *_counted("formulas", _formulas(before), _formulas(after)),
        *_letters(before, after),
        *_negations(before, after, language, own or {}),
    ]


def readings(number: str) -> frozenset[str]:
    """What a written number may mean: `1.500` is 1.500 or 1500, `20,0` only 20.0."""
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    groups = re.split(r"[.,]", digits)
    marks = re.findall(r"[.,]", digits)
    whole = sign + "".join(groups)
    if not marks:
        return frozenset({whole})
    grouped = all(len(group) == 3 for group in groups[1:]) and len(groups[0]) <= 3
    decimal = f"{sign}{''.join(groups[:-1])}.{groups[-1]}"
    if len(marks) == 1:
        return frozenset({decimal, whole} if grouped else {decimal})
    if len(set(marks)) == 1:
        return frozenset({whole} if grouped else {digits})
    return frozenset({decimal})


def _plain(text: str) -> str:
    raised = IMAGE_MARK.sub(" ", text).replace("−", "-").replace("–", "-").translate(_RAISED)
    return _SPACED.sub("", unicodedata.normalize("NFKC", raised))


def _marks(original: str, translation: str) -> list[str]:
    before, after = (IMAGE_MARK.findall(text) for text in (original, translation))
    if before == after:
        return []
    told = [", ".join(f"[IMAGE{n}]" for n in marks) or "none" for marks in (before, after)]
    return [f"marks of images: {told[0]} became {told[1]}"]


def _numbers(before: str, after: str) -> list[str]:
    there = _NUMBER.findall(after)
    lost = []
    for number in _NUMBER.findall(before):
        meant = readings(number)
        match = next((other for other in there if readings(other) & meant), None)
        if match is None:
            lost.append(number)
        else:
            there.remove(match)
    return _told("numbers", lost, there)


def _counted(what: str, before: Counter[str], after: Counter[str]) -> list[str]:
    return _told(what, list((before - after).elements()), list((after - before).elements()))


def _signs(text: str) -> Counter[str]:
    bare = _FORMULA.sub(" ", text)
    return Counter(
        c
        for c in bare
        if c in _SIGNS
        or unicodedata.category(c) == "Sm"
        or unicodedata.name(c, "").startswith("GREEK ")
    )


def _formulas(text: str) -> Counter[str]:
    # A decimal comma may become a point, in one of the ways in which LaTeX writes it.
    squeezed = ("".join(formula.split()) for formula in _FORMULA.findall(text))
    return Counter(re.sub(r"(?<=\d)(?:\{,\}|,)(?=\d)", ".", formula) for formula in squeezed)


def _letters(before: str, after: str) -> list[str]:
    """Names of quantities: single letters that are no word of the languages that we read."""
    one, other = (
        set(_LETTER.findall(_FORMULA.sub(" ", text))) - {"y", "Y"} for text in (before, after)
    )
    return _told("single letters", sorted(one - other), sorted(other - one))


def _negations(
    before: str, after: str, language: str, own: Mapping[str, Sequence[str]]
) -> list[str]:
    if not knows(language, own):
        return [
            f"negations of {language!r} are unknown: name its words in filter.translation.negations"
        ]
    one = negated_sentences(before, language, own)
    other = negated_sentences(after, "en", own)
    if one == other:
        return []
    return [f"negations: in {one} sentences of the original, in {other} of the translation"]


def _told(what: str, lost: Sequence[str], new: Sequence[str]) -> list[str]:
    parts = [
        f"{verb} {', '.join(map(repr, some[:_SHOWN]))}{' ...' if len(some) > _SHOWN else ''}"
        for verb, some in (("lost", lost), ("new", new))
        if some
    ]
    return [f"{what}: {'; '.join(parts)}"] if parts else []
