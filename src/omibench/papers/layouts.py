"""The layouts of printed tables: `tables.yaml` next to them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from omibench.errors import FileFormatError
from omibench.files.yaml_file import read_yaml
from omibench.params.blocks import Block
from omibench.params.stages.analyze import LAYOUTS
from omibench.schemas.problem import Subject
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


# Infers the layout of a printed table from its column names, if no `tables.yaml` describes it.
#
# Supported are `<part>_<metric>` (OMIBench, table 2; USNCO-V, tables 1 and 2), `strict_<part>` and
# `loose_<part>` (MathReal, table 2) and `<dataset>_<part>` (EMMA, table 2); all in per cent. The
# number of problems in a part is then unknown.

_ROW = ("model", "strategy")
_ASIDE = ("group", "ocr_acc")
"""Columns that are not results of the problems."""
_METRICS: dict[str, str] = {
    "acc": "ratio", "gptscore": "count", "pass5": "count", "cons5": "ratio", "strict": "count",
    "loose": "ratio",
}  # fmt: skip
_BOUND = re.compile(r"(.+)_ci_(?:low|high)")
_TOTALS = (TOTAL, "overall", "avg")
_VALUES = {
    "math": "mathematics", "PG": "Plane Geometry", "SG": "Solid Geometry",
    "LR": "Logical Reasoning", "FG": "Function Graphs", "SC": "Statistical Charts",
}  # fmt: skip
_EXAMS = ("local", "national")


def guess_layout(path: str | Path, columns: Sequence[str]) -> TableLayout:
    """Infer the layout of a table from its columns.

    Args:
        path: The table, for messages.
        columns: The names of its columns.

    Returns:
        Its layout, with the file's name as its source.

    Raises:
        FileFormatError: It has no column `model`, or its columns match no known layout.
    """
    if "model" not in columns:
        raise FileFormatError(f"{path}: is not a table of results: the column 'model' is missing")
    names = [name for name in columns if name not in (*_ROW, *_ASIDE)]
    bounds = {match[1] for name in names if (match := _BOUND.fullmatch(name))}
    values = [name for name in names if not _BOUND.fullmatch(name)]
    groups, extra = _guess_groups(path, values, bounds)
    row = [name for name in _ROW if name in columns]
    try:
        return TableLayout.model_validate(
            {"source": Path(path).name, "row": row, "columns": groups, **extra}
        )
    except ValidationError as error:
        raise FileFormatError(
            f"{path}: its columns match no known layout: {explain(error, TableLayout)}"
        ) from None


def _guess_groups(
    path: str | Path, names: Sequence[str], bounds: set[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    if names and all(name == AVERAGE or _split_metric(name) for name in names):
        return _guess_metrics(names, bounds)
    datasets = list(dict.fromkeys(name.rpartition("_")[0] for name in names))
    if not names or "" in datasets:
        odd = next((name for name in names if "_" not in name), "")
        raise FileFormatError(
            f"{path}: its columns match no known layout{f' ({odd!r})' if odd else ''}; describe "
            "them in a tables.yaml next to it (docs/results.md)"
        )
    parts = {
        d: [n.rpartition("_")[2] for n in names if n.rpartition("_")[0] == d] for d in datasets
    }
    return [
        _make_group(
            dataset.replace("_", "-"), f"{dataset}_{{part}}", {"acc": "count"}, parts[dataset]
        )
        for dataset in datasets
    ], {}


def _guess_metrics(
    names: Sequence[str], bounds: set[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the column groups of a table of one dataset, one group per metric."""
    splits = [split for name in names if (split := _split_metric(name))]
    groups = []
    for metric in dict.fromkeys(metric for _, metric, _ in splits):
        parts = [part for part, name, _ in splits if name == metric]
        pattern = next(pattern for _, name, pattern in splits if name == metric)
        group = _make_group("", pattern, {metric: _METRICS[metric]}, parts)
        if metric == "acc":
            group |= {"average": AVERAGE} if AVERAGE in names else {}
            if bounds >= set(parts):
                group["interval"] = ("{part}_ci_low", "{part}_ci_high")
        groups.append(group)
    asked: dict[str, Any] = {}
    parts_of_all = {part for part, _, _ in splits}
    if {"strict", "loose"} & {metric for _, metric, _ in splits}:
        asked = {"asked_as": {"": ["i", "qg-dg"]}}
    elif {*_EXAMS} <= parts_of_all:
        runs = any(metric == "pass5" for _, metric, _ in splits)
        asked = {"asked_as": {"": ["zero-shot-5" if runs else "zero-shot"]}}
    return groups, asked


def _split_metric(column: str) -> tuple[str, str, str] | None:
    """Return the part, the metric and the pattern of a column; None without a metric."""
    head, _, tail = column.rpartition("_")
    if tail in _METRICS and head:
        return head, tail, "{part}_{metric}"
    if head in ("strict", "loose") and tail:
        return tail, head, "{metric}_{part}"
    return None


def _make_group(
    dataset: str, names: str, metrics: dict[str, str], parts: Sequence[str]
) -> dict[str, Any]:
    total = next((part for part in parts if part in _TOTALS), None)
    pieces = [part for part in parts if part != total]
    if total and not pieces:
        names = names.replace("{part}", total)
    group = {
        "dataset": dataset, "names": names, "metrics": metrics,
        "parts": dict.fromkeys(pieces or [TOTAL]), "slice": _guess_slice(pieces),
        "values": {part: _VALUES[part] for part in pieces if part in _VALUES},
    }  # fmt: skip
    return group | ({"total": total} if total and pieces else {})


def _guess_slice(parts: Sequence[str]) -> str:
    """Return the attribute of the problems whose values the parts probably are."""
    values = {_VALUES.get(part, part) for part in parts}
    if values <= {*_EXAMS}:
        return "exam"
    if values <= {*get_args(Subject)}:
        return "subject"
    return "year" if all(re.fullmatch(r"(?:19|20)\d\d", part) for part in parts) else "category"
