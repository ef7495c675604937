"""The computed reasons of the filter, and what they measure."""

from __future__ import annotations

import re

from omibench.datasets.likeness import count_words
from omibench.params.stages.filter import FilterParams
from omibench.schemas.problem import Choice, Figure, Problem
from omibench.stages.filter.candidate import Candidate, Case, figure_distance
from omibench.stages.filter.reasons.registry import reason
from omibench.stages.filter.statement import (
    find_unfinished_part,
    introduces_pictures,
    legible_share,
    printed_number,
    referred_numbers,
    refers_to_all,
    refers_to_pictures,
)

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
    if len(part.split()) > _SENTENCE_WORDS:
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


_SENTENCE_WORDS = 8  # words
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


# Scope of a study: excluded subjects, languages, years, and tasks without a definite answer.

_PROOF = (
    r"prove|show that|demonstrate that|demuestr[ae]|pruebe que|demonstre|prove que|mostre que|"
    r"beweise[n]?|zeigen? sie|d[eé]montre[rz]|montre[rz] que|prouve[rz]"
)
_DRAWING = (
    r"sketch|draw|construct (?:the|a|an) \w+ (?:with|using) (?:a )?(?:ruler|compass)|dibuj[ae]|"
    r"esboce|trace el|desenhe|zeichne[n]?|skizziere[n]?|dessine[rz]|trace[rz]|esquisse[rz]"
)
_PART = r"[(（]?\s?(?:[a-z]|\d{1,2}|[ivx]{1,4})\s?[.)）:]"
_TASK = re.compile(
    rf"^\W*(?:{_PART}\W*)?(?:(?P<proof>(?:{_PROOF})\b|证明|求证)|(?P<drawing>(?:{_DRAWING})\b|画出|作图))",
    re.I,
)
_SUBPART = re.compile(r"[(（]\s?(?:[a-z]|\d{1,2}|[ivx]{1,4})\s?[)）]", re.I)
_SENTENCE_END = re.compile(r"(?<=[.?!:。？！])\s+|(?<=[。？！])")
_QUESTION = re.compile(
    r"(?:find|obtain|determine|calculate|compute|evaluate|derive|estimate|what|which|how)\b|"
    r".*[?？]\W*$",
    re.I,
)
_MAX_EXCERPT = 60  # maximum characters of a task in evidence


def find_unwanted_property(problem: Problem, statement: str, params: FilterParams) -> str | None:
    """Return why a problem is outside the scope in `params`, or None."""
    for noun, value, allowed in (
        ("subject", problem.subject, params.subjects),
        ("language", problem.language, params.languages),
    ):
        if allowed is not None and value not in allowed:
            return f"its {noun} is {value!r}; wanted: {', '.join(allowed) or 'none'}"
    if params.since is not None and (problem.year or params.since) < params.since:
        return f"its paper is of {problem.year}; wanted: since {params.since}"
    count, wanted = len(problem.choices or []), params.wanted_choices
    if wanted is not None and count != wanted:
        return f"it has {count or 'no'} choices; wanted: {wanted}"
    return None if params.proofs or problem.choices else _task(statement)


def _task(statement: str) -> str | None:
    """Return the request of the last sentence if it is a proof or a drawing."""
    sentences = [s for s in _SENTENCE_END.split(statement) if s.strip()]
    match = _TASK.search(sentences[-1]) if sentences else None
    if not match or _SUBPART.search(sentences[-1], match.end()):
        return None  # later parts have other requests
    kind = "proof" if match["proof"] else "drawing"
    if kind == "drawing" and any(_QUESTION.match(s.strip()) for s in sentences[-3:-1]):
        return None  # the sketch accompanies a requested answer
    quoted = sentences[-1].strip()[:_MAX_EXCERPT]
    return f"it asks for a {kind}, with which no answer can be compared: {quoted!r}"


