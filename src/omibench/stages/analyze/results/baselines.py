"""Settings, models and pictures compared with their baselines by paired differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from omibench.results.grouped import compare_pairs
from omibench.results.load import JUDGE_RULES, VOTE_MARK
from omibench.results.statistics.paired import bootstrap_difference
from omibench.schemas.problem import list_labels
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.results.slices import slice_items

KEYS = (*CELL, "baseline", "kind", "measure", "slice")
BOUNDS = ("bootstrap_low", "bootstrap_high", "bootstrap_p")


def bootstrap_comparisons(
    pairs: pl.DataFrame, kind: str, confidence: float, resamples: int
) -> pl.DataFrame:
    """Resample the clusters of each comparison over all items.

    Args:
        pairs: The input of `differences.compare_slices`.
        kind: Compared column: `model` or `setting`.
        confidence: The two-sided level of the interval, in (0, 1).
        resamples: Number of draws per comparison.

    Returns:
        One row per comparison and measure: `KEYS` and `BOUNDS`, percentile bounds of the difference
        and its p (`statistics.paired.bootstrap_difference`, seed 0).
    """
    rows: list[tuple[object, ...]] = []
    for column, measure in MEASURES.items():
        filled_pairs = pairs.drop_nulls([column, f"{column}_base"])
        for (*cell, rules, baseline), part in filled_pairs.group_by(
            *CELL, "baseline", maintain_order=True
        ):
            result = bootstrap_difference(
                (part[column] - part[f"{column}_base"]).to_list(),
                part["cluster"].to_list(),
                confidence,
                resamples=resamples,
            )
            name = name_measure(str(rules), measure)
            bounds = (result.low, result.high, result.p)
            rows.append((*cell, rules, baseline, kind, name, "", *bounds))
    schema = dict.fromkeys(KEYS, pl.String()) | dict.fromkeys(BOUNDS, pl.Float64())
    return pl.DataFrame(rows, schema=schema, orient="row")


DIFFERENCE = "difference"
MEASURES: Mapping[str, str] = {"verdict": "accuracy", "strict": "strict", "credit": "credit"}
"""The name of the mean of each column of `Analysis.item_values`."""


def keep_scorers(values: pl.DataFrame) -> pl.DataFrame:
    """Drop the verdicts of single judges of a panel, which are part of the panel's."""
    return values.filter(~pl.col("rules").str.contains(VOTE_MARK, literal=True))


def compare_slices(
    analysis: Analysis, pairs: pl.DataFrame, labels: pl.DataFrame, kind: str
) -> Iterator[pl.DataFrame]:
    """Compare two cells, or two kinds of items of one cell, in each slice by each measure.

    The comparisons of one scorer, measure and slice (with all values of the slice) are one family:
    p values are adjusted over them by Holm.

    Args:
        analysis: The study's results.
        pairs: One row per item that both answered: `CELL`, `baseline`, `id`, `cluster`, a column
            for each measure, and the baseline's value in the column with the suffix `_base`.
        labels: Rows of `id`, `slice` and `value` that assign items to slices.
        kind: Compared column: `model`, `setting` or `picture`.

    Yields:
        One table per scorer, measure and slice: `CELL`, `baseline`, `kind`, `slice`, `value`,
        `measure`, `metric` (`difference`), `estimate`, `low`, `high`, `score`, `baseline_score`
        (means over the same items), `relative` (difference over baseline score; null if that is 0),
        `n`, `clusters`, `p`, `p_holm`, `family` (the number of tests in the adjustment),
        `significant` (by Holm at 1 - confidence) and `detectable` (see
        `results.grouped.compare_pairs`; null if the difference is significant).
    """
    names = ["model", "setting", "baseline"]
    # Grouping by integers instead of strings halves the time.
    comparisons = pairs.select(names).unique(maintain_order=True).with_row_index("comparison")
    coded_pairs = pairs.join(comparisons, on=names, maintain_order="left").with_columns(
        pl.col("cluster").cast(pl.Categorical).to_physical()
    )
    keys = ["comparison", "value"]
    significant = (pl.col("p_holm") < 1 - analysis.confidence).fill_null(value=False)
    for rules in analysis.results.rules:
        of_book = coded_pairs.filter(pl.col("rules") == rules)
        for column, measure in MEASURES.items():
            columns = (column, f"{column}_base")
            values = of_book.select("comparison", "id", "cluster", *columns).drop_nulls()
            if values.is_empty():
                continue
            for (name,), part in labels.group_by("slice", maintain_order=True):
                part_labels = part.select("id", pl.col("value").cast(pl.Categorical))
                joined = values.join(part_labels, on="id", maintain_order="left")
                if joined.is_empty():
                    continue
                table = compare_pairs(joined, keys, analysis.confidence, columns)
                yield table.join(comparisons, on="comparison", maintain_order="left").select(
                    *names, pl.col("value").cast(pl.String),
                    "estimate", "low", "high", "n", "clusters",
                    slice=pl.lit(name),
                    score="first",
                    baseline_score="second",
                    relative=pl.when(pl.col("second") > 0).then(
                        pl.col("estimate") / pl.col("second")
                    ),
                    p="p",
                    p_holm="p_holm",
                    family=pl.col("p").count().cast(pl.Int64),
                    significant=significant,
                    detectable=pl.when(~significant).then("detectable"),
                    rules=pl.lit(rules),
                    measure=pl.lit(name_measure(rules, measure)),
                    metric=pl.lit(DIFFERENCE),
                    kind=pl.lit(kind),
                )  # fmt: skip


def name_measure(rules: str, measure: str) -> str:
    """Return the name of a measure's mean under a scorer: the judge's accuracy is GPTScore."""
    return "gptscore" if rules == JUDGE_RULES and measure == "accuracy" else measure


