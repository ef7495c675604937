"""Check of printed rank correlations between two metrics over the models of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omibench.audit.findings import AGREES, Finding
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.layouts import TableLayout
from omibench.printed_tables.rows import PrintedRow, parse_number
from omibench.statistics.rank import spearman


def check_correlations(
    file: str, rows: Sequence[PrintedRow], layout: TableLayout, cells: Sequence[PrintedCell]
) -> Iterator[Finding]:
    """Check each printed Spearman correlation.

    Args:
        file: File name of the table of correlations, for the findings.
        rows: Its rows, with two metrics in `first` and `second`.
        layout: Its layout.
        cells: Shares of all tables.
    """
    source = layout.correlation
    if source is None:
        return
    for row in rows:
        printed = parse_number(file, row, source.value)
        if printed is None:
            continue
        metrics = [row.texts[column] for column in layout.row]
        values = [
            {
                cell.row: cell.number.value
                for cell in cells
                if (cell.file, cell.part, cell.metric) == (source.table, source.part, metric)
            }
            for metric in metrics
        ]
        models = [model for model in values[0] if model in values[1]]
        if len(models) < 3:
            continue
        rho, _, _ = spearman(
            [values[0][model] for model in models], [values[1][model] for model in models], models,
            0.95,
        )  # fmt: skip
        note = AGREES if printed.admits(rho) else f"the {len(models)} rows of {source.table} differ"
        yield Finding(
            file,
            row.name,
            source.value,
            "correlation",
            printed.value,
            round(rho, 4),
            len(models),
            note,
        )
