"""What the columns of printed tables are: `tables.yaml` beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from omibench.errors import FileFormatError
from omibench.files.yaml_file import read_yaml
from omibench.params.blocks import Block
from omibench.printed_tables.patterns import check_pattern
from omibench.schemas.validation import explain

LAYOUTS = "tables.yaml"
TOTAL = "total"
"""The part that holds all problems, whatever a table calls it."""
AVERAGE = "average"
"""The part that stands for the mean of the parts of a row, each weighing the same."""
AND = " × "
"""Joins two attributes, and two values of them."""
MetricKind = Literal["count", "ratio", "mean"]
Size = Annotated[int, Field(ge=1)]


class ColumnGroup(Block):
    """Columns of one dataset, named by a pattern of `{part}` and `{metric}`."""

    dataset: str
    names: str
    metrics: Annotated[dict[str, MetricKind], Field(min_length=1)]
    """`count`: a share of problems that are right; `ratio`: possibly a mean of shares; `mean`: any
    other number, as a mean of several runs, of which no count of problems can be told."""
    parts: Annotated[dict[str, Size | None], Field(min_length=1)]
    """How many problems each part has, where that is known."""
    slice: str = "subject"
    """The attribute of the problems whose values the parts are."""
    values: dict[str, str] = {}
    """The values of that attribute that the dataset spells otherwise than the table."""
    within: dict[str, str] = {}
    """Attribute -> the value that all problems of these columns have."""
    total: str | None = None
    """The part over all problems, each weighing the same."""
    average: str | None = None
    """The column of the mean of all parts, each part weighing the same."""
    interval: tuple[str, str] | None = None
    """Patterns of the lower and upper bound of the first metric's 95 % interval."""
    deviation: str | None = None
    """Pattern of the standard deviation of the first metric over runs."""
    setting: str = ""
    """The setting that was asked under, where the columns say it."""
    k: Size | None = None
    """How many samples of a problem a value is made from, where the columns say it."""
    percent: bool = True
    """Whether the numbers are per cent; if not, they are what they are."""

    @model_validator(mode="after")
    def _has_readable_patterns(self) -> Self:
        check_pattern(self.names, ("part", "metric"))
        for pattern in (*(self.interval or ()), self.deviation or ""):
            check_pattern(pattern, ("part",))
        return self

    def column(self, part: str, metric: str) -> str:
        """The name of a column."""
        return self.names.format(part=part, metric=metric)

    def place(self, part: str) -> tuple[str, str]:
        """The attribute and its value that a part stands for; both empty for all problems.

        Two attributes, and their values, are joined by ` × `.
        """
        places = dict(self.within)
        if part != TOTAL:
            places[self.slice] = self.values.get(part, part)
        return AND.join(places), AND.join(places.values())

    def list_columns(self) -> Iterator[str]:
        """The columns of the table that hold these values."""
        parts = [*self.parts, *([self.total] if self.total else [])]
        yield from (self.column(part, metric) for part in parts for metric in self.metrics)
        if self.average:
            yield self.average
        patterns = (*(self.interval or ()), *([self.deviation] if self.deviation else []))
        yield from (pattern.format(part=part) for part in self.parts for pattern in patterns)


class SumOfParts(Block):
    """A row that is the sum of others."""

    of: str
    parts: Annotated[list[str], Field(min_length=2)]


class SharesOfRow(Block):
    """A column of percentages that the values of another are of one row's."""

    column: str
    values: str
    of: str


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
    model: str | None = None
    """The name of a row's model, as a pattern of the columns that name a row; the first of them
    when left out."""
    setting: str | None = None
    """The setting of a row, as such a pattern; the column `strategy`, where there is one, when left
    out."""
    metric: str | None = None
    """The metric of a row, as such a pattern, where the columns do not tell it."""
    added: Literal["model", "setting"] = "model"
    """What a row whose name begins with `+` is: another model, or a setting of the one above."""
    same: dict[str, str] = {}
    """Names of models that another table calls otherwise."""
    settings: dict[str, str] = {}
    """Names of settings that another table calls otherwise; an empty one where it names none."""
    asked_as: dict[str, list[str]] = {}
    """Printed setting (empty where none is named) -> what the ready-made studies call it."""
    chance: list[str] = []
    """Rows that hold what guessing gives, not a model."""
    averaged: list[str] = []
    """Models, or people, whose values are means of several: no counts can be told from them."""
    differences: dict[str, tuple[str, str]] = {}
    """Column -> the columns of which it is the first minus the second."""
    sums: list[SumOfParts] = []
    shares: SharesOfRow | None = None
    correlation: CorrelationSource | None = None

    @model_validator(mode="after")
    def _names_two_metrics(self) -> Self:
        if self.correlation and len(self.row) < 2:
            raise ValueError("correlation: `row` names the two columns that hold its metrics")
        return self

    @model_validator(mode="after")
    def _has_readable_patterns(self) -> Self:
        for pattern in (self.model, self.setting, self.metric):
            check_pattern(pattern or "", self.row)
        return self

    def list_columns(self) -> list[str]:
        """The columns that a file of this layout must have, each once."""
        columns = [*self.row, *(name for group in self.columns for name in group.list_columns())]
        for name, operands in self.differences.items():
            columns += [name, *operands]
        columns += [self.shares.column, self.shares.values] if self.shares else []
        columns += [self.correlation.value] if self.correlation else []
        return list(dict.fromkeys(columns))


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