@result(
    "baselines",
    "Models and settings against their baselines",
    source="EMMA, table 2 and figure 7; USNCO-V, figures 3 and 6; OMIBench, figures 3c, 4 and 6",
)
def tabulate_baselines(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the differences to declared baselines, over the items that both answered.

    A fine-tuned model is compared with the `base` in its block, unless another baseline is declared
    (OMIBench, table 9).

    The table has absolute and relative differences overall and by slice, with the paired test and
    Holm's p over the comparisons of one scorer, measure and slice; see
    `differences.compare_slices`. If `analyze.baselines.resamples` is set, rows over all items also
    have `bootstrap_low`, `bootstrap_high` and `bootstrap_p` of the paired cluster bootstrap.

    Args:
        analysis: The study's results.

    Returns:
        One row per comparison, scorer, measure and slice value; None without baselines.
    """
    declared = analysis.study.analyze.baselines
    values, labels = keep_scorers(analysis.item_values), slice_items(analysis)
    evaluated = {cell.model: analysis.study.models[cell.model] for cell in analysis.study.cells}
    bases = {name: model.base for name, model in evaluated.items() if model.base in evaluated}
    tables, bootstraps = [], []
    for kind, baselines in (("setting", declared.settings), ("model", bases | declared.models)):
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
    names = pl.DataFrame([*baselines.items()], dict.fromkeys((kind, "baseline"), pl.String),
                         orient="row")  # fmt: skip
    other = "setting" if kind == "model" else "model"
    right = values.select(
        other, "rules", "id", pl.col([*MEASURES]).name.suffix("_base"), baseline=kind
    )
    left = values.join(names, on=kind, maintain_order="left")
    return left.join(right, on=[other, "rules", "baseline", "id"], maintain_order="left")


def mark_both_simulated(analysis: Analysis, table: pl.DataFrame) -> pl.DataFrame:
    """Add `simulated`: whether either side of a comparison is simulated.

    Args:
        analysis: The study's results.
        table: Rows with `model`, `setting`, `rules`, `kind` and `baseline`.
    """
    is_model, is_setting = pl.col("kind") == "model", pl.col("kind") == "setting"
    return analysis.mark_pairs(
        table,
        pl.when(is_model).then("baseline").otherwise("model"),
        pl.when(is_setting).then("baseline").otherwise("setting"),
    )


PAIR: Final = "pair"
REAL, CLEAN = "real", "clean"
NOISE: Final = "noise"
"""The attribute that lists the conditions of a photograph."""
PRESENT, ABSENT = "present", "absent"


@result(
    "real-clean",
    "Clean and real pictures of the same problems",
    source="MathReal, tables 7 and 8, section Real Image vs. Clean Image",
)
def tabulate_pictures(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate each cell's accuracy on clean minus real pictures of the same problems.

    Two items with the attribute `pair`, one `real` and one `clean`, that share a cluster (`group`)
    are one problem. Differences are computed overall, by the slices of the study, and by each
    condition of the real photograph: `present` or `absent` (slice `noise: <condition>`) and its
    grade (slice `<condition>`). `measure` distinguishes strict and loose accuracy.

    Args:
        analysis: The study's results.

    Returns:
        The rows of `differences.compare_slices`, with the baseline `real`; None if no problem has
        both pictures.
    """
    items = analysis.items
    if PAIR not in items.columns:
        return None
    couples = _match_items(items)
    if couples.is_empty():
        return None
    values = keep_scorers(analysis.item_values)
    clean = values.join(couples, left_on="id", right_on=CLEAN, maintain_order="left")
    real = values.select(*CELL, pl.col("id").alias(REAL), pl.col([*MEASURES]).name.suffix("_base"))
    pairs = (
        clean.join(real, on=[*CELL, REAL], maintain_order="left")
        .with_columns(baseline=pl.lit(REAL))
        .drop("id")
        .rename({REAL: "id"})
    )
    labels = slice_items(analysis).filter(pl.col("slice") != PAIR)
    labels = pl.concat([labels, _label_conditions(items)]).unique(maintain_order=True)
    tables = list(compare_slices(analysis, pairs, labels, "picture"))
    return analysis.mark_simulated(pl.concat(tables)) if tables else None


def _match_items(items: pl.DataFrame) -> pl.DataFrame:
    """Return the ids of the two items of each problem, `real` and `clean`; other clusters are
    dropped."""
    sides = {
        side: items.filter(pl.col(PAIR) == side)
        .group_by("cluster", maintain_order=True)
        .agg(pl.col("id").first(), items=pl.len())
        .filter(items=1)
        .select("cluster", pl.col("id").alias(side))
        for side in (REAL, CLEAN)
    }
    return sides[REAL].join(sides[CLEAN], on="cluster", maintain_order="left").drop("cluster")


def _label_conditions(items: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `id`, `slice` and `value`: each condition present or absent, and its grade."""
    schema = {"id": pl.String, "slice": pl.String, "value": pl.String}
    if NOISE not in items.columns:
        return pl.DataFrame(schema=schema)
    stated = {
        row["id"]: set(list_labels(row[NOISE])) for row in items.select("id", NOISE).to_dicts()
    }
    conditions = sorted(set().union(*stated.values()))
    rows = [
        (id_, f"{NOISE}: {condition}", PRESENT if condition in labels else ABSENT)
        for condition in conditions
        for id_, labels in stated.items()
    ]
    presence = pl.DataFrame(rows, schema=schema, orient="row")
    grades = [
        items.select("id", slice=pl.lit(condition), value=condition).drop_nulls()
        for condition in conditions
        if condition in items.columns and items.schema[condition] == pl.String
    ]
    return pl.concat([presence, *grades])
