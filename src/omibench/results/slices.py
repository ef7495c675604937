"""Results told apart by one or two attributes of items, models or settings.

A row is about one model under one setting, unless the attribute is of models or of settings: then
an item's value is its mean over the cells that share the attribute's value, each counting the same,
and the interval is over items as everywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from omibench.errors import ArgumentError
from omibench.params.stages.analyze import MOST_ATTRIBUTES
from omibench.results.attributes import NOT_STATED, AttributeTables, list_values
from omibench.results.grouped import average_samples, estimate_groups, estimate_means
from omibench.schemas.verdict import FAILURES

if TYPE_CHECKING:
    import polars as pl

JOINT = " × "
"""Stands between two attributes, and between their values."""
DEFAULT_SLICES = ("subject", "n_images", "answer_type")
CELL = ("model", "setting")
MEANS = {"verdict": "accuracy", "credit": "credit", "ratio": "ratio", "strict": "strict"}
"""The column of verdicts -> the metric that its mean is."""
OUTCOME = "outcome-"
"""Begins the metrics of outcomes without an answer: `outcome-refused`."""
LENGTHS = ("characters", "output_tokens", "reasoning_tokens")
_JUDGE = "gptscore"
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\+?$")
Estimate = Callable[[Any, Sequence[str], float, str], Any]


class SlicePlan(NamedTuple):
    """One slice: by which attributes, of which cells, at which level of confidence."""

    by: tuple[str, ...]
    tables: AttributeTables
    marks: pl.DataFrame
    """A row per cell and rule book: `model`, `setting`, `rules`, `simulated`."""
    confidence: float

    @classmethod
    def make(
        cls, by: Sequence[str], tables: AttributeTables, marks: pl.DataFrame, confidence: float
    ) -> Self:
        """Check the attributes of a slice.

        Args:
            by: One attribute, or two different ones.
            tables: What can be sliced by.
            marks: A row per cell and rule book: `model`, `setting`, `rules`, `simulated`.
            confidence: The two-sided level of intervals, in (0, 1).

        Raises:
            ArgumentError: There are none or too many, or nothing has such an attribute; names
                those that there are.
        """
        if not 1 <= len(by) <= MOST_ATTRIBUTES or len(set(by)) < len(by):
            raise ArgumentError(
                f"slice {','.join(by)!r}: name one attribute, or {MOST_ATTRIBUTES} different ones "
                "with a comma between them"
            )
        for name in by:
            if name not in tables.names:
                raise ArgumentError(
                    f"slice {','.join(by)!r}: no item, model or setting has the attribute "
                    f"{name!r}; there are {', '.join(tables.names)}"
                )
        return cls(tuple(by), tables, marks, confidence)

    @property
    def name(self) -> str:
        """The slice as tables name it."""
        return JOINT.join(self.by)

    @property
    def pooled(self) -> list[str]:
        """`model` and `setting`, where an attribute is of theirs: rows are about several."""
        kinds = {"model": self.tables.of_models, "setting": self.tables.of_settings}
        return [key for key, names in kinds.items() if any(name in names for name in self.by)]

    def label(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give rows with `model` and `setting`, perhaps with `id`, the values of their attributes.

        Args:
            frame: Without `id`, attributes of items are left out.

        Returns:
            A column an attribute; several rows for an item of several labels, and an empty text
            under the keys that rows are pooled over.
        """
        import polars as pl

        for name in self.by:
            key, table = self._find_table(name)
            if key in frame.columns:
                labels = list_values(table, key, name).rename({name: _column(name)})
                frame = frame.join(labels, on=key, how="inner", maintain_order="left")
        return frame.with_columns(pl.lit("").alias(key) for key in self.pooled)

    def list_columns(self, frame: pl.DataFrame) -> list[str]:
        """The columns of attributes that labelled rows have."""
        return [_column(name) for name in self.by if _column(name) in frame.columns]

    def _find_table(self, name: str) -> tuple[str, pl.DataFrame]:
        if name in self.tables.of_items:
            return "id", self.tables.items
        if name in self.tables.of_models:
            return "model", self.tables.models
        return "setting", self.tables.settings


def _column(attribute: str) -> str:
    return f"_by_{attribute}"


def slice_verdicts(values: pl.DataFrame, plan: SlicePlan) -> pl.DataFrame:
    """Estimate accuracy, and partial credit, ratio and strict accuracy, in a slice.

    Args:
        values: A row per item of a cell under a rule book: `model, setting, rules, id, cluster`
            and the means of its samples, `verdict, credit, ratio, strict`, null where the rule book
            gives none.
        plan: The slice.

    Returns:
        Rows of `model, setting, rules, slice, value, metric, estimate, low, high, n, clusters`,
        `simulated` and `cells`, over how many cells an item's value is the mean: cells as they
        come, values in their natural order. The metric of a judge's accuracy is `gptscore`.
    """
    return _slice_means(values, plan, MEANS)


def slice_outcomes(verdicts: pl.DataFrame, plan: SlicePlan) -> pl.DataFrame:
    """Estimate the share of each outcome that is no answer in a slice.

    Args:
        verdicts: Rows of `model, setting, rules, id, cluster, outcome`.
        plan: The slice.

    Returns:
        Rows as `slice_verdicts` gives them, with metrics such as `outcome-refused`: every outcome
        that some verdict has, for each cell and value.
    """
    import polars as pl

    present = set(verdicts["outcome"].unique())
    names: list[str] = [name for name in FAILURES if name in present]
    flags = verdicts.select(
        *CELL,
        "rules",
        "id",
        "cluster",
        *((pl.col("outcome") == name).cast(pl.Float64).alias(name) for name in names),
    )
    values = average_samples(flags, [*CELL, "rules"], names)
    columns = {name: f"{OUTCOME}{name}" for name in names}
    return _slice_means(values, plan, columns)


