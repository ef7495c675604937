"""The values that the report's sentences and headline state, beyond those of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from omibench.params.setting import Cell
from omibench.results.statistics.intervals import Estimate
from omibench.results.statistics.paired import (
    AccuracyDifference,
    adjusted_difference,
    independent_difference,
)
from omibench.results.statistics.selection import bound_best
from omibench.schemas.verdict import FAILURES, NOT_JUDGED
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import MIN_PROBLEMS, TOTAL, pool_items

Row = dict[str, Any]
"""A row of a result."""


def best(analysis: Analysis, cells: Sequence[Cell] | None = None) -> Row | None:
    """Return the highest total under the main scorer of the cells of `contenders`.

    Ties keep order. None if no cell remains.
    """
    return _highest(contenders(analysis, cells))


def best_of_all(analysis: Analysis) -> tuple[Row | None, int]:
    """Return the highest total of all cells of the study, and the number of cells compared."""
    compared = contenders(analysis, analysis.results.cells)
    return _highest(compared), len(compared)


def _highest(rows: Sequence[Row]) -> Row | None:
    return max(rows, key=lambda row: row["estimate"], default=None)


def find_cell(row: Row) -> Cell:
    """Return the cell of a row."""
    return Cell(row["model"], row["setting"])


def contenders(analysis: Analysis, cells: Sequence[Cell] | None = None) -> list[Row]:
    """Return the totals of the cells that can lead: those with results on the same problems.

    Recorded responses can cover only some subjects, and their accuracy is for other problems. The
    largest set of problems counts, then the one that more cells have. Cells with too few answers
    are left out.

    Args:
        analysis: The study's results.
        cells: The compared cells; default: those of the family.
    """
    results = analysis.results
    chosen = {*(results.family.cells if cells is None else cells)} - {*results.failed_cells}
    totals = analysis.scores.filter(subject=TOTAL, rules=results.main_rules)
    groups: dict[frozenset[str], list[Row]] = {}
    for row in totals.iter_rows(named=True):
        if find_cell(row) in chosen:
            problems = results.select_verdicts(results.main_rules, find_cell(row))["id"]
            groups.setdefault(frozenset(problems), []).append(row)
    largest = max(groups, key=lambda ids: (len(ids), len(groups[ids])), default=None)
    return [] if largest is None else groups[largest]


def partial_cells(analysis: Analysis) -> list[Cell]:
    """Return the cells of the family that cannot lead because they lack problems of others."""
    results = analysis.results
    out = {*map(find_cell, contenders(analysis)), *results.failed_cells}
    return [cell for cell in results.family.cells if cell not in out]


class LeaderInterval(NamedTuple):
    """The interval of the leading cell, and the number of cells that it was chosen from."""

    low: float
    high: float
    chosen_from: int


def bound_leader(analysis: Analysis, top: Row) -> LeaderInterval:
    """Correct the interval of the leading cell for its choice by the same results.

    Cells that the tests find behind it do not count: it was not chosen from them.
    """
    results, leader = analysis.results, find_cell(top)
    rivals = [
        cell
        for cell in map(find_cell, contenders(analysis))
        if cell != leader and not results.family_tests.is_ahead(leader, cell)
    ]
    if not rivals:
        return LeaderInterval(top["low"], top["high"], 1)
    cells = [leader, *rivals]
    names = pl.DataFrame([cell._asdict() for cell in cells]).with_columns(
        cell=pl.Series([str(place) for place in range(len(cells))])
    )
    table = (
        analysis.item_values.filter(rules=results.main_rules)
        .join(names, on=["model", "setting"])
        .pivot("cell", index=["id", "cluster"], values="verdict")
    )
    values = table.select(names["cell"].to_list()).to_numpy()
    bounds = bound_best(values, table["cluster"].to_list(), 0, analysis.confidence)
    return LeaderInterval(bounds.lo, bounds.hi, len(cells))


class ImageEffect(NamedTuple):
    """The pooled accuracies with the fewest and the most images, and their difference.

    `difference` is that within subjects, NaN if the two share none; for a single subject it is
    `raw`, whose n is 0.
    """

    fewest: Row
    most: Row
    raw: AccuracyDifference
    difference: AccuracyDifference


def image_difference(analysis: Analysis) -> ImageEffect | None:
    """Compare the fewest with the most images over the pooled cells.

    Numbers of images with fewer than `MIN_PROBLEMS` problems do not count; None for fewer than
    two others.
    """
    results = analysis.results
    every = analysis.list_rows("accuracy-by-images", model="", rules=results.main_rules)
    pooled = [row for row in every if row["n"] >= MIN_PROBLEMS]
    if len(pooled) < 2:
        return None
    fewest, most = pooled[0], pooled[-1]
    ends = [
        Estimate(row["estimate"], row["low"], row["high"], row["n"], row["n"])
        for row in (fewest, most)
    ]
    raw = independent_difference(ends[1], ends[0])
    items = pool_items(analysis, ["rules"]).filter(
        pl.col("rules") == results.main_rules,
        pl.col("value").is_in([fewest["value"], most["value"]]),
    )
    strata = [results.answers[item].subject for item in items["id"]]
    if len(set(strata)) < 2:
        return ImageEffect(fewest, most, raw, raw)
    difference = adjusted_difference(
        items["verdict"].to_numpy(), (items["value"] == most["value"]).to_list(), strata,
        items["cluster"].to_list(), analysis.confidence,
    )  # fmt: skip
    return ImageEffect(fewest, most, raw, difference)


def judge_difference(analysis: Analysis) -> tuple[AccuracyDifference, int] | None:
    """Return GPTScore minus the main scorer on the same responses, and the number of
    disagreements."""
    for row in analysis.list_rows("judge-difference"):
        difference = AccuracyDifference(row["estimate"], row["low"], row["high"], row["n"])
        return difference, row["disagreements"]
    return None


class Unanswered(NamedTuple):
    """The number of `responses` of one scorer without an answer or without a judgement.

    Attributes:
        responses: Number of all responses.
        empty: Number of responses without an answer: refused, cut off, unparsed, never sent, ...
        unjudged: Number of responses that may have an answer, but whose judge failed or was not
            run. ACC counts both as wrong.
    """

    responses: int
    empty: int
    unjudged: int


def count_unanswered(analysis: Analysis, rules: str) -> Unanswered:
    """Count the responses of all cells without an answer or a judgement under a scorer."""
    rows = analysis.rows("outcomes").filter(rules=rules)
    failed, unjudged = (
        int(rows.filter(rows["value"].is_in(names))["count"].sum())
        for names in (FAILURES, NOT_JUDGED)
    )
    return Unanswered(int(rows["count"].sum()), failed - unjudged, unjudged)
