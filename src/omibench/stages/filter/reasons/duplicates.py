"""Duplicate problems: the first one is kept, later ones are rejected."""

from __future__ import annotations

from omibench.stages.filter.candidate import Candidate, Case, figure_distance
from omibench.stages.filter.reasons.registry import reason


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
