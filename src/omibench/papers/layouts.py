"""The layouts of printed tables: `tables.yaml` next to them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from omibench.errors import FileFormatError
from omibench.files.yaml_file import read_yaml
from omibench.params.blocks import Block
from omibench.params.stages.analyze import LAYOUTS
from omibench.schemas.validation import explain

TOTAL = "total"
"""The part with all problems, whatever its name in a table."""
AVERAGE = "average"
"""The part for the mean of a row's parts, with equal weights."""
AND = " × "
"""Joins two attributes, and two values of them."""
MetricKind = Literal["count", "ratio", "mean"]
Size = Annotated[int, Field(ge=1)]


def check_pattern(pattern: str, names: Collection[str]) -> None:
    """Raise ValueError if a pattern contains more than these names in braces.

    Patterns can come from third-party tables, so widths (`{part:>9999999999}`) and attributes
    (`{part.x}`), which `str.format` supports, are rejected.
    """
    allowed = ", ".join(f"{{{name}}}" for name in names)
    for _, name, width, conversion in Formatter().parse(pattern):
        if name is not None and (name not in names or width or conversion):
            raise ValueError(f"{pattern!r} is not a pattern of {allowed}")


class ColumnGroup(Block):
    """Columns of one dataset, named by a pattern of `{part}` and `{metric}`."""

    dataset: str
    names: str
    metrics: Annotated[dict[str, MetricKind], Field(min_length=1)]
    """`count`: a share of problems that are right; `ratio`: possibly a mean of shares; `mean`:
    any other number, such as a mean of several runs, from which no count of problems can be
    derived."""
    parts: Annotated[dict[str, Size | None], Field(min_length=1)]
    """Number of problems in each part, if known."""
    slice: str = "subject"
    """The attribute of the problems whose values the parts are."""
    values: dict[str, str] = {}
    """The values of that attribute with another spelling in the dataset."""
    within: dict[str, str] = {}
    """Attribute -> the value of all problems of these columns."""
    total: str | None = None
    """The part over all problems, with equal weights."""
    average: str | None = None
    """The column with the mean of all parts, with equal weights."""
    interval: tuple[str, str] | None = None
    """Patterns of the lower and upper bound of the first metric's 95 % interval."""
    deviation: str | None = None
    """Pattern of the standard deviation of the first metric over runs."""
    setting: str = ""
    """The setting, if given by the columns."""
    k: Size | None = None
    """Number of samples per problem in a value, if given by the columns."""
    percent: bool = True
    """Whether the numbers are per cent; if not, they are used unchanged."""

    @model_validator(mode="after")
    def _has_readable_patterns(self) -> Self:
        check_pattern(self.names, ("part", "metric"))
        for pattern in (*(self.interval or ()), self.deviation or ""):
            check_pattern(pattern, ("part",))
        return self

    def column(self, part: str, metric: str) -> str:
        """Return the name of a column."""
        return self.names.format(part=part, metric=metric)

    def place(self, part: str) -> tuple[str, str]:
        """Return the attribute and its value for a part; both empty for all problems.

        Two attributes, and their values, are joined by ` × `.
        """
        places = dict(self.within)
        if part != TOTAL:
            places[self.slice] = self.values.get(part, part)
        return AND.join(places), AND.join(places.values())

    def list_columns(self) -> Iterator[str]:
        """List the columns of the table with these values."""
        words = [word for _, word, _ in self.list_parts()]
        yield from (self.column(word, metric) for word in words for metric in self.metrics)
        if self.average:
            yield self.average
        yield from (column for part in self.parts for column in self.list_spreads(part))

    def list_parts(self) -> Iterator[tuple[str, str, int]]:
        """List each part, its name in the columns, and its number of problems (0: unknown)."""
        yield from ((part, part, n or 0) for part, n in self.parts.items())
        if self.total:
            sizes = [n or 0 for n in self.parts.values()]
            yield TOTAL, self.total, sum(sizes) if all(sizes) else 0

    def list_spreads(self, word: str) -> list[str]:
        """List the columns with the interval and the standard deviation of a part."""
        patterns = (*(self.interval or ()), self.deviation)
        return [pattern.format(part=word) for pattern in patterns if pattern]


class SumOfParts(Block):
    """A row that is the sum of others."""

    of: str
    parts: Annotated[list[str], Field(min_length=2)]


class SharesOfRow(Block):
    """A column with another column's values as percentages of those in one row."""

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
    """The columns with a row's name; a name that begins with `+` belongs to the row above it."""
    columns: list[ColumnGroup]
    model: str | None = None
    """Name of a row's model, as a pattern of the columns in `row`; default: the first of them."""
    setting: str | None = None
    """Setting of a row, as such a pattern; default: the column `strategy`, if any."""
    metric: str | None = None
    """Metric of a row, as such a pattern, if it is not in the columns."""
    added: Literal["model", "setting"] = "model"
    """Meaning of a row whose name begins with `+`: another model, or a setting of the one above."""
    same: dict[str, str] = {}
    """Names of models that differ in another table."""
    settings: dict[str, str] = {}
    """Names of settings that differ in another table; an empty one if the table has none."""
    asked_as: dict[str, list[str]] = {}
    """Printed setting (empty if the table has none) -> its name in the ready-made studies."""
    chance: list[str] = []
    """Rows with the scores of guessing, not of a model."""
    averaged: list[str] = []
    """Models, or people, whose values are means of several runs: no counts can be derived from
    them."""
    differences: dict[str, tuple[str, str]] = {}
    """Column -> the columns of which it is the first minus the second."""
    sums: list[SumOfParts] = []
    shares: SharesOfRow | None = None
    correlation: CorrelationSource | None = None

    @model_validator(mode="after")
    def _names_two_metrics(self) -> Self:
        if self.correlation and len(self.row) < 2:
            raise ValueError("correlation: `row` must list the two columns with its metrics")
        return self

    @model_validator(mode="after")
    def _has_readable_patterns(self) -> Self:
        for pattern in (self.model, self.setting, self.metric):
            check_pattern(pattern or "", self.row)
        return self

    def list_columns(self) -> list[str]:
        """List the required columns of a file of this layout, each once."""
        columns = [*self.row, *(name for group in self.columns for name in group.list_columns())]
        for name, operands in self.differences.items():
            columns += [name, *operands]
        columns += [self.shares.column, self.shares.values] if self.shares else []
        columns += [self.correlation.value] if self.correlation else []
        return list(dict.fromkeys(columns))


def read_layouts(folder: Path) -> dict[str, TableLayout]:
    """Read the layouts of the tables of a folder.

    Args:
        folder: The folder of the tables and their `tables.yaml`.

    Returns:
        The layout of each table, by file name.

    Raises:
        MissingInputError: `tables.yaml` does not exist.
        FileFormatError: It is not YAML, or a key or value is invalid; with the line.
    """
    path = folder / LAYOUTS
    values = read_yaml(path)
    if not isinstance(values, dict):
        raise FileFormatError(
            f"{path}: contains no layouts; add a block with the name of each table"
        )
    layouts = {}
    for name, block in values.items():
        try:
            layouts[str(name)] = TableLayout.model_validate(block)
        except ValidationError as error:
            raise FileFormatError(f"{path}: {name}: {explain(error, TableLayout)}") from None
    return layouts
