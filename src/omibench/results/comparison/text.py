"""A comparison of two runs as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from omibench.results.comparison.report import (
    Cause,
    CellComparison,
    Contrast,
    RunComparison,
    RunSummary,
    ScoringComparison,
    ScoringSummary,
)
from omibench.text.lists import list_first

CELL_LINES = 12
CHANGE_LINES = 12
NOTE_LINES = 6
_MEANINGS: dict[Cause, str] = {
    "problem": "the problem was edited",
    "gold": "another gold answer",
    "scorer": "the scorer or judge",
    "sample": "other samples count",
    "response": "other responses",
}


def describe_comparison(comparison: RunComparison) -> str:
    """Return the comparison as lines: accuracies, causes of their difference, changes, cells."""
    return "\n".join(_write_lines(comparison))


def _write_lines(comparison: RunComparison) -> Iterator[str]:
    yield f"A: {_describe_run(comparison.a)}"
    yield f"B: {_describe_run(comparison.b)}"
    yield from _describe_problems(comparison)
    for table in comparison.comparisons:
        yield ""
        yield from _describe_table(table, comparison.confidence)
    for name, cells in (("A", comparison.cells_only_a), ("B", comparison.cells_only_b)):
        if cells:
            yield f"cells only in {name}: {list_first(cells, 3)}"


def _describe_run(run: RunSummary) -> str:
    mark = ", SIMULATED" if run.simulated else ""
    return f"{run.folder}: {run.dataset} {run.version}, {run.problems:,} problems{mark}"


def _describe_problems(comparison: RunComparison) -> Iterator[str]:
    composition = comparison.composition
    counts = [
        ("of A alone", composition.only_a),
        ("of B alone", composition.only_b),
        ("edited", composition.edited),
        ("with another gold answer", composition.other_gold),
    ]
    parts = [f"{count:,} {words}" for words, count in counts if count]
    yield ", ".join([f"{composition.common:,} common problems", *parts])


def _describe_table(table: ScoringComparison, confidence: float) -> Iterator[str]:
    names = [_describe_scoring(scoring) for scoring in (table.scoring_a, table.scoring_b)]
    yield f"{' > '.join(dict.fromkeys(names))}, {_count(len(table.cells), 'cell')}"
    yield f"  {_describe_contrast(table.total)}"
    yield (
        f"  common problems: {_points(table.total.common_difference)}, paired "
        f"{100 * confidence:g} % interval {_percent(table.total.low)} to "
        f"{_points(table.total.high)} (n = {table.total.n_common:,})"
    )
    for total in table.total.causes:
        count = _count(total.verdicts, "verdict")
        yield f"  {_points(total.change):>14}  {total.cause:<8}  {_MEANINGS[total.cause]} ({count})"
    if any(total.cause == "gold" for total in table.total.causes) and len(table.cells) > 1:
        yield f"  {_describe_ranks(table.cells)}"
    for change in table.changes[:CHANGE_LINES]:
        cells = _count(change.cells, "cell")
        yield f"  {change.cause}: {change.field}: {change.a} > {change.b} ({cells})"
    more = len(table.changes) + table.changes_left_out - CHANGE_LINES
    if more > 0:
        yield f"  and {more:,} more changes"
    yield f"  {_count(table.changed, 'verdict')} changed"
    if len(table.cells) > 1:
        for cell in table.cells[:CELL_LINES]:
            yield f"  {_describe_cell(cell)}"
        if len(table.cells) > CELL_LINES:
            yield f"  and {len(table.cells) - CELL_LINES:,} more cells"
    for note in table.notes[:NOTE_LINES]:
        yield f"  note: {note}"


def _describe_scoring(scoring: ScoringSummary) -> str:
    versions = ", ".join(map(str, scoring.versions))
    judges = f" of {list_first(scoring.judges, 3)}" if scoring.judges else ""
    return f"{scoring.rules} {versions}{judges}"


def _describe_contrast(contrast: Contrast) -> str:
    return (
        f"A {100 * contrast.accuracy_a:.2f} %, B {100 * contrast.accuracy_b:.2f} %, difference "
        f"{_points(contrast.difference)}"
    )


def _describe_cell(cell: CellComparison) -> str:
    causes = ", ".join(f"{total.cause} {_points(total.change)}" for total in cell.causes)
    mark = " SIMULATED" if cell.simulated else ""
    return f"{cell.model}/{cell.setting}{mark}: {_describe_contrast(cell)}; {causes or 'no change'}"


def _describe_ranks(cells: list[CellComparison]) -> str:
    """State how the other gold answers alone change the ranking within settings."""
    moved = [
        f"{cell.model}/{cell.setting} {cell.rank_a} to {cell.rank_gold}"
        for cell in sorted(cells, key=lambda cell: cell.rank_a)
        if cell.rank_gold != cell.rank_a
    ]
    names = f": {list_first(moved, CELL_LINES)}" if moved else ""
    return (
        "by the gold answers alone, the rank within the setting changes in "
        f"{len(moved):,} of {_count(len(cells), 'cell')}{names}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _points(value: float) -> str:
    """Format a difference of shares in percentage points; no sign if it rounds to zero."""
    return f"{_percent(value)} points"


def _percent(value: float) -> str:
    text = f"{100 * value:+.2f}"
    return "0.00" if float(text) == 0 else text