# The computed reasons of the filter, in the order in which they are given.
#
# Each is a pure function that returns its evidence (the measured value, with the threshold) or
# None. They make items 3.2 and A.2 of the OMIBench paper ("complete and legible", "well defined and
# unambiguous", duplicates, unresolved OCR errors, several images) measurable.

# U+FFFD replaces a character that could not be decoded; private-use and control characters come
# from fonts without a Unicode table, as does "(cid:12)".
_BROKEN = re.compile(
    "[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff\x00-\x08\x0b\x0c\x0e-\x1f]|\\(cid:\\d+\\)"
)
_MAX_QUOTED = 5  # maximum corrupted words in evidence


@reason("out_of_scope")
def out_of_scope(case: Case) -> str | None:
    """A subject, a language, a year or a type of task that the study excludes."""
    return find_unwanted_property(case.problem, case.candidate.statement, case.params)


@reason("statement_incomplete")
def statement_incomplete(case: Case) -> str | None:
    """The statement is too short, breaks off, or lacks the choices or figures that it mentions.

    A choice that is a picture counts as one word.
    """
    choices = case.problem.choices or []
    text = " ".join([case.candidate.statement, *(choice.text or "" for choice in choices)])
    pictures = sum(choice.image is not None for choice in choices)
    words, needed = count_words(text) + pictures, case.params.min_words
    if words < needed:
        return f"statement and choices have {words} words; at least {needed} are needed"
    return find_unfinished_part(case.problem, case.candidate.statement)


@reason("statement_illegible")
def statement_illegible(case: Case) -> str | None:
    """Too many of its words are not legible as words or numbers."""
    share, spoilt = legible_share(case.candidate.statement)
    if share >= case.params.min_legible:
        return None
    quoted = ", ".join(map(repr, spoilt[:_MAX_QUOTED]))
    return (
        f"{share:.2f} of its words can be read; at least {case.params.min_legible:g} are needed; "
        f"not {quoted}"
    )


@reason("answer_missing")
def answer_missing(case: Case) -> str | None:
    """No key gives the answer, or a part of it is blank."""
    answer = case.problem.answer
    if not answer:
        return "no key gives an answer"
    blank = [i for i, part in enumerate(answer, 1) if not part.strip(" .-–—_")]
    return f"part {blank[0]} of {len(answer)} of the answer is blank" if blank else None


@reason("answer_ambiguous")
def answer_ambiguous(case: Case) -> str | None:
    """Key and solution disagree, the key has several options instead of one, or none of the
    choices.
    """
    problem, answer = case.problem, case.problem.answer or []
    conflict = next((w for w in problem.warnings if w.code == "answer_conflict"), None)
    if conflict:
        return f"the sources disagree: {conflict.detail}"
    if problem.choices:
        return ambiguous_options(answer, problem.choices, case.candidate.statement)
    verdicts = (ambiguous_text(part, problem.language) for part in answer)
    return next((verdict for verdict in verdicts if verdict), None)


@reason("too_few_images")
def too_few_images(case: Case) -> str | None:
    """Fewer distinct images, by SHA-256 of their bytes, than `filter.min_images`."""
    distinct, image_count = len(case.candidate.contents), len(case.problem.images)
    needed = case.params.least_images
    if distinct >= needed:
        return None
    return f"{distinct} distinct of {image_count} images; at least {needed} are needed"


@reason("image_not_referred_to")
def image_not_referred_to(case: Case) -> str | None:
    """A figure that the statement does not refer to; picture choices refer to themselves."""
    figures, text = _evidence_figures(case.problem), case.candidate.statement
    if not figures:
        return None
    numbers = {i: printed_number(figure.caption) for i, figure in figures.items()}
    kinds = {number.kind for number in numbers.values() if number}
    referred = {number for number in referred_numbers(text) if number.kind in kinds}
    if not referred or refers_to_all(text):
        if refers_to_pictures(text) or introduces_pictures(case.problem.question):
            return None
        return f"no word of the statement points at any of its {len(figures)} figures"
    left_out = [f"[IMAGE{i}] ({n})" for i, n in numbers.items() if n and n not in referred]
    if not left_out:
        return None
    spoken = ", ".join(map(str, sorted(referred)))
    return f"the statement refers to {spoken} only, not to {', '.join(left_out)}"


