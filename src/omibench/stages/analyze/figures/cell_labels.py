"""Labels of models and settings in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

MODEL_COLUMNS: Final = ("model", "baseline_model")
"""The columns with models; also `baseline` if `kind` is `model`."""
SETTING_COLUMNS: Final = ("setting", "baseline_setting", "beside")
"""The columns with settings; also `baseline` unless `kind` differs."""
_MODEL: Final = "model"


def label_cells(
    table: pl.DataFrame, models: Mapping[str, str], settings: Mapping[str, str]
) -> pl.DataFrame:
    """Replace names of models and settings in a table by their labels.

    Args:
        table: The tidy table of a result.
        models: Labels of models by name.
        settings: Labels of settings by name.

    Returns:
        The table with labels. If several models or settings share a label, the name follows it.
        Unknown names stay unchanged.
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
    """Return the labels, each followed by its name if several names share it.

    Args:
        labels: Labels by name.
    """
    counts = Counter(labels.values())
    return {
        name: label if counts[label] == 1 else f"{label} ({name})" for name, label in labels.items()
    }
