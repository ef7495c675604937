"""Occlusion saliency, summarised: confidence and occlusion impact a cell, settings in pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import nan
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.errors import MissingInputError
from omibench.params.cell import Cell
from omibench.results.load import Results
from omibench.schemas.saliency_row import SaliencyRow
from omibench.schemas.tables import read_parquet
from omibench.stages.analyze.tables.accuracy import cell_names, round_number

if TYPE_CHECKING:
    import polars as pl

TIE = 0.001
"""Log-probabilities (nats) that are nearer than this are equal (USNCO-V, figure 7)."""
COLUMNS = (
    "model", "label", "group", "setting", "problems", "pictures", "logprob", "impact_mean",
    "impact_median", "impact_max", "supportive", "simulated",
)  # fmt: skip


class Salience(NamedTuple):
    """One cell: what its model makes of the places of the pictures, for the option it chooses.

    `logprobs` and `impacts` are in nats, one a problem: log P of the chosen option with nothing
    covered, and the occlusion impact r, the largest effect of any patch on any of its pictures.
    `supportive` is the share of places whose covering costs the option.
    """

    cell: Cell
    logprobs: dict[str, float]
    impacts: dict[str, float]
    right: frozenset[str]
    """The problems whose chosen option is the right one."""
    pictures: int
    supportive: float
    strongest: tuple[str, int, str]
    """Problem, picture and option of the largest effect: the heat map to look at first."""
    simulated: bool


class SaliencyComparison(NamedTuple):
    """Two settings of one model: whose choices are surer, and hang more on the pictures.

    As in USNCO-V's figure 7b to e, over the problems whose chosen option is right under both.
    """

    model: str
    later_setting: str
    earlier_setting: str
    answered: int
    """Problems for which an option was chosen under both."""
    problems: int
    """Those of them that are right under both; without any, the means are NaN."""
    logprobs: tuple[float, float]
    """Mean of log P of the option under `later_setting` and under `earlier_setting`, in nats."""
    impacts: tuple[float, float]
    """Mean occlusion impact under each, in nats."""
    wins: int
    """Problems in which `later_setting` is surer by more than `TIE`."""
    ties: int
    losses: int


def saliences(results: Results, folder: Path) -> list[Salience]:
    """Every cell that was looked into; `folder` is that of the stage `saliency`."""
    table = []
    for cell in results.study.salient_cells:
        file = folder / cell.model / f"{cell.setting}.parquet"
        if not file.is_file():
            raise MissingInputError(f"{file}: is missing; make it with `snakemake --cores all`")
        frame = read_parquet(file, SaliencyRow).filter(chosen=True)
        if frame.height:
            table.append(_salience(cell, frame))
    return table


def compare_settings(rows: list[Salience]) -> Iterator[SaliencyComparison]:
    """Every pair of settings of one model, later against earlier."""
    for earlier, later in combinations(rows, 2):
        shared_problems = [n for n in later.logprobs if n in earlier.logprobs]
        if later.cell.model == earlier.cell.model and shared_problems:
            yield _compare_pair(later, earlier, shared_problems)


def _compare_pair(
    later: Salience, earlier: Salience, shared_problems: list[str]
) -> SaliencyComparison:
    right = [n for n in shared_problems if n in later.right & earlier.right]
    gains = [later.logprobs[n] - earlier.logprobs[n] for n in right]
    wins, losses = (sum(way * gain > TIE for gain in gains) for way in (1, -1))

    def means(first: dict[str, float], second: dict[str, float]) -> tuple[float, float]:
        if not right:
            return nan, nan
        return fmean(first[n] for n in right), fmean(second[n] for n in right)

    return SaliencyComparison(
        later.cell.model, later.cell.setting, earlier.cell.setting,
        len(shared_problems), len(right),
        means(later.logprobs, earlier.logprobs), means(later.impacts, earlier.impacts),
        wins, len(right) - wins - losses, losses,
    )  # fmt: skip


def saliency_records(results: Results, rows: list[Salience]) -> list[dict[str, Any]]:
    """The rows of saliency.csv; nats with 6 digits."""
    return [
        {
            **cell_names(results, s.cell),
            "problems": len(s.impacts),
            "pictures": s.pictures,
            "logprob": round_number(fmean(s.logprobs.values())),
            "impact_mean": round_number(fmean(s.impacts.values())),
            "impact_median": round_number(median(s.impacts.values())),
            "impact_max": round_number(max(s.impacts.values())),
            "supportive": round_number(s.supportive),
            "simulated": s.simulated,
        }
        for s in rows
    ]


def _salience(cell: Cell, frame: pl.DataFrame) -> Salience:
    import polars as pl

    by_problem = frame.group_by("id", maintain_order=True).agg(
        pl.col("logprob").first(), pl.col("drop").abs().max()
    )
    top = frame.sort(pl.col("drop").abs(), descending=True, maintain_order=True).row(0, named=True)
    return Salience(
        cell,
        dict(by_problem.select("id", "logprob").iter_rows()),
        dict(by_problem.select("id", "drop").iter_rows()),
        frozenset(frame.filter("right")["id"]),
        frame.select("id", "image").n_unique(),
        frame.filter(pl.col("drop") > 0).height / frame.height,
        (top["id"], top["image"], top["option"]),
        bool(frame["simulated"].any()),
    )