@reason("exact_duplicate")
def exact_duplicate(case: Case) -> str | None:
    """Same normalized text, and figures with the same content or look.

    Crops of one figure from two papers differ in bytes, so figures within `near_duplicate_images`
    bits count as the same. A photograph and the clean picture of the same problem are not copies.
    """
    for earlier in case.kept.same(case.candidate):
        if case.candidate.problem.photograph and _share_stem(case.candidate, earlier):
            continue
        bits = figure_distance(case.candidate, earlier)
        if bits is not None and bits <= case.params.near_duplicate_images:
            return f"same text as {earlier.problem.id}; {_figures(case, bits)}"
    return None


@reason("near_duplicate")
def near_duplicate(case: Case) -> str | None:
    """Text similarity of at least `near_duplicate`, with similar figures.

    Similarity is the greater of rapidfuzz's normalized indel similarity of the texts and the Dice
    coefficient of their three-word shingles, which stays high if sentences are moved. Problems of
    one shared stem are parts of one paper, not copies.
    """
    alike = (
        (earlier, similarity, bits)
        for earlier, similarity in _similar(case)
        if (bits := figure_distance(case.candidate, earlier)) is not None
        and bits <= case.params.near_duplicate_images
    )
    original = next(alike, None)
    if original is None:
        return None
    earlier, similarity, bits = original
    threshold = case.params.near_duplicate
    return (
        f"text is {similarity:.3f} similar to {earlier.problem.id}, at least {threshold:g} "
        f"counts as the same; {_figures(case, bits)}"
    )


@reason("ocr_error")
def ocr_error(case: Case) -> str | None:
    """Characters corrupted in reading, or an unresolved reading warning."""
    problem = case.problem
    choices = {f"choice {c.label}": c.text or "" for c in problem.choices or []}
    answers = {f"answer {i}": part for i, part in enumerate(problem.answer or [], 1)}
    for place, text in {"question": problem.question, **choices, **answers}.items():
        if broken := _BROKEN.findall(text):
            codes = ", ".join(sorted({_code(character) for character in broken}))
            return f"{len(broken)} unreadable characters in the {place}: {codes}"
    unresolved = [w for w in problem.warnings if w.code in case.params.unresolved]
    return f"unresolved warning of reading: {unresolved[0]}" if unresolved else None


def _evidence_figures(problem: Problem) -> dict[int, Figure]:
    chosen = {choice.image for choice in problem.choices or []}
    return {i: figure for i, figure in enumerate(problem.images) if i not in chosen}


def _code(character: str) -> str:
    return character if len(character) > 1 else f"U+{ord(character):04X}"


def _similar(case: Case) -> list[tuple[Candidate, float]]:
    from rapidfuzz import fuzz

    candidate, threshold = case.candidate, case.params.near_duplicate
    similar = []
    for earlier in case.kept.alike(candidate, threshold):
        # Problems with different numbers of pictures are never the same (figure_distance).
        if len(earlier.contents) == len(candidate.contents) and not _share_stem(candidate, earlier):
            in_order = fuzz.ratio(
                candidate.text_to_compare, earlier.text_to_compare, score_cutoff=100 * threshold
            )
            score = max(in_order / 100, _dice(candidate.shingles, earlier.shingles))
            if score >= threshold:
                similar.append((earlier, score))
    return similar


def _dice(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    return 2 * len(a & b) / (len(a) + len(b))


def _share_stem(a: Candidate, b: Candidate) -> bool:
    first, second = a.problem, b.problem
    return bool(first.group) and (first.source, first.group) == (second.source, second.group)


def _figures(case: Case, bits: int) -> str:
    if not case.candidate.contents:
        return "neither has figures"
    limit = case.params.near_duplicate_images
    return f"figures differ in {bits} of 64 bits, at most {limit} count as alike"
