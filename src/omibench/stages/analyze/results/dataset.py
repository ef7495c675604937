"""The contents of the frozen dataset: counts, images, lengths and attribute values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from omibench.results.attributes import list_values
from omibench.stages.analyze.results.result import result

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis

MOST_VALUES = 40
"""Attributes with more values identify items instead of grouping them, and are left out."""
LENGTH_BIN = 50
"""The width of a bin of question lengths, in characters."""
LENGTHS = ("question characters", "answer characters", "rationale characters")


@result(
    "dataset",
    "Problems, images and lengths of the dataset, by every attribute",
    source="OMIBench, figure 2 and table 3; EMMA, table 1; USNCO-V, table 3; MathReal, table 1",
)
def tabulate_dataset(analysis: Analysis) -> pl.DataFrame:
    """Count the problems of the dataset and average their images and lengths.

    Args:
        analysis: The study's results.

    Returns:
        Rows without model and setting: `problems` (a count) and `share of problems` of every value
        of every attribute with at most 40 values; the number of images, of choices and of
        characters in question, answer and rationale as `mean`, `least` and `most` of all problems
        and of each subject; `with rationale`, a share. `n` is the number of problems of a row.
    """
    facts = _describe_problems(analysis)
    whole = facts.select("id", "cluster", pl.lit("").alias("slice"), pl.lit("").alias("value"))
    slices = [whole, *_list_slices(analysis, facts)]
    counts = pl.concat(
        part.group_by("slice", "value", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            pl.col("cluster").n_unique().alias("clusters"),
        )
        .with_columns((pl.col("n") / facts.height).alias("share"))
        for part in slices
    )
    by_subject = facts.with_columns(
        pl.lit("subject").alias("slice"), pl.col("subject").alias("value")
    )
    total = facts.with_columns(pl.lit("").alias("slice"), pl.lit("").alias("value"))
    return pl.concat(
        [
            _name_metric(counts.with_columns(estimate=pl.col("n").cast(pl.Float64)), "problems"),
            _name_metric(counts.with_columns(estimate=pl.col("share")), "share of problems"),
            *(_average(pl.concat([total, by_subject]), name) for name in ("images", "choices")),
            *(_average(pl.concat([total, by_subject]), name) for name in LENGTHS),
            _name_metric(
                _aggregate(
                    pl.concat([total, by_subject]),
                    (pl.col(LENGTHS[2]) > 0).fill_null(value=False).mean(),
                ),
                "with rationale",
            ),
        ],
        how="diagonal",
    ).with_columns(simulated=pl.lit(analysis.results.has_synthetic_problems))


@result(
    "question-lengths",
    "Distribution of question lengths",
    source="MathReal, figure 10",
)
def tabulate_lengths(analysis: Analysis) -> pl.DataFrame:
    """Count questions in bins of 50 characters.

    Args:
        analysis: The study's results.

    Returns:
        One row per bin: `least` and `most` characters, `estimate` the number of questions.
    """
    least = (pl.col(LENGTHS[0]) // LENGTH_BIN) * LENGTH_BIN
    return (
        _describe_problems(analysis)
        .with_columns(least=least)
        .group_by("least")
        .agg(pl.len().alias("n"), pl.col("cluster").n_unique().alias("clusters"))
        .sort("least")
        .select(
            pl.lit("question length").alias("slice"),
            pl.format("{} to {}", "least", pl.col("least") + LENGTH_BIN - 1).alias("value"),
            pl.lit("questions").alias("metric"),
            pl.col("n").cast(pl.Float64).alias("estimate"),
            "n",
            "clusters",
            pl.lit(analysis.results.has_synthetic_problems).alias("simulated"),
            "least",
            (pl.col("least") + LENGTH_BIN - 1).alias("most"),
        )
    )


def _describe_problems(analysis: Analysis) -> pl.DataFrame:
    """Return one row per problem with the values to be counted and averaged."""
    questions = analysis.results.questions
    answers = analysis.results.answers.values()
    facts = pl.DataFrame(
        {
            "id": [a.id for a in answers],
            "images": [a.n_images for a in answers],
            "choices": [len(a.choices) if a.choices else None for a in answers],
            LENGTHS[0]: [
                len(questions[a.id].question) if a.id in questions else None for a in answers
            ],
            LENGTHS[1]: [sum(len(part) for part in a.answer) for a in answers],
            LENGTHS[2]: [len(a.solution) if a.solution else None for a in answers],
        },
        schema={"id": pl.String, "images": pl.Int64, "choices": pl.Int64}
        | dict.fromkeys(LENGTHS, pl.Int64),
    )
    return analysis.items.select("id", "cluster", "subject").join(facts, on="id", how="left")


def _list_slices(analysis: Analysis, facts: pl.DataFrame) -> list[pl.DataFrame]:
    slices = []
    for name in analysis.attributes.of_items:
        labels = list_values(analysis.items, "id", name).drop_nulls(name)
        if labels[name].n_unique() <= MOST_VALUES:
            slices.append(
                facts.select("id", "cluster")
                .join(labels, on="id")
                .sort(name, maintain_order=True)
                .select(
                    "id",
                    "cluster",
                    pl.lit(name).alias("slice"),
                    pl.col(name).cast(pl.String).alias("value"),
                )
            )
    return slices


def _aggregate(facts: pl.DataFrame, estimate: pl.Expr, *more: pl.Expr) -> pl.DataFrame:
    return facts.group_by("slice", "value", maintain_order=True).agg(
        estimate.alias("estimate"),
        *more,
        pl.len().alias("n"),
        pl.col("cluster").n_unique().alias("clusters"),
    )


def _average(facts: pl.DataFrame, name: str) -> pl.DataFrame:
    column = pl.col(name)
    frame = _aggregate(
        facts.drop_nulls(name),
        column.mean(),
        column.min().alias("least"),
        column.max().alias("most"),
    )
    return _name_metric(frame, name)


def _name_metric(frame: pl.DataFrame, metric: str) -> pl.DataFrame:
    names = ("slice", "value", "estimate", "n", "clusters", "least", "most")
    return frame.select(
        *(name for name in names if name in frame.columns), pl.lit(metric).alias("metric")
    )
