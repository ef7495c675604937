"""Printed rows that a study cannot be compared with: unknown names, parts of another size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches

from omibench.papers.layouts import AVERAGE
from omibench.papers.names import normalise_name
from omibench.papers.tables import PrintedCell
from omibench.results.load import Results
from omibench.stages.analyze.tables.measured import PartMeans
from omibench.stages.analyze.tables.printed import Printed
from omibench.stages.analyze.tables.published import printed_rows

MOST_NAMES = 4
"""The number of names that a line lists; the rest is counted."""


def describe_unmatched(results: Results, printed: Sequence[Printed]) -> list[str]:
    """Describe the models, settings and parts of printed rows that do not match the study.

    Args:
        results: The study's results.
        printed: Printed rows for its dataset.

    Returns:
        One line per table and kind: the number of unmatched names, the first of them with the
        nearest name in the study; and the number of parts whose number of problems differs from the
        printed one.
    """
    matched = {
        id(row) for cell in results.study.cells for row in printed_rows(results, cell, printed)
    }
    files = dict.fromkeys(row.file for row in printed)
    return [
        line
        for file in files
        for line in _describe_table(
            results, file, [row for row in printed if row.file == file], matched
        )
    ]


def _describe_table(
    results: Results, file: str, rows: Sequence[Printed], matched: Collection[int]
) -> Iterator[str]:
    labels = {cell.model: results.label(cell.model) for cell in results.study.cells}
    normal = {normalise_name(label) for label in labels.values()}
    models = dict.fromkeys(row.model for row in rows if not row.is_chance)
    missing = [model for model in models if normalise_name(model) not in normal]
    yield from _describe(file, "models", missing, len(models), labels.values())
    ours = [row for row in rows if row.model in models and row.model not in missing]
    settings = {cell.setting for cell in results.study.cells}
    names = [*settings, *(results.setting_label(setting) for setting in settings)]
    strategies = dict.fromkeys(row.strategy for row in ours if row.strategy)
    used = {row.strategy for row in ours if id(row) in matched}
    unused = [strategy for strategy in strategies if strategy not in used]
    yield from _describe(file, "settings", unused, len(strategies), names)
    yield from _describe_parts(results, file, [row for row in ours if id(row) in matched])


def _describe_parts(results: Results, file: str, rows: Iterable[Printed]) -> Iterator[str]:
    """Return a line for each attribute with printed values that no problem has."""
    cells = [cell for row in rows for cell in row.cells if cell.slice and cell.part != AVERAGE]
    places = dict.fromkeys((cell.slice, cell.value) for cell in cells)
    parts = PartMeans(results, places)
    for name in dict.fromkeys(name for name, _ in places):
        values = [value for slice_, value in places if slice_ == name]
        missing = [value for value in values if not parts.count(name, value)]
        yield from _describe(
            file, f"values of {name}", missing, len(values), sorted(parts.list_values(name))
        )
    yield from _describe_sizes(file, cells, parts)


def _describe_sizes(file: str, cells: Iterable[PrintedCell], parts: PartMeans) -> Iterator[str]:
    """Return a line for the parts whose problems differ from the printed ones and are not
    compared."""
    printed = {(cell.slice, cell.value): cell.n for cell in cells if cell.n}
    sizes = {place: (n, parts.count(*place)) for place, n in printed.items()}
    other = {place: size for place, size in sizes.items() if size[1] and size[0] != size[1]}
    if not other:
        return
    words = [
        f"{value!r} ({ours} problems, {n} in print)"
        for (_, value), (n, ours) in list(other.items())[:MOST_NAMES]
    ]
    more = f" and {len(other) - MOST_NAMES} more" if len(other) > MOST_NAMES else ""
    yield (
        f"{file}: {len(other)} of {len(sizes)} parts have another number of problems than in "
        f"print, so their values are not compared: {', '.join(words)}{more}"
    )


def _describe(
    file: str, kind: str, missing: Sequence[str], of: int, names: Iterable[str]
) -> Iterator[str]:
    if not missing:
        return
    known = list(dict.fromkeys(names))
    words = []
    for name in missing[:MOST_NAMES]:
        near = get_close_matches(name, known, n=1)
        words.append(f"{name!r} (nearest: {near[0]!r})" if near else repr(name))
    more = f" and {len(missing) - MOST_NAMES} more" if len(missing) > MOST_NAMES else ""
    yield (
        f"{file}: {len(missing)} of {of} {kind} match nothing in this study: "
        f"{', '.join(words)}{more}"
    )
