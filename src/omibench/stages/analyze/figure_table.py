"""The first rows of the table behind a figure, as shown on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS: Final = 20
MOST_COLUMNS: Final = 12
_NUMBERS: Final = ("estimate", "low", "high", "n")


class TablePreview(NamedTuple):
    """The first rows of a table.

    Attributes:
        columns: Column names.
        rows: Formatted values.
        height: Number of rows of the whole table.
    """

    columns: list[str]
    rows: list[list[str]]
    height: int


def preview_table(table: pl.DataFrame) -> TablePreview:
    """Return the first rows of a table, without constant columns.

    Args:
        table: The table of a result.
    """
    columns = [
        name
        for name in table.columns
        if name in _NUMBERS or (not table[name].dtype.is_nested() and table[name].n_unique() > 1)
    ][:MOST_COLUMNS]
    rows = [[_word(value) for value in row] for row in table.select(columns).head(MOST_ROWS).rows()]
    return TablePreview(columns, rows, table.height)


def _word(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
