"""What the columns of printed tables are: `tables.yaml` beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from omibench.errors import FileFormatError
from omibench.files.yaml_file import read_yaml
from omibench.params.blocks import Block
from omibench.schemas.validation import explain

LAYOUTS = "tables.yaml"
TOTAL = "total"
"""The part that holds all problems, whatever a table calls it."""
MetricKind = Literal["count", "ratio"]


class ColumnGroup(Block):
    """Columns of one dataset, named by a pattern of `{part}` and `{metric}`."""

    dataset: str
    names: str
    metrics: Annotated[dict[str, MetricKind], Field(min_length=1)]
    """`count`: a share of problems that are right; `ratio`: possibly a mean of shares."""
    parts: Annotated[dict[str, Annotated[int, Field(ge=1)]], Field(min_length=1)]
    """How many problems each part has."""
    total: str | None = None
    """The part over all problems, each weighing the same."""
    average: str | None = None
    """The column of the mean of all parts, each part weighing the same."""
    interval: tuple[str, str] | None = None
    """Patterns of the lower and upper bound of the first metric's 95 % interval."""
    setting: str = ""
    """The setting that was asked under, where the columns say it."""

    @model_validator(mode="after")
    def _has_readable_patterns(self) -> Self:
        try:
            self.column("", "")
            [pattern.format(part="") for pattern in self.interval or ()]
        except (AttributeError, LookupError, ValueError):
            raise ValueError(
                "names is a pattern of {part} and {metric}, interval two patterns of {part}"
            ) from None
        return self

    def column(self, part: str, metric: str) -> str:
        """The name of a column."""
        return self.names.format(part=part, metric=metric)


class SumOfParts(Block):
    """A row that is the sum of others."""

    of: str
    parts: Annotated[list[str], Field(min_length=2)]


class CorrelationSource(Block):
    """Rank correlations of two metrics over the models of another table."""

    table: str
    part: str
    value: str


class TableLayout(Block):
    """One printed table."""

    source: str
    row: Annotated[list[str], Field(min_length=1)]
    """The columns that name a row; a name that begins with `+` goes with the row above it."""
    columns: list[ColumnGroup]
    same: dict[str, str] = {}
    """Names of rows that another table calls otherwise."""
    differences: dict[str, tuple[str, str]] = {}
    """Column -> the columns of which it is the first minus the second."""
    sums: list[SumOfParts] = []
    correlation: CorrelationSource | None = None

    @model_validator(mode="after")
    def _names_two_metrics(self) -> Self:
        if self.correlation and len(self.row) < 2:
            raise ValueError("correlation: `row` names the two columns that hold its metrics")
        return self


def read_layouts(folder: Path) -> dict[str, TableLayout]:
    """Read the layouts of the tables of a folder.

    Args:
        folder: Where the tables and their `tables.yaml` lie.

    Returns:
        The layout of each table, by the name of its file.

    Raises:
        MissingInputError: There is no `tables.yaml`.
        FileFormatError: It is no YAML, or a key or value is wrong; names the line.
    """
    path = folder / LAYOUTS
    values = read_yaml(path)
    if not isinstance(values, dict):
        raise FileFormatError(f"{path}: holds no layouts; give a block for the name of each table")
    layouts = {}
    for name, block in values.items():
        try:
            layouts[str(name)] = TableLayout.model_validate(block)
        except ValidationError as error:
            raise FileFormatError(f"{path}: {name}: {explain(error, TableLayout)}") from None
    return layouts
