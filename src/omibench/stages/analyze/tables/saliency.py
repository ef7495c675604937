"""Summaries of occlusion saliency: confidence and impact per cell and per pair of settings."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
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
from omibench.stages.analyze.pivots import cell_names, round_number

if TYPE_CHECKING:
    import polars as pl

UNSCORED = tuple(outcome for outcome in get_args(SaliencyOutcome) if outcome != "scored")
TIE = 0.001
"""Log-probabilities (nats) closer than this count as equal (USNCO-V, figure 7)."""


class LargestEffect(NamedTuple):
    """The position with the largest effect on an option: picture (from 0), option, |S| in nats."""

    image: int
    option: str
    drop: float


class Salience(NamedTuple):
    """One cell: the effect of positions in pictures on the chosen option.

    `logprobs` and `impacts` are in nats, one per problem: log P of the chosen option without
    occlusion, and the occlusion impact r, the largest effect of any patch on any of its pictures.
    `supportive` is the share of positions whose occlusion lowers the option.
    """

    cell: Cell
    unscored: Mapping[str, int]
    """The number of unscored problems by outcome."""
    reasons: Mapping[str, int]
    """The number of unscored problems by reason."""
    declares: int
    """The number of problems whose response states its option before the scored letter."""
    mass: float
    """The mean total probability of all options without occlusion."""
    logprobs: dict[str, float]
    impacts: dict[str, float]
    right: frozenset[str]
    """The problems whose chosen option is right."""
    pictures: int
    supportive: float
    strongest: tuple[str, int, str] | None
    """Problem, picture and option of the largest effect: the heat map to inspect first."""
    simulated: bool
    hidden: int = 0
    """The number of positions without a log-probability of the chosen option: an endpoint lists
    only the likeliest tokens, and the occlusion removed the option from its list."""
    chosen_drops: Mapping[str, LargestEffect] = {}
    """The largest effect of any position on the chosen option, by problem."""
    right_drops: Mapping[str, LargestEffect] = {}
    """The largest effect of any position on a right option, by problem."""


class SaliencyComparison(NamedTuple):
    """Two settings of one model: their confidence, and their dependence on the pictures.

    As in USNCO-V's figure 7b to e, over the problems whose chosen option is right under both.
    """

    model: str
    later_setting: str
    earlier_setting: str
    answered: int
    """The number of problems with a chosen option under both."""
    problems: int
    """The number of those that are right under both; if zero, the means are NaN."""
    logprobs: tuple[float, float]
    """The mean of log P of the option under `later_setting` and under `earlier_setting`, in
    nats."""
    impacts: tuple[float, float]
    """The mean occlusion impact under each, in nats."""
    wins: int
    """The number of problems in which `later_setting` is more confident by more than `TIE`."""
    ties: int
    losses: int


def saliences(results: Results, params: SaliencyParams, folder: Path) -> list[Salience]:
    """Return every cell with saliency results.

    Args:
        results: The study's results.
        params: Block `saliency` of the study.
        folder: Folder of the stage `saliency`.

    Raises:
        MissingInputError: The file of a cell is missing.
        UntrustedError: The measurement does not match the parameters of the study.
    """
    table = []
    for cell in list_salient_cells(results.study.cells, params):
        file = folder / cell.model / f"{cell.setting}.parquet"
        if not file.is_file():
            raise MissingInputError(f"{file}: does not exist; make it with `snakemake --cores all`")
        frame = read_parquet(file, SaliencyRow)
        check_measurement(frame, params, file)
        if frame.height:
            table.append(_salience(cell, frame))
    return table


def check_measurement(frame: pl.DataFrame, params: SaliencyParams, file: Path) -> None:
    """Check that the rows of a cell were measured with the study's parameters.

    Args:
        frame: Rows of `SaliencyRow`.
        params: Parameters of the study.
        file: Their file, for the message.

    Raises:
        UntrustedError: They have another version, reading, resolution, patch or stride.
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
                    f"{file}: was measured with {name} {other}, but the study has {value}; "
                    f"rebuild it with `snakemake --cores all --forcerun {shlex.quote(str(file))}`"
                )


def pair_settings(
    rows: Sequence[Salience], baselines: Mapping[str, str]
) -> list[tuple[Salience, Salience]]:
    """Return the settings of each model with the settings that they are compared with.

    Args:
        rows: Cells, in the order of the study.
        baselines: The study's `analyze.baselines.settings`.

    Returns:
        The declared pairs; without any, each setting with every earlier one.
    """
    pairs = [(a, b) for a, b in permutations(rows, 2) if a.cell.model == b.cell.model]
    declared = [(a, b) for a, b in pairs if baselines.get(a.cell.setting) == b.cell.setting]
    earlier = ((a, b) for b, a in combinations(rows, 2) if a.cell.model == b.cell.model)
    return declared or list(earlier)


def compare_settings(
    pairs: Iterable[tuple[Salience, Salience]],
) -> Iterator[SaliencyComparison]:
    """Compare pairs of settings (`pair_settings`) that answered the same problems."""
    for later, earlier in pairs:
        shared_problems = [n for n in later.logprobs if n in earlier.logprobs]
        if shared_problems:
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
    """Return the rows of saliency.csv; nats with 6 digits."""
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
    """Return the mean over problems; NaN without any."""
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
    """Return the positions of the grids without a row for the chosen option.

    A grid has all combinations of the positions along the two sides of a picture.
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
