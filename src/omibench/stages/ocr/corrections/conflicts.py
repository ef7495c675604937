"""Find conflicting corrections of one place, which are an error."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from omibench.stages.ocr.corrections.entry import Correction, CorrectionEntry, covers


def find_conflict(
    entries: Sequence[CorrectionEntry],
) -> tuple[CorrectionEntry, CorrectionEntry] | None:
    """Return the first two conflicting entries of one source, in file order.

    Boxes of one page conflict if they share more than half of the smaller one. Entries of one
    problem conflict if they set the same part; a dropped or merged problem allows no other
    correction.

    Args:
        entries: Entries of one source.

    Returns:
        The two entries; None if there is no conflict.
    """
    conflicts = [*_list_box_conflicts(entries), *_list_problem_conflicts(entries)]
    return min(conflicts, key=lambda pair: (pair[1].number, pair[0].number), default=None)


def _list_box_conflicts(
    entries: Sequence[CorrectionEntry],
) -> Iterator[tuple[CorrectionEntry, CorrectionEntry]]:
    by_page: defaultdict[tuple[str, int | None], list[CorrectionEntry]] = defaultdict(list)
    for entry in entries:
        if entry.correction.box is None:
            continue
        on_page = by_page[entry.file, entry.correction.page]
        twin = next((other for other in on_page if covers(other.box, entry.box)), None)
        if twin is not None:
            yield twin, entry
        on_page.append(entry)


def _list_problem_conflicts(
    entries: Sequence[CorrectionEntry],
) -> Iterator[tuple[CorrectionEntry, CorrectionEntry]]:
    by_part: dict[tuple[str, str], CorrectionEntry] = {}
    of_problem: defaultdict[str, list[CorrectionEntry]] = defaultdict(list)
    removed: dict[str, CorrectionEntry] = {}
    for entry in entries:
        correction = entry.correction
        if correction.problem is None:
            continue
        number = correction.problem
        parts, excluded = _list_parts(correction)
        twins = (by_part.get((number, part)) for part in (*parts[:1], *excluded))
        yield from ((twin, entry) for twin in twins if twin is not None)
        for part in parts:
            by_part.setdefault((number, part), entry)
        of_problem[number].append(entry)
        leaving = number if correction.drop else correction.merge
        if leaving is not None:
            if leaving in removed:
                yield removed[leaving], entry
            removed[leaving] = entry
    for number, entry in removed.items():
        for other in of_problem[number]:
            if other is not entry:
                first, second = sorted((entry, other), key=lambda e: e.number)
                yield first, second


def _list_parts(correction: Correction) -> tuple[list[str], list[str]]:
    """Return the part of its problem that a correction sets, followed by other parts it excludes:
    all choices at once are against each single one."""
    if correction.choice is not None:
        return [f"choice {correction.choice.label}", "a choice"], ["choices"]
    if correction.choices is not None:
        return ["choices"], ["a choice"]
    if correction.figure is not None:
        return [f"figure {correction.figure.image}"], []
    return [correction.kind], []
