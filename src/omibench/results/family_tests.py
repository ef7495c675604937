"""Tests of all pairs of a study's compared cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import NamedTuple

import polars as pl

from omibench.params.cell import Cell
from omibench.params.families import Family
from omibench.results.grouped import average_samples, compare_pairs
from omibench.statistics.multiplicity import RankRange, adjust_holm, find_rank_ranges
from omibench.statistics.paired import AccuracyDifference


class PairTest(NamedTuple):
    """One cell minus another over the items that both answered."""

    difference: AccuracyDifference
    """With the interval of this comparison alone."""
    p: float
    """Two-sided; NaN without a test."""
    adjusted: float
    """p adjusted by Holm over all pairs of the family."""
    detectable: float
    """The smallest true difference that would be detected; NaN if none would."""
    clusters: int
    """Number of clusters of the items that both answered."""


@dataclass(frozen=True)
class FamilyTests:
    """The tests of all pairs of a family, at one family-wise error."""

    family: Family
    confidence: float
    pairs: dict[tuple[Cell, Cell], PairTest]
    """The pairs of cells that share an item, in the order of the family."""

    @property
    def alpha(self) -> float:
        """The family-wise error."""
        return 1 - self.confidence

    def compare(self, first: Cell, second: Cell) -> PairTest:
        """Return first minus second."""
        if (first, second) in self.pairs:
            return self.pairs[first, second]
        reverse = self.pairs.get((second, first), _UNTESTED)
        value, lo, hi, n = reverse.difference
        return reverse._replace(difference=AccuracyDifference(-value, -hi, -lo, n))

    def is_ahead(self, first: Cell, second: Cell) -> bool:
        """Whether the first cell's accuracy is significantly higher, by Holm over the family."""
        test = self.compare(first, second)
        return test.difference.value > 0 and test.adjusted < self.alpha

    @cached_property
    def ranks(self) -> dict[Cell, RankRange]:
        """The ranks that each cell can have by the tests."""
        cells = self.family.cells
        tests = [[self.compare(first, second) for second in cells] for first in cells]
        differences = [[test.difference.value for test in row] for row in tests]
        adjusted = [[test.adjusted for test in row] for row in tests]
        ranges = find_rank_ranges(differences, adjusted, self.alpha)
        return dict(zip(cells, ranges, strict=True))


_UNTESTED = PairTest(AccuracyDifference(nan, -1.0, 1.0, 0), nan, nan, nan, 0)


def compare_family(verdicts: pl.DataFrame, family: Family, confidence: float) -> FamilyTests:
    """Test all pairs of the cells of a family over the items that both answered.

    Args:
        verdicts: The counting verdicts of one scorer, with `model`, `setting`, `id`, `cluster` and
            `verdict`.
        family: The cells.
        confidence: 1 - the family-wise error, and the level of each pair's own interval.

    Raises:
        MissingExtraError: There are two cells or more and scipy is not installed.
    """
    frames = list(_compare_with_later(verdicts, family, confidence))
    if not frames:
        return FamilyTests(family, confidence, {})
    table = pl.concat(frames)
    adjusted = adjust_holm(table["p"].to_numpy())
    pairs = {
        (family.cells[row["place"]], family.cells[row["place_right"]]): PairTest(
            AccuracyDifference(row["estimate"], row["low"], row["high"], row["n"]),
            _number(row["p"]), float(p), _number(row["detectable"]), row["clusters"],
        )
        for row, p in zip(table.iter_rows(named=True), adjusted, strict=True)
    }  # fmt: skip
    return FamilyTests(family, confidence, pairs)


def _compare_with_later(
    verdicts: pl.DataFrame, family: Family, confidence: float
) -> Iterator[pl.DataFrame]:
    """Yield each cell with all after it as one table, so that memory grows only with the cells."""
    places = pl.DataFrame(
        [(*cell, place) for place, cell in enumerate(family.cells)],
        schema={"model": pl.String, "setting": pl.String, "place": pl.Int64},
        orient="row",
    )
    of_family = verdicts.join(places, on=["model", "setting"], maintain_order="left")
    values = average_samples(of_family, ["place"])
    for place in range(len(family.cells) - 1):
        first = values.filter(pl.col("place") == place)
        later = values.filter(pl.col("place") > place).select("id", "place", "verdict")
        pairs = first.join(later, on="id", maintain_order="right")
        if pairs.height:
            yield compare_pairs(
                pairs, ["place", "place_right"], confidence, ("verdict", "verdict_right"),
                family=family.pairs,
            )  # fmt: skip


def _number(value: float | None) -> float:
    return nan if value is None else value
