"""Values printed in papers, and our values for comparison."""

from __future__ import annotations

from typing import Any

import polars as pl

from omibench.papers.comparison import compare_chance, compare_readings
from omibench.papers.tables import PrintedCell
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.chance import CHANCE
from omibench.stages.analyze.results.result import frame_rows, result
from omibench.stages.analyze.results.transcripts import ACC_OCR


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
    rows = [
        _describe_value(cell, table.layout.source)
        for table in analysis.print_beside.tables
        for cell in table.cells
    ]
    return frame_rows(rows)


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
    printed = analysis.printed_rows
    tables = [analysis.printed_comparisons]
    if printed and (ocr := analysis.table("ocr")) is not None:
        tables.append(compare_readings(printed, analysis.labels[0], ocr.filter(metric=ACC_OCR)))
    if any(row.is_chance for row in printed) and (chance := analysis.table(CHANCE)) is not None:
        tables.append(compare_chance(printed, chance.filter(metric=CHANCE)))
    table = pl.concat(tables).drop("subject", "printed_metric", "digits")
    return table if table.height else None


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
