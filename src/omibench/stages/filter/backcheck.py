"""A check without a model that a translation says what its original says."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from glyphtex.latex import FormulaSpan, find_formulas, normalise, replace_formulas
from omibench.schemas.problem import IMAGE_MARK
from omibench.text.pieces import knows, negated_sentences

_COMMANDS = """
    angle ∠ parallel ∥ perp ⊥ circ ° degree ° triangle △ odot ⊙ le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥
    geqslant ≥ ne ≠ neq ≠ times × cdot · pm ± mp ∓ sqrt √ infty ∞ in ∈ cup ∪ cap ∩ subset ⊂ sim ∼
    cong ≅ approx ≈ to → rightarrow → leftarrow ← Rightarrow ⇒ rightleftharpoons ⇌ div ÷ sum ∑ int ∫
    partial ∂ parallelogram ▱ prime ' alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ
    eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ phi φ varphi φ
    chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω
"""
_SIGNS = dict(zip(_COMMANDS.split()[::2], _COMMANDS.split()[1::2], strict=True))
_ALIKE = str.maketrans("∽∼≌−–⫽‖∆∶", "~~≅--∥∥Δ:")
_DIGITS = "0123456789-+"
_RAISED = {"^": "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "_": "₀₁₂₃₄₅₆₇₈₉₋₊"}
_BRACED = re.compile(r"([\^_])\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_DELIMITERS = re.compile(r"\\[()\[\]]|\$")


def flatten_math(text: str) -> str:
    """Return text with formulas without delimiters and commands, and signs as characters.

    Superscripts and subscripts of digits become `^2` and `_2`, a fraction `a/b`; a command without
    a sign, such as `\\mathrm`, is removed.
    """
    plain = unify(text)
    while (simpler := _FRACTION.sub(r"\1/\2", plain)) != plain:
        plain = simpler
    plain = _COMMAND.sub(lambda command: f" {_SIGNS.get(command[1], '')} ", plain)
    plain = _DELIMITERS.sub(" ", plain).translate(_ALIKE)
    return plain.replace("^ °", "°").replace("^°", "°").replace("{", "").replace("}", "")


def unify(text: str) -> str:
    """Return text with unified signs, and raised and lowered digits as `^2` and `_2`."""
    plain = text
    for sign, digits in _RAISED.items():
        plain = re.sub(f"([{digits}]+)", rf"{sign}\1", plain)
        plain = plain.translate(str.maketrans(digits, _DIGITS))
    plain = unicodedata.normalize("NFKC", plain).translate(_ALIKE)
    return _BRACED.sub(r"\1\2", plain)


# Model-free check that a translation preserves the meaning of its original.
#
# Marks of pictures, numbers, signs and formulas, names of quantities and negations must be
# preserved (OMIBench, A.2: notation and subtle constraints). A false alarm costs a translation, but
# a changed number would cause a wrong question, so anything unmatched counts as lost.

_NUMBER = re.compile(r"(?:(?<![A-Za-z0-9)\]}.,])-)?\d+(?:[.,]\d+)*")
_POINTED = re.compile(r"(?:(?<![A-Za-z0-9)\]}.])-)?\d+(?:,\d{3})*(?!\d)(?:\.\d+)*")
_WITH_POINT = ("en", "zh", "ja", "ko")
"""Languages with a decimal point, so that a comma separates numbers or thousands."""
_STRUCTURE = re.compile(r"[\\^_]")
_WORDS = re.compile(r"\\mathrm\{([^{}]*)\}")
_SINGLE_SIGNS = frozenset("%‰°·△⊙▱")
_AREA = re.compile(r"(?<=m)\^[23](?!\d)")
_TABLE = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_LATIN = r"A-Za-zÀ-ɏ\d_"
_SINGLE = rf"(?<![{_LATIN}'’\-])([b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ])(?![{_LATIN}'’-])"
_LETTER, _SURE_LETTER = re.compile(_SINGLE), re.compile(rf"(?<!\.){_SINGLE}(?![.)])")
_MAX_LISTED = 4


def findings(
    original: str,
    translation: str,
    language: str,
    negation_words: Mapping[str, Sequence[str]] | None = None,
) -> list[str]:
    """Return the losses of an English translation, one line each; empty if there are none.

    `negation_words` are additional words of negation by language.
    """
    if not translation.strip():
        return ["the translation is empty"]
    before, after = (
        unify(_respell_formulas(IMAGE_MARK.sub(" ", text))) for text in (original, translation)
    )
    original_text, translated_text = (_without_bars(flatten_math(text)) for text in (before, after))
    return [
        *_marks(original, translation),
        *_formulas(original, translation),
        *_numbers(original_text, translated_text, language),
        *compare_counts("signs", _signs(original_text), _signs(translated_text)),
        *_letters(original_text, translated_text),
        *_negations(original_text, translated_text, language, negation_words or {}),
    ]


def readings(number: str) -> frozenset[str]:
    """Return possible values of a written number: `1.500` is 1.500 or 1500, `20,0` only 20.0."""
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    groups = re.split(r"[.,]", digits)
    marks = re.findall(r"[.,]", digits)
    integer = sign + "".join(groups)
    if not marks:
        return frozenset({integer})
    grouped = all(len(group) == 3 for group in groups[1:]) and len(groups[0]) <= 3
    decimal = f"{sign}{''.join(groups[:-1])}.{groups[-1]}"
    if len(marks) == 1:
        return frozenset({decimal, integer} if grouped else {decimal})
    if len(set(marks)) == 1:
        return frozenset({integer} if grouped else {digits})
    return frozenset({decimal})


def _respell_formulas(text: str) -> str:
    r"""Return text with formulas in one spelling: `\frac g2` and `\frac{g}{2}` are the same."""
    return replace_formulas(text, lambda span: f"${normalise(span.latex)}$")


def _without_bars(text: str) -> str:
    """Return text with bars of tables removed, since translators may draw them."""
    return _TABLE.sub(lambda row: row[0].replace("|", " "), text)


def _marks(original: str, translation: str) -> list[str]:
    before, after = (IMAGE_MARK.findall(text) for text in (original, translation))
    if before == after:
        return []
    listings = [", ".join(f"[IMAGE{n}]" for n in marks) or "none" for marks in (before, after)]
    return [f"marks of images: {listings[0]} became {listings[1]}"]


def _numbers(before: str, after: str, language: str) -> list[str]:
    if language == "zh":  # writes areas and volumes as words
        before, after = _AREA.sub("", before), _AREA.sub("", after)
    numbers_after = (_POINTED if language in _WITH_POINT else _NUMBER).findall(after)
    lost = []
    for number in (_POINTED if language in _WITH_POINT else _NUMBER).findall(before):
        meant = readings(number)
        match = next(
            (counterpart for counterpart in numbers_after if readings(counterpart) & meant), None
        )
        if match is None:
            lost.append(number)
        else:
            numbers_after.remove(match)
    # `10 000` and `10,000`, `(2,0)` and `(2, 0)`: the same digits, grouped differently.
    if len(lost) != len(numbers_after) and _digits(lost) == _digits(numbers_after):
        return []
    return _describe_difference("numbers", lost, numbers_after)


def _digits(numbers: Sequence[str]) -> str:
    return re.sub(r"[.,]", "", "".join(numbers))


def compare_counts(noun: str, before: Counter[str], after: Counter[str]) -> list[str]:
    return _describe_difference(
        noun, list((before - after).elements()), list((after - before).elements())
    )


def _signs(text: str) -> Counter[str]:
    return Counter(
        c
        for c in text
        if c in _SINGLE_SIGNS
        or unicodedata.category(c) == "Sm"
        or unicodedata.name(c, "").startswith("GREEK ")
    )


def _formulas(before: str, after: str) -> list[str]:
    """Return the normalized formulas: all of them, if both texts have the same number.

    Otherwise a translator has set plain signs as formulas, or the reverse. Then only those with
    scripts or commands must be preserved; the content of others is counted elsewhere.
    """
    forms = [[_unify_formula(span) for span in find_formulas(text)] for text in (before, after)]
    if any(not words.isascii() for form in forms[0] for words in _WORDS.findall(form)):
        # Words of another script in formulas are translated.
        forms = [[_WORDS.sub("", form) for form in group] for group in forms]
    counts = [Counter(group) for group in forms]
    if counts[0].total() == counts[1].total():
        return compare_counts("formulas", *counts)
    lost = [
        formula
        for formula in (counts[0] - counts[1]).elements()
        if formula and _STRUCTURE.search(formula)
    ]
    return _describe_difference("formulas", lost, [])


def _unify_formula(span: FormulaSpan) -> str:
    """Return the normalized formula, with a decimal point."""
    return re.sub(r"(?<=\d),(?=\d)", ".", normalise(span.latex))


def _letters(before: str, after: str) -> list[str]:
    """Return names of quantities: single letters that are not words of the known languages."""
    lost = set(_SURE_LETTER.findall(before)) - set(_LETTER.findall(after))
    new = set(_SURE_LETTER.findall(after)) - set(_LETTER.findall(before))
    return _describe_difference("single letters", sorted(lost), sorted(new))


def _negations(
    before: str, after: str, language: str, negation_words: Mapping[str, Sequence[str]]
) -> list[str]:
    if not knows(language, negation_words):
        return [
            f"negations of {language!r} are unknown: set its words in filter.translation.negations"
        ]
    count_before = negated_sentences(before, language, negation_words)
    count_after = negated_sentences(after, "en", negation_words)
    if count_before == count_after:
        return []
    return [
        f"negations: in {count_before} sentences of the original, "
        f"in {count_after} of the translation"
    ]


def _describe_difference(noun: str, lost: Sequence[str], new: Sequence[str]) -> list[str]:
    parts = [
        f"{verb} {_quote_first(items)}" for verb, items in (("lost", lost), ("new", new)) if items
    ]
    return [f"{noun}: {'; '.join(parts)}"] if parts else []


def _quote_first(items: Sequence[str]) -> str:
    ellipsis = " ..." if len(items) > _MAX_LISTED else ""
    return f"{', '.join(map(repr, items[:_MAX_LISTED]))}{ellipsis}"
