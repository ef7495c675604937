"""A drawing on the report's page, with its interactive data and the first rows of its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from markupsafe import Markup

from omibench.stages.analyze.figures.theme import apply_theme
from omibench.web.templates import embed_json

if TYPE_CHECKING:
    import polars as pl


class PageFigure(NamedTuple):
    """A drawing on a page; `data` is empty if it is not interactive."""

    svg: Markup
    takeaway: str
    data: Markup


def prepare_figure(
    svg: str, takeaway: str, specification: Mapping[str, Any] | None = None
) -> PageFigure:
    """Prepare a drawing for a page.

    Args:
        svg: Drawing in the light palette, made by our library with all external text escaped.
        takeaway: Description of what the drawing shows.
        specification: Its Vega-Lite specification.
    """
    from omibench.stages.analyze.figures.theme import compile_interactive

    drawn = Markup(apply_theme(svg, takeaway))  # noqa: S704  # escaped by the library that drew it
    data = embed_json(compile_interactive(specification)) if specification else Markup()
    return PageFigure(drawn, takeaway, data)


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
