"""The names under which figures show models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

COLUMNS: Final = ("model", "baseline_model")
"""The columns of tables that hold models; `baseline` does where `kind` is `model`."""


def label_models(table: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Name the models of a table as the report does.

    Args:
        table: The tidy table of a result.
        labels: Model -> the name under which it is shown.

    Returns:
        The table with labels in place of models. Two models of one label stay apart: the label is
        followed by the model's name. What is no model of `labels` stays as it is.
    """
    import polars as pl

    counts = Counter(labels.values())
    names = {
        model: label if counts[label] == 1 else f"{label} ({model})"
        for model, label in labels.items()
    }
    named = table.with_columns(
        pl.col(column).replace(names) for column in COLUMNS if column in table.columns
    )
    if not {"kind", "baseline"} <= set(table.columns):
        return named
    is_model = pl.col("kind") == "model"
    baseline = pl.col("baseline")
    return named.with_columns(
        pl.when(is_model).then(baseline.replace(names)).otherwise(baseline).alias("baseline")
    )
