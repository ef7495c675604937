"""The names under which figures show models and settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

MODEL_COLUMNS: Final = ("model", "baseline_model")
"""The columns of tables that hold models; `baseline` does where `kind` is `model`."""
SETTING_COLUMNS: Final = ("setting", "baseline_setting", "beside")
"""The columns that hold settings; `baseline` does where no `kind` says something else."""
_MODEL: Final = "model"


def label_cells(
    table: pl.DataFrame, models: Mapping[str, str], settings: Mapping[str, str]
) -> pl.DataFrame:
    """Name the models and settings of a table as the report does.

    Args:
        table: The tidy table of a result.
        models: Model -> the name under which it is shown.
        settings: Setting -> the name under which it is shown.

    Returns:
        The table with labels in place of names. Two models, or settings, of one label stay apart:
        the label is followed by the name. What is in neither stays as it is.
    """
    import polars as pl

    model_names, setting_names = tell_apart(models), tell_apart(settings)
    named = table.with_columns(
        *(pl.col(c).replace(model_names) for c in MODEL_COLUMNS if c in table.columns),
        *(pl.col(c).replace(setting_names) for c in SETTING_COLUMNS if c in table.columns),
    )
    if "baseline" not in table.columns or "setting" not in table.columns:
        return named
    baseline = pl.col("baseline")
    if "kind" not in table.columns:
        return named.with_columns(baseline.replace(setting_names))
    return named.with_columns(
        pl.when(pl.col("kind") == _MODEL)
        .then(baseline.replace(model_names))
        .when(pl.col("kind") == "setting")
        .then(baseline.replace(setting_names))
        .otherwise(baseline)
        .alias("baseline")
    )


def tell_apart(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels, each followed by its name where several names have the same one.

    Args:
        labels: Name -> label.
    """
    counts = Counter(labels.values())
    return {
        name: label if counts[label] == 1 else f"{label} ({name})" for name, label in labels.items()
    }
