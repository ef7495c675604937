"""Occlusion saliency, summarised: confidence and occlusion impact a cell, settings in pairs."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import isnan, nan
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from omibench.errors import MissingInputError, UntrustedError
from omibench.params.cell import Cell
from omibench.params.cells import list_salient_cells
from omibench.params.stages.saliency import SaliencyParams
from omibench.results.load import Results
from omibench.schemas.saliency_row import VERSION, SaliencyOutcome, SaliencyRow
from omibench.schemas.tables import read_parquet
from omibench.stages.analyze.tables.accuracy import cell_names, round_number

if TYPE_CHECKING:
    import polars as pl

UNSCORED = tuple(outcome for outcome in get_args(SaliencyOutcome) if outcome != "scored")
TIE = 0.001
"""Log-probabilities (nats) that are nearer than this are equal (USNCO-V, figure 7)."""


class LargestEffect(NamedTuple):
    """The place with the largest effect on an option: picture (from 0), option, |S| in nats."""

    image: int
    option: str
    drop: float


class Salience(NamedTuple):
    """One cell: what its model makes of the places of the pictures, for the option it chooses.

    `logprobs` and `impacts` are in nats, one a problem: log P of the chosen option with nothing
    covered, and the occlusion impact r, the largest effect of any patch on any of its pictures.
    `supportive` is the share of places whose covering costs the option.
    """

    cell: Cell
    unscored: Mapping[str, int]
    """Problems that are not scored, by outcome."""
    reasons: Mapping[str, int]
    """The same problems, by reason."""
    declares: int
    """Problems whose response declares its option already before the letter that is scored."""
    mass: float
    """Mean probability of all options together, nothing covered."""
    logprobs: dict[str, float]
    impacts: dict[str, float]
    right: frozenset[str]
    """The problems whose chosen option is the right one."""
    pictures: int
    supportive: float
    strongest: tuple[str, int, str] | None
    """Problem, picture and option of the largest effect: the heat map to look at first."""
    simulated: bool
    hidden: int = 0
    """Places at which the chosen option has no log-probability: an endpoint lists no more than the
    likeliest tokens, and covering the place pushed the option off its list."""
    chosen_drops: Mapping[str, LargestEffect] = {}
    """Problem -> the largest effect of any place on the chosen option."""
    right_drops: Mapping[str, LargestEffect] = {}
    """Problem -> the largest effect of any place on a right option."""


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


def saliences(results: Results, params: SaliencyParams, folder: Path) -> list[Salience]:
    """Every cell that was looked into.

    Args:
        results: The study's results.
        params: The block `saliency` of the study.
        folder: That of the stage `saliency`.

    Raises:
        MissingInputError: The file of a cell is not there.
        UntrustedError: It was measured in another way than the study says.
    """
    table = []
    for cell in list_salient_cells(results.study.cells, params):
        file = folder / cell.model / f"{cell.setting}.parquet"
        if not file.is_file():
            raise MissingInputError(f"{file}: is missing; make it with `snakemake --cores all`")
        frame = read_parquet(file, SaliencyRow)
        check_measurement(frame, params, file)
        if frame.height:
            table.append(_salience(cell, frame))
    return table


def check_measurement(frame: pl.DataFrame, params: SaliencyParams, file: Path) -> None:
    """Check that the rows of a cell were measured as a study says.

    Args:
        frame: Rows of `SaliencyRow`.
        params: The study's.
        file: Where they stand, for the message.

    Raises:
        UntrustedError: They are of another version, reading, resolution, patch or stride.
    """
    expected = {
        "version": VERSION, "reading": params.reading, "max_pixels": params.max_pixels,
        "stride": params.stride, "side": params.patch,
    }  # fmt: skip
    scored = frame.filter(frame["outcome"] == "scored")
    for name, value in expected.items():
        rows = scored if name == "side" else frame
        for other in rows[name].unique().to_list():
            if other != value:
                raise UntrustedError(
                    f"{file}: was measured with {name} {other}, and the study says {value}; "
                    f"rebuild it with `snakemake --cores all --forcerun {shlex.quote(str(file))}`"
                )


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


def saliency_records(
    results: Results, params: SaliencyParams, rows: list[Salience]
) -> list[dict[str, Any]]:
    """The rows of saliency.csv; nats with 6 digits."""
    return [
        {
            **cell_names(results, s.cell),
            "reading": params.reading,
            "max_pixels": params.max_pixels,
            "problems": len(s.impacts),
            **{outcome: s.unscored.get(outcome, 0) for outcome in UNSCORED},
            "declares": s.declares,
            "mass": _round_known(s.mass),
            "pictures": s.pictures,
            "logprob": _round_known(mean_or_nan(s.logprobs)),
            "impact_mean": _round_known(mean_or_nan(s.impacts)),
            "impact_median": _round_known(median(s.impacts.values()) if s.impacts else nan),
            "impact_max": _round_known(max(s.impacts.values(), default=nan)),
            "supportive": _round_known(s.supportive),
            "simulated": s.simulated,
            "hidden": s.hidden,
        }
        for s in rows
    ]


def mean_or_nan(values: Mapping[str, float]) -> float:
    """The mean over problems; NaN without any."""
    return fmean(values.values()) if values else nan


def _round_known(value: float) -> float | None:
    return None if isnan(value) else round_number(value)


def _salience(cell: Cell, frame: pl.DataFrame) -> Salience:
    import polars as pl

    unscored = frame.filter(pl.col("outcome") != "scored")
    chosen = frame.filter(pl.col("outcome") == "scored", pl.col("chosen"))
    by_problem = chosen.group_by("id", maintain_order=True).agg(
        pl.col("logprob", "mass", "declares").first(), pl.col("drop").abs().max()
    )
    by_size = chosen.sort(pl.col("drop").abs(), descending=True, maintain_order=True)
    return Salience(
        cell,
        Counter(unscored["outcome"]),
        Counter(unscored["reason"]),
        int(by_problem["declares"].sum()),
        fmean(by_problem["mass"]) if by_problem.height else nan,
        dict(by_problem.select("id", "logprob").iter_rows()),
        dict(by_problem.select("id", "drop").iter_rows()),
        frozenset(chosen.filter("right")["id"]),
        chosen.select("id", "image").n_unique(),
        chosen.filter(pl.col("drop") > 0).height / chosen.height if chosen.height else nan,
        by_size.select("id", "image", "option").row(0) if by_size.height else None,
        bool(frame["simulated"].any()),
        _count_hidden(frame, chosen),
        _find_largest(chosen),
        _find_largest(frame.filter(pl.col("outcome") == "scored", pl.col("right"))),
    )


def _count_hidden(frame: pl.DataFrame, chosen: pl.DataFrame) -> int:
    """The places of the grids that have no row of the chosen option.

    A grid has all combinations of the places of a picture along its two sides.
    """
    import polars as pl

    grids = (
        frame.filter(pl.col("outcome") == "scored", pl.col("sha256") != "")
        .group_by("id", "image")
        .agg(places=pl.col("x").n_unique().cast(pl.Int64) * pl.col("y").n_unique().cast(pl.Int64))
    )
    return max(0, int(grids["places"].sum()) - chosen.height)


def _find_largest(rows: pl.DataFrame) -> dict[str, LargestEffect]:
    import polars as pl

    largest = (
        rows.sort(pl.col("drop").abs(), descending=True, maintain_order=True)
        .group_by("id", maintain_order=True)
        .agg(pl.col("image", "option").first(), pl.col("drop").first().abs())
    )
    return {id: LargestEffect(*effect) for id, *effect in largest.iter_rows()}
