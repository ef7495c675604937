"""The computed reasons of the filter, in the order in which they are given.

Each is a pure function that returns its evidence (the measured value, with the threshold) or None.
They make items 3.2 and A.2 of the OMIBench paper ("complete and legible", "well defined and
unambiguous", duplicates, unresolved OCR errors, several images) measurable.
"""

from __future__ import annotations

import re

from omibench.schemas.problem import Figure, Problem
from omibench.stages.filter.answers import ambiguous_options, ambiguous_text
from omibench.stages.filter.candidate import Candidate, Case, figure_distance
from omibench.stages.filter.legible import legible_share
from omibench.stages.filter.reasons.registry import reason
from omibench.stages.filter.references import (
    introduces_pictures,
    printed_number,
    referred_numbers,
    refers_to_all,
    refers_to_pictures,
)
from omibench.stages.filter.scope import find_unwanted_property
from omibench.stages.filter.statement import find_unfinished_part
from omibench.stages.filter.text import count_words

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
