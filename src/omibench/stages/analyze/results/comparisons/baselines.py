"""Models and settings against the baselines that a study declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from omibench.stages.analyze.results.comparisons.differences import (
    MEASURES,
    compare_slices,
    keep_scorers,
)
from omibench.stages.analyze.results.comparisons.resampling import KEYS, bootstrap_comparisons
from omibench.stages.analyze.results.item_slices import slice_items
from omibench.stages.analyze.results.result import result

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis


@result(
    "baselines",
    "Models and settings against their baselines",
    source="EMMA, table 2 and figure 7; USNCO-V, figures 3 and 6; OMIBench, figures 3c, 4 and 6",
)
def tabulate_baselines(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the differences to declared baselines, over the items that both answered.

    The table has absolute and relative differences overall and by slice, with the paired test and
    Holm's p over the comparisons of one scorer, measure and slice; see
    `differences.compare_slices`. If `analyze.baselines.resamples` is set, rows over all items also
    have `bootstrap_low`, `bootstrap_high` and `bootstrap_p` of the paired cluster bootstrap.

    Args:
        analysis: The study's results.

    Returns:
        One row per comparison, scorer, measure and slice value; None without baselines.
    """
    import polars as pl

    declared = analysis.study.analyze.baselines
    values, labels = keep_scorers(analysis.item_values), slice_items(analysis)
    tables, bootstraps = [], []
    for kind, baselines in (("setting", declared.settings), ("model", declared.models)):
        pairs = pair_with_baselines(values, kind, baselines)
        tables += list(compare_slices(analysis, pairs, labels, kind))
        if declared.resamples:
            bootstraps.append(
                bootstrap_comparisons(pairs, kind, analysis.confidence, declared.resamples)
            )
    if not tables:
        return None
    table = mark_both_simulated(analysis, pl.concat(tables))
    return (
        table.join(pl.concat(bootstraps), on=KEYS, how="left", maintain_order="left")
        if bootstraps
        else table
    )


def pair_with_baselines(
    values: pl.DataFrame, kind: str, baselines: Mapping[str, str]
) -> pl.DataFrame:
    """Join each item's values with those of the baseline.

    Args:
        values: `Analysis.item_values`.
        kind: Compared column: `model` or `setting`.
        baselines: Baseline name by name.

    Returns:
        The input of `differences.compare_slices`.
    """
    import polars as pl

    names = pl.DataFrame(
        {kind: list(baselines), "baseline": list(baselines.values())},
        schema={kind: pl.String, "baseline": pl.String},
    )
    other = "setting" if kind == "model" else "model"
    keys = [other, "rules", "baseline", "id"]
    right = values.select(
        other,
        "rules",
        pl.col(kind).alias("baseline"),
        "id",
        *(pl.col(column).alias(f"{column}_base") for column in MEASURES),
    )
    left = values.join(names, on=kind, maintain_order="left")
    return left.join(right, on=keys, maintain_order="left")


def mark_both_simulated(analysis: Analysis, table: pl.DataFrame) -> pl.DataFrame:
    """Add `simulated`: whether either side of a comparison is simulated.

    Args:
        analysis: The study's results.
        table: Rows with `model`, `setting`, `rules`, `kind` and `baseline`.
    """
    import polars as pl

    marks = analysis.simulated_cells
    is_model = pl.col("kind") == "model"
    sides = table.with_columns(
        _model=pl.when(is_model).then("baseline").otherwise("model"),
        _setting=pl.when(pl.col("kind") == "setting").then("baseline").otherwise("setting"),
    )
    both = analysis.mark_simulated(sides).join(
        marks,
        left_on=["_model", "_setting", "rules"],
        right_on=["model", "setting", "rules"],
        how="left",
        suffix="_base",
        maintain_order="left",
    )
    return both.with_columns(
        pl.col("simulated") | pl.col("simulated_base").fill_null(value=False)
    ).drop("simulated_base", "_model", "_setting")