def slice_samples(aggregates: pl.DataFrame, plan: SlicePlan) -> pl.DataFrame:
    """Estimate pass@k, consistency@k and what was chosen among k samples in a slice.

    Args:
        aggregates: Rows of `model, setting, rules, id, cluster, metric, k, value`.
        plan: The slice.

    Returns:
        Rows as `slice_verdicts` gives them, with metrics such as `pass@4`.
    """
    import polars as pl

    named = aggregates.select(
        *CELL,
        "rules",
        "id",
        "cluster",
        pl.concat_str("metric", pl.lit("@"), pl.col("k").cast(pl.String)).alias("_kind"),
        pl.col("value").alias("_share"),
    )
    keys = (*CELL, "rules", "_kind")
    rows = _slice_means(named, plan, {"_share": ""}, keys)
    return rows.with_columns(metric="_kind").drop("_kind")


def slice_lengths(responses: pl.DataFrame, plan: SlicePlan) -> pl.DataFrame:
    """Estimate the mean length of responses in a slice.

    Args:
        responses: Rows of `model, setting, id, cluster, characters, output_tokens` and
            `reasoning_tokens`.
        plan: The slice.

    Returns:
        Rows as `slice_verdicts` gives them, without `rules`: metrics `characters` (of the visible
        text), `output_tokens` and `reasoning_tokens` (as providers counted them; responses without
        a count are left out), with Student's intervals of clustered means.
    """
    import polars as pl

    values = average_samples(responses, CELL, LENGTHS)
    columns = {name: name for name in LENGTHS if values[name].null_count() < values.height}
    cells = plan.marks.group_by(CELL, maintain_order=True).agg(pl.col("simulated").any())
    rows = _slice_means(values, plan._replace(marks=cells), columns, CELL, estimate_means)
    return rows.with_columns(pl.col("low").clip(lower_bound=0))


def _slice_means(
    values: pl.DataFrame,
    plan: SlicePlan,
    columns: Mapping[str, str],
    keys: Sequence[str] = (*CELL, "rules"),
    estimate: Estimate = estimate_groups,
) -> pl.DataFrame:
    """Estimate the means of `columns` (column -> metric) in each value of a slice."""
    import polars as pl

    if not columns:
        return pl.DataFrame()
    labelled = plan.label(values)
    groups = [*keys, *plan.list_columns(labelled)]
    if plan.pooled:  # an item's value is its mean over the cells
        labelled = average_samples(labelled, groups, list(columns))
    parts = [
        estimate(labelled, groups, plan.confidence, column).with_columns(metric=name_metric(metric))
        for column, metric in columns.items()
    ]
    marked = _mark_cells(pl.concat(parts), plan)
    names = [_column(name) for name in plan.by]
    named = marked.with_columns(
        slice=pl.lit(plan.name), value=pl.concat_str(names, separator=JOINT)
    )
    return _order_rows(named.drop(*names, "n_eff", strict=False), keys)


def _mark_cells(rows: pl.DataFrame, plan: SlicePlan) -> pl.DataFrame:
    """Say of each row how many cells it is about, and whether any of them is simulated."""
    import polars as pl

    labelled = plan.label(plan.marks)
    keys = [name for name in labelled.columns if name != "simulated"]
    groups = labelled.group_by(keys, maintain_order=True).agg(
        pl.col("simulated").any(), pl.len().cast(pl.Int64).alias("cells")
    )
    return rows.join(groups, on=keys, how="left", maintain_order="left")


def name_metric(metric: str) -> pl.Expr:
    """Name the metric of rows by their rule book: the accuracy of a judge is `gptscore`."""
    import polars as pl

    if metric != MEANS["verdict"]:
        return pl.lit(metric)
    is_judge = pl.col("rules").str.split("/").list.first() == _JUDGE
    return pl.when(is_judge).then(pl.lit(_JUDGE)).otherwise(pl.lit(metric))


def sort_values(values: Iterable[str]) -> list[str]:
    """Sort the values of a slice: numbers by size, texts by letters, what is not stated last."""
    return sorted(set(values), key=_rank_value)


def _rank_value(value: str) -> list[tuple[int, float, str]]:
    return [_rank_part(part) for part in value.split(JOINT)]


def _rank_part(part: str) -> tuple[int, float, str]:
    if part == NOT_STATED:
        return 2, 0.0, part
    number = _NUMBER.match(part)
    return (0, float(number[1]), part) if number else (1, 0.0, part)


def _order_rows(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Cells as they come, within them the values in order, within these the metrics as they come.

    Args:
        rows: Estimates of a slice.
        keys: What tells cells apart.
    """
    import polars as pl

    cells = rows.select(keys).unique(maintain_order=True).with_row_index("_cell")
    metrics = rows.select("metric").unique(maintain_order=True).with_row_index("_metric")
    values = {name: rank for rank, name in enumerate(sort_values(rows["value"]))}
    return (
        rows.join(cells, on=list(keys), how="left")
        .join(metrics, on="metric", how="left")
        .with_columns(_value=pl.col("value").replace_strict(values, return_dtype=pl.Int64))
        .sort("_cell", "_value", "_metric")
        .drop("_cell", "_value", "_metric")
    )
