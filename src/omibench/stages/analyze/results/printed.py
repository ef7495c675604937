"""Values printed in papers, and our values for comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from omibench.papers.layouts import AVERAGE
from omibench.papers.names import normalise_name
from omibench.papers.tables import PrintedCell
from omibench.params.cell import Cell
from omibench.stages.analyze.results.chance import CHANCE
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.results.transcripts import ACC_OCR
from omibench.stages.analyze.tables.printed import name_part
from omibench.stages.analyze.tables.published import PrintedComparison

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

_DIGITS = 6


@result("printed", "Every printed value of the study's papers")
def tabulate_printed(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the values of the tables in `analyze.published` as printed.

    Args:
        analysis: The study's results.

    Returns:
        One row per value: `model`, `setting` and `dataset` as named in the paper, `estimate` and
        the printed interval as shares in [0, 1] (statistics of datasets and correlations
        unchanged), `sd` the printed standard deviation over runs, `decimals` their printed number,
        `source` the paper and table, `file`. None without printed tables.
    """
    import polars as pl

    rows = [
        _describe_value(cell, table.layout.source)
        for table in analysis.print_beside.tables
        for cell in table.cells
    ]
    return pl.DataFrame(rows, infer_schema_length=None) if rows else None


@result("printed-beside-measured", "Printed values and our values from the responses")
def tabulate_comparisons(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate our value for each printed one if all responses to its problems are available.

    Args:
        analysis: The study's results.

    Returns:
        One row per printed value of a cell, of a reading model (`accocr`) or of guessing
        (`chance`): `estimate`, `low` and `high` are ours, `printed`, `printed_low` and
        `printed_high` the paper's, `difference` ours minus the paper's, `inside` whether the
        printed value lies in our interval, `differs` whether rounding cannot explain the difference
        (empty for simulated values and for guessing, which the paper drew once), `source` the paper
        and table, `file`. None if no printed value belongs to a cell of the study.
    """
    import polars as pl

    comparisons = [
        *analysis.printed_comparisons,
        *_compare_readings(analysis),
        *_compare_chance(analysis),
    ]
    rows = [_describe_comparison(comparison) for comparison in comparisons]
    return pl.DataFrame(rows, infer_schema_length=None) if rows else None


def _compare_readings(analysis: Analysis) -> Iterator[PrintedComparison]:
    """Compare OCR accuracies of models, which do not depend on a setting (MathReal, table 7)."""
    ocr = analysis.table("ocr")
    if ocr is None:
        return
    for row in ocr.filter(metric=ACC_OCR).iter_rows(named=True):
        name = normalise_name(analysis.results.label(row["model"]))
        for printed in analysis.printed_rows:
            for cell in printed.cells if normalise_name(printed.model) == name else ():
                if cell.metric_name == ACC_OCR and cell.n in (0, row["n"]):
                    whose = Cell(row["model"], "")
                    yield _make_comparison(whose, ACC_OCR, cell, printed.source, row)


def _compare_chance(analysis: Analysis) -> Iterator[PrintedComparison]:
    """Compare printed accuracies of guessing with their distribution (EMMA, table 2)."""
    rows = [row for row in analysis.printed_rows if row.is_chance]
    table = analysis.table(CHANCE) if rows else None
    if table is None:
        return
    chances = {
        (row["slice"], row["value"].casefold()): row
        for row in table.filter(metric=CHANCE).iter_rows(named=True)
    }
    for printed in rows:
        for cell in printed.cells:
            row = chances.get((cell.slice, cell.value.casefold()))
            if row and cell.n in (0, row["n"]):
                yield _make_comparison(Cell("", ""), CHANCE, cell, printed.source, row)


def _make_comparison(
    cell: Cell, metric: str, value: PrintedCell, source: str, row: Mapping[str, Any]
) -> PrintedComparison:
    """Return a printed value with a row of another result."""
    return PrintedComparison(
        cell, name_part(value), metric, "", value.number.value, 100 * row["estimate"], row["n"],
        row["simulated"], value.number.digits, 100 * row["low"], 100 * row["high"],
        row["clusters"], value, metric, source,
    )  # fmt: skip


def _describe_value(cell: PrintedCell, source: str) -> dict[str, Any]:
    low, high = cell.interval or (None, None)
    return {
        "model": cell.model,
        "setting": cell.full_setting,
        "dataset": cell.dataset,
        "slice": cell.slice,
        "value": cell.value,
        "metric": cell.metric_name,
        "estimate": cell.number.value * cell.scale,
        "low": low.value * cell.scale if low else None,
        "high": high.value * cell.scale if high else None,
        "n": cell.n or None,
        "simulated": False,
        "sd": cell.deviation.value * cell.scale if cell.deviation else None,
        "decimals": cell.number.digits,
        "source": source,
        "file": cell.file,
    }


def _describe_comparison(comparison: PrintedComparison) -> dict[str, Any]:
    cell = comparison.value
    low, high = (cell.interval if cell else None) or (None, None)
    return {
        "model": comparison.cell.model,
        "setting": comparison.cell.setting,
        "rules": comparison.rules,
        "slice": cell.slice if cell else "",
        "value": comparison.subject if cell and (cell.slice or cell.part == AVERAGE) else "",
        "metric": comparison.measured_metric,
        "estimate": comparison.measured / 100,
        "low": _to_share(comparison.low),
        "high": _to_share(comparison.high),
        "n": comparison.n,
        "clusters": comparison.clusters,
        "simulated": comparison.simulated,
        "printed": round(comparison.printed / 100, _DIGITS),
        "printed_low": _to_share(low.value if low else None),
        "printed_high": _to_share(high.value if high else None),
        "difference": (comparison.measured - comparison.printed) / 100,
        "inside": comparison.inside,
        "differs": None if comparison.metric == CHANCE else comparison.differs,
        "source": comparison.source,
        "file": cell.file if cell else "",
    }


def _to_share(percent: float | None) -> float | None:
    return None if percent is None else round(percent / 100, _DIGITS)
