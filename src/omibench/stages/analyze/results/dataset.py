"""The contents of the frozen dataset: counts, images, lengths and attribute values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from omibench.results.attributes import list_values
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import result

MOST_VALUES = 40
"""Attributes with more values identify items instead of grouping them, and are left out."""
LENGTH_BIN = 50
"""The width of a bin of question lengths, in characters."""
_PLACE = ("slice", "value")
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
    parts = [
        facts.with_columns(slice=pl.lit(""), value=pl.lit("")),
        facts.with_columns(slice=pl.lit("subject"), value="subject"),
    ]
    slices = pl.concat([parts[0].select(*_PLACE, "cluster"), *_list_slices(analysis)])
    whole, problems = pl.concat(parts), pl.len().cast(pl.Float64)
    tables = {
        "problems": _aggregate(slices, problems),
        "share of problems": _aggregate(slices, problems / facts.height),
    }
    for name in ("images", "choices", *LENGTHS):
        column = pl.col(name)
        tables[name] = _aggregate(
            whole.drop_nulls(name), column.mean(), least=column.min(), most=column.max()
        )
    tables["with rationale"] = _aggregate(whole, (pl.col(LENGTHS[2]).fill_null(0) > 0).mean())
    return pl.concat(
        (table.with_columns(metric=pl.lit(name)) for name, table in tables.items()), how="diagonal"
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
    most = pl.col("least") + LENGTH_BIN - 1
    facts = _describe_problems(analysis).with_columns(least=least)
    return (
        _aggregate(facts, pl.len().cast(pl.Float64), by=["least"])
        .sort("least")
        .with_columns(
            slice=pl.lit("question length"), value=pl.format("{} to {}", "least", most),
            metric=pl.lit("questions"), most=most,
            simulated=pl.lit(analysis.results.has_synthetic_problems),
        )
    )  # fmt: skip


def _describe_problems(analysis: Analysis) -> pl.DataFrame:
    """Return one row per problem with the values to be counted and averaged."""
    questions = analysis.results.questions
    rows = [
        (
            answer.id,
            answer.n_images,
            len(answer.choices) if answer.choices else None,
            len(questions[answer.id].question) if answer.id in questions else None,
            sum(len(part) for part in answer.answer),
            len(answer.solution) if answer.solution else None,
        )
        for answer in analysis.results.answers.values()
    ]
    numbers = dict.fromkeys(("images", "choices", *LENGTHS), pl.Int64)
    facts = pl.DataFrame(rows, schema={"id": pl.String, **numbers}, orient="row")
    return analysis.items.select("id", "cluster", "subject").join(facts, on="id", how="left")


def _list_slices(analysis: Analysis) -> Iterator[pl.DataFrame]:
    """Return the cluster of each problem under each value of an attribute, by value."""
    clusters = analysis.items.select("id", "cluster")
    for name in analysis.attributes.of_items:
        labels = list_values(analysis.items, "id", name).drop_nulls(name)
        if labels[name].n_unique() <= MOST_VALUES:
            yield (
                labels.sort(name)
                .join(clusters, on="id", maintain_order="left")
                .select("cluster", slice=pl.lit(name), value=pl.col(name).cast(pl.String))
                .select(*_PLACE, "cluster")
            )


def _aggregate(
    facts: pl.DataFrame, estimate: pl.Expr, by: Sequence[str] = _PLACE, **more: pl.Expr
) -> pl.DataFrame:
    return facts.group_by(by, maintain_order=True).agg(
        estimate=estimate, n=pl.len(), clusters=pl.col("cluster").n_unique(), **more
    )
