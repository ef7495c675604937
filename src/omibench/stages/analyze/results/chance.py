"""The accuracy of guessing, and the accuracies that are not distinguishable from it."""

from __future__ import annotations

import polars as pl

from omibench.results.slices import label_items
from omibench.results.statistics.people import guess_accuracy
from omibench.schemas.problem import Answer
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL
from omibench.stages.analyze.results.result import result, write_estimate
from omibench.stages.analyze.results.slices import slice_items

CHANCE, AT_CHANCE, BELOW_CHANCE = "chance", "at chance", "below chance"
_PLACE = ("slice", "value")


def guess_chance(answer: Answer) -> float:
    """Return the probability that a random guess at an item is right.

    Args:
        answer: Gold answer and choices of the item.

    Returns:
        1 / number of choices; with several right choices, 1 / number of non-empty sets of choices;
        0 for an open answer.
    """
    choices = len(answer.choices or [])
    if not choices:
        return 0.0
    labels = {choice.label.strip().upper() for choice in answer.choices or []}
    letters = [letter for letter in "".join(answer.answer).upper() if letter in labels]
    return 1 / (2**choices - 1) if len(set(letters)) > 1 else 1 / choices


@result("chance", "Accuracy of guessing, and cells that it explains", source="EMMA, table 2")
def tabulate_chance(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the accuracy of guessing, overall and by slice, with its exact distribution.

    This is the row "Random choice" of EMMA's table 2. Rows with the metric `chance` describe the
    items: `estimate` is the expected accuracy, `low` to `high` is the central interval of its
    Poisson binomial distribution, `upper` the one-sided point that guessing exceeds with
    probability at most 1 - confidence, `sd` its standard deviation. Rows with `at chance` and
    `below chance` describe models: the share of their accuracies whose interval contains the chance
    level of the same items, or lies below it. These accuracies are for items with choices, overall
    and by slice (`n` of them), over all settings (`setting` empty) or under one.

    Args:
        analysis: The study's results.

    Returns:
        The rows; None if no item has choices.
    """
    chances = _list_chances(analysis)
    if not chances["chance"].sum():
        return None
    labels = slice_items(analysis).join(chances, on="id")
    guesses = _tabulate_slices(analysis, labels)
    counts = _count_cells(analysis, labels, guesses)
    return guesses if counts is None else pl.concat([guesses, counts], how="diagonal_relaxed")


def guess_slice(analysis: Analysis, names: str) -> pl.DataFrame:
    """Tabulate the accuracy of guessing in one slice of items, whether the study lists it or not.

    Args:
        analysis: The study's results.
        names: One attribute of items, or two separated by a comma.

    Returns:
        Rows with the metric `chance`.
    """
    labels = label_items(analysis.items, names)
    return _tabulate_slices(analysis, labels.join(_list_chances(analysis), on="id"))


def _list_chances(analysis: Analysis) -> pl.DataFrame:
    answers = analysis.results.answers.values()
    rows = [(answer.id, guess_chance(answer)) for answer in answers]
    return pl.DataFrame(rows, schema={"id": pl.String, "chance": pl.Float64}, orient="row")


def _tabulate_slices(analysis: Analysis, labels: pl.DataFrame) -> pl.DataFrame:
    rows = [
        {
            "slice": name, "value": value, "metric": CHANCE,
            **write_estimate((guesses.mean, guesses.lo, guesses.hi)),
            "upper": guesses.upper, "sd": guesses.sd, "n": guesses.n,
            "clusters": part["cluster"].n_unique(),
            "simulated": analysis.results.has_synthetic_problems,
        }
        for (name, value), part in analysis.add_clusters(labels).group_by(
            _PLACE, maintain_order=True
        )
        for guesses in [guess_accuracy(part["chance"].to_list(), analysis.confidence)]
    ]  # fmt: skip
    return pl.DataFrame(rows)


def _count_cells(
    analysis: Analysis, labels: pl.DataFrame, guesses: pl.DataFrame
) -> pl.DataFrame | None:
    """Count the accuracies of each model at chance level, under each setting and overall."""
    cells = _list_accuracies(analysis).join(
        guesses.select("slice", "value", chance="estimate", items="n"), on=["slice", "value"]
    )
    incomplete = cells.filter(pl.col("n") < pl.col("items"))
    if incomplete.height:
        part = analysis.item_values.join(incomplete.select(CELL).unique(), on=CELL, how="semi")
        by_cell = part.join(labels, on="id").group_by(*CELL, *_PLACE)
        chances = by_cell.agg(chance_of_items=pl.col("chance").mean())
        cells = cells.join(chances, on=[*CELL, *_PLACE], how="left", maintain_order="left")
        cells = cells.with_columns(chance=pl.coalesce("chance_of_items", "chance"))
    cells = cells.filter(pl.col("chance") > 0).with_columns(
        pl.col("chance").is_between("low", "high").alias(AT_CHANCE),
        (pl.col("high") < pl.col("chance")).alias(BELOW_CHANCE),
    )
    if cells.is_empty():
        return None
    shares = (
        pl.concat([cells, cells.with_columns(setting=pl.lit(""))])
        .group_by(CELL, maintain_order=True)
        .agg(pl.col(AT_CHANCE, BELOW_CHANCE).mean(), pl.col("simulated").any(), n=pl.len())
    )
    return shares.unpivot(
        [AT_CHANCE, BELOW_CHANCE],
        index=[*CELL, "n", "simulated"],
        variable_name="metric",
        value_name="estimate",
    )


def _list_accuracies(analysis: Analysis) -> pl.DataFrame:
    """List the accuracies of each cell by scorers, overall and by slices of items."""
    tables = [analysis.table(name) for name in ("accuracy", "slices")]
    columns = [*CELL, *_PLACE, "low", "high", "n", "simulated"]
    return pl.concat(
        [
            table.filter(pl.col("metric") == "accuracy", pl.col("model") != "").select(columns)
            for table in tables
            if table is not None
        ]
    )
