"""Occlusion saliency: confidence and impact of each cell, and of two settings of a model."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import floor, inf, nan
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple, get_args

import numpy as np
import polars as pl

from omibench.errors import MissingInputError, UntrustedError
from omibench.params.cells import list_salient_cells
from omibench.params.setting import Cell
from omibench.params.stages.saliency import SaliencyParams
from omibench.results.attributes import NOT_STATED, list_values
from omibench.results.load import Results
from omibench.results.statistics.intervals import clustered_mean, clustered_wilson
from omibench.schemas.tables import (
    SALIENCY_VERSION,
    SaliencyOutcome,
    SaliencyRow,
    map_file,
    read_parquet,
)
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import frame_rows, result, write_estimate

REACH = 1.5
"""The reach of a whisker beyond its box, in interquartile ranges (Tukey 1977, section 2C)."""


class BoxSummary(NamedTuple):
    """The quartiles of some values and the most extreme values that are not outliers."""

    median: float
    q1: float
    q3: float
    whisker_low: float
    whisker_high: float


def summarise_box(values: Sequence[float]) -> BoxSummary:
    """Summarise values as in a box plot.

    Args:
        values: One or more numbers.

    Returns:
        The quartiles by linear interpolation between order statistics, and as whiskers the smallest
        and largest values within 1.5 interquartile ranges of the box.

    Raises:
        ValueError: `values` is empty.
    """
    if not len(values):
        raise ValueError("there are no values to summarise")
    array = np.asarray(values, dtype=float)
    q1, median, q3 = (float(quantile) for quantile in np.quantile(array, (0.25, 0.5, 0.75)))
    reach = REACH * (q3 - q1)
    inside = array[(array >= q1 - reach) & (array <= q3 + reach)]
    return BoxSummary(median, q1, q3, float(inside.min()), float(inside.max()))


# Occlusion saliency: confidence and impact of each cell, and of two settings of a model.
#
# USNCO-V, figure 7b to h: the log-probability (nats) of the chosen option, the gain of one setting
# over the other per problem, and the occlusion impact r (Methods, equation 7), by exam.

UNSCORED = tuple(outcome for outcome in get_args(SaliencyOutcome) if outcome != "scored")
TIE = 0.001
"""Log-probabilities (nats) closer than this count as equal (USNCO-V, figure 7)."""
PAIR = ("model", "setting", "baseline")
EXAM = "exam"
"""The attribute that distinguishes local and national problems in the paper."""
BIN_WIDTH = 0.1
"""The width of a histogram bar of gains, in nats."""
BINS = (-10, 20)
"""The number of bars between -1 and 2 nats; larger gains are in the open bars at the ends."""
Row = dict[str, Any]


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
    right: frozenset[str]
    """The problems whose chosen option is right."""
    pictures: int
    supportive: float
    simulated: bool
    hidden: int
    """The number of positions without a log-probability of the chosen option: an endpoint lists
    only the likeliest tokens, and the occlusion removed the option from its list."""
    chosen_drops: Mapping[str, LargestEffect]
    """The largest effect of any position on the chosen option, by problem, largest first: the first
    is the heat map to inspect first."""
    right_drops: Mapping[str, LargestEffect]
    """The largest effect of any position on a right option, by problem."""

    @property
    def impacts(self) -> dict[str, float]:
        """The occlusion impact r of each problem."""
        return {problem: effect.drop for problem, effect in self.chosen_drops.items()}


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
        "version": SALIENCY_VERSION, "reading": params.reading, "max_pixels": params.max_pixels,
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


def list_right(salience: Salience, baseline: Salience) -> list[str]:
    """Return the problems whose chosen option is right under both settings."""
    right = salience.right & baseline.right
    return [n for n in salience.logprobs if n in baseline.logprobs and n in right]


def measure_gains(salience: Salience, baseline: Salience, ids: Iterable[str]) -> list[float]:
    """Return log P of the chosen option minus that under the baseline, in nats, by problem."""
    return [salience.logprobs[n] - baseline.logprobs[n] for n in ids]


def list_cells(params: SaliencyParams, rows: Iterable[Salience]) -> list[Row]:
    """Summarise cells: counts, and means, medians and maxima in nats; NaN without scored problems.

    Args:
        params: Block `saliency` of the study.
        rows: The cells.
    """
    return [
        {
            **s.cell._asdict(), "metric": "impact",
            "estimate": _average(s.impacts), "n": len(s.impacts), "reading": params.reading,
            "max_pixels": params.max_pixels,
            **{outcome: s.unscored.get(outcome, 0) for outcome in UNSCORED},
            "declares": s.declares, "mass": s.mass, "pictures": s.pictures,
            "logprob": _average(s.logprobs),
            "impact_median": median(s.impacts.values()) if s.impacts else nan,
            "impact_max": max(s.impacts.values(), default=nan),
            "supportive": s.supportive, "simulated": s.simulated, "hidden": s.hidden,
        }
        for s in rows
    ]  # fmt: skip


def _average(values: Mapping[str, float]) -> float:
    return fmean(values.values()) if values else nan


def _salience(cell: Cell, frame: pl.DataFrame) -> Salience:
    unscored = frame.filter(pl.col("outcome") != "scored")
    chosen = frame.filter(pl.col("outcome") == "scored", pl.col("chosen"))
    by_problem = chosen.group_by("id", maintain_order=True).agg(
        pl.col("logprob", "mass", "declares").first()
    )
    return Salience(
        cell,
        Counter(unscored["outcome"]),
        Counter(unscored["reason"]),
        int(by_problem["declares"].sum()),
        fmean(by_problem["mass"]) if by_problem.height else nan,
        dict(by_problem.select("id", "logprob").iter_rows()),
        frozenset(chosen.filter("right")["id"]),
        chosen.select("id", "image").n_unique(),
        chosen.filter(pl.col("drop") > 0).height / chosen.height if chosen.height else nan,
        bool(frame["simulated"].any()),
        _count_hidden(frame, chosen),
        _find_largest(chosen),
        _find_largest(frame.filter(pl.col("outcome") == "scored", pl.col("right"))),
    )


def _count_hidden(frame: pl.DataFrame, chosen: pl.DataFrame) -> int:
    """Return the positions of the grids without a row for the chosen option.

    A grid has all combinations of the positions along the two sides of a picture.
    """
    grids = (
        frame.filter(pl.col("outcome") == "scored", pl.col("sha256") != "")
        .group_by("id", "image")
        .agg(places=pl.col("x").n_unique().cast(pl.Int64) * pl.col("y").n_unique().cast(pl.Int64))
    )
    return max(0, int(grids["places"].sum()) - chosen.height)


def _find_largest(rows: pl.DataFrame) -> dict[str, LargestEffect]:
    largest = (
        rows.sort(pl.col("drop").abs(), descending=True, maintain_order=True)
        .group_by("id", maintain_order=True)
        .agg(pl.col("image", "option").first(), pl.col("drop").first().abs())
    )
    return {id: LargestEffect(*effect) for id, *effect in largest.iter_rows()}


class _Pair(NamedTuple):
    """A setting and its baseline, on problems that are right under both."""

    salience: Salience
    baseline: Salience
    ids: Sequence[str]
    clusters: Sequence[str]
    confidence: float

    @property
    def names(self) -> Row:
        """The columns of both settings."""
        return {"setting": self.salience.cell.setting, "baseline": self.baseline.cell.setting}

    @property
    def gains(self) -> list[float]:
        """Log P of the chosen option minus that under the baseline, in nats, by problem."""
        return measure_gains(self.salience, self.baseline, self.ids)

    def average(self, values: Sequence[float], lowest: float = -inf, highest: float = inf) -> Row:
        """Return the mean of values by problem; without bounds if a single one leaves them open."""
        mean = clustered_mean(values, self.clusters, self.confidence, lowest, highest)
        return write_estimate([nan if abs(number) == inf else number for number in mean[:3]])

    def share(self, hits: Sequence[bool]) -> Row:
        """Return the share of problems that are hit."""
        shares = [float(hit) for hit in hits]
        return write_estimate(clustered_wilson(shares, self.clusters, self.confidence))


@result(
    "saliency",
    "Occlusion impact and confidence of every cell",
    source="USNCO-V, Methods, equation 7",
)
def tabulate_saliency(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the occlusion impact of each cell.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell: the metric `impact`, its mean over `n` problems in nats, with
        `impact_median` and `impact_max`; `logprob` of the chosen option; `mass` of all options;
        `supportive`, the share of positions whose occlusion lowers the option; the numbers of
        unscored problems by outcome, of `pictures`, of positions `hidden` by the endpoint, and of
        responses that declare their option before (`declares`). None without the stage.
    """
    rows = list_cells(analysis.study.saliency, analysis.saliences)
    return pl.DataFrame(rows, schema_overrides={"max_pixels": pl.Int64}) if rows else None


@result(
    "saliency-gains",
    "Confidence in the chosen option under two settings, over problems right under both",
    source="USNCO-V, figure 7b to d",
)
def tabulate_gains(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate log P of the chosen option, its gain, and how often each setting is more confident.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, setting, `baseline` setting, exam and metric: `logprob` and
        `logprob_baseline` (means, nats), `gain` (mean difference), its `gain_q1`, `gain_median` and
        `gain_q3`, and the shares `win`, `tie` (gains within 0.001 nats of zero) and `loss`. None if
        no model has saliency for two settings.
    """
    return _tabulate(analysis, _list_gains)


@result(
    "saliency-gain-histogram",
    "Gains of confidence per problem, in bars of 0.1 nats",
    source="USNCO-V, figure 7c",
)
def tabulate_gain_histogram(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the share of problems in each bar of the histogram of gains.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, setting, `baseline`, exam and non-empty bar: its share, its number of
        problems (`count`), and its bounds `bin_low` (included) and `bin_high` in nats, null at an
        open end. None if no model has saliency for two settings.
    """
    return _tabulate(analysis, _list_bars)


@result(
    "saliency-impact",
    "Occlusion impact under two settings, over problems right under both",
    source="USNCO-V, Methods, equation 7, and figure 7e",
)
def tabulate_impacts(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the boxes of the occlusion impact r, the largest effect over all positions.

    Args:
        analysis: The study's results.

    Returns:
        One row per model, setting, the other setting of the pair (`beside`), exam and metric, in
        nats: `mean`, `median`, `q1`, `q3`, `whisker_low` and `whisker_high` (the outermost impacts
        within 1.5 interquartile ranges of the box) and one `outlier` per problem beyond, with its
        `id`. None if no model has saliency for two settings.
    """
    return _tabulate(analysis, _list_boxes)


@result(
    "saliency-maps",
    "Heat maps of a problem that one setting gets right and the other wrong",
    source="USNCO-V, figure 7f to h",
)
def tabulate_maps(analysis: Analysis) -> pl.DataFrame | None:
    """Select the heat maps of one problem of each pair: wrong under the baseline, right otherwise.

    The problem is the one with the largest effect of any position on its right option under the
    setting that is right.

    Args:
        analysis: The study's results.

    Returns:
        Up to three rows per pair: the baseline's map of its chosen option (panel `f`) and of the
        right option (`g`), and the other setting's map of its chosen option (`h`), with `id`,
        `image` (from 0), `option`, `file` below the results folder, and the largest effect (metric
        `impact`, nats). None if no pair has such a problem.
    """
    return frame_rows([row for pair in _list_pairs(analysis) for row in _list_panels(*pair)])


def _list_pairs(analysis: Analysis) -> list[tuple[Salience, Salience]]:
    return pair_settings(analysis.saliences, analysis.study.analyze.baselines.settings)


def _tabulate(
    analysis: Analysis, list_rows: Callable[[_Pair], Iterator[Row]]
) -> pl.DataFrame | None:
    clusters = dict(analysis.items.select("id", "cluster").iter_rows())
    ids_by_exam: dict[str, set[str]] = {}
    if EXAM in analysis.items.columns:
        for id, exam in list_values(analysis.items, "id", EXAM).iter_rows():
            ids_by_exam.setdefault(exam, set()).add(id)
    rows: list[Row] = []
    for salience, baseline in _list_pairs(analysis):
        right = list_right(salience, baseline)
        for exam in ["", *sorted(ids_by_exam.keys() - {NOT_STATED})]:
            ids = [n for n in right if not exam or n in ids_by_exam[exam]]
            own = [clusters[n] for n in ids]
            part = {
                "model": salience.cell.model, "simulated": salience.simulated or baseline.simulated,
                "slice": EXAM if exam else "", "value": exam, "n": len(ids),
                "clusters": len(set(own)),
            }  # fmt: skip
            if ids:
                pair = _Pair(salience, baseline, ids, own, analysis.confidence)
                rows += [part | row for row in list_rows(pair)]
    return frame_rows(rows)


def _list_gains(pair: _Pair) -> Iterator[Row]:
    gains, box = pair.gains, summarise_box(pair.gains)
    first, second = ([cell.logprobs[n] for n in pair.ids] for cell in pair[:2])
    numbers = {
        "logprob": pair.average(first, highest=0.0),
        "logprob_baseline": pair.average(second, highest=0.0),
        "gain": pair.average(gains),
        **{f"gain_{name}": {"estimate": getattr(box, name)} for name in ("q1", "median", "q3")},
        "win": pair.share([gain > TIE for gain in gains]),
        "tie": pair.share([abs(gain) <= TIE for gain in gains]),
        "loss": pair.share([gain < -TIE for gain in gains]),
    }
    for metric, found in numbers.items():
        yield pair.names | {"metric": metric} | found


def _list_bars(pair: _Pair) -> Iterator[Row]:
    first, last = BINS
    # 0.3 / 0.1 is slightly less than 3.
    places = [max(first - 1, min(last, floor(gain / BIN_WIDTH + 1e-9))) for gain in pair.gains]
    for place in sorted(set(places)):
        yield pair.names | {
            "metric": "share", "count": places.count(place),
            "bin_low": None if place < first else round(place * BIN_WIDTH, 6),
            "bin_high": None if place == last else round((place + 1) * BIN_WIDTH, 6),
        } | pair.share([other == place for other in places])  # fmt: skip


def _list_boxes(pair: _Pair) -> Iterator[Row]:
    for cell, other in permutations(pair[:2]):
        names = {"setting": cell.cell.setting, "beside": other.cell.setting, "id": ""}
        impacts = [cell.impacts[n] for n in pair.ids]
        yield names | {"metric": "mean"} | pair.average(impacts, lowest=0.0)
        box = summarise_box(impacts)
        for metric in BoxSummary._fields:
            yield names | {"metric": metric, "estimate": getattr(box, metric)}
        for n, impact in zip(pair.ids, impacts, strict=True):
            if not box.whisker_low <= impact <= box.whisker_high:
                yield names | {"metric": "outlier", "estimate": impact, "id": n}


def _list_panels(salience: Salience, baseline: Salience) -> Iterator[Row]:
    impacts, wrong = salience.impacts, baseline.impacts.keys() - baseline.right
    mended = [n for n in impacts if n in salience.right & wrong]
    if not mended:
        return
    problem = max(mended, key=lambda n: (impacts[n], n))
    panels = [("f", baseline, baseline.chosen_drops), ("g", baseline, baseline.right_drops),
              ("h", salience, salience.chosen_drops)]  # fmt: skip
    for panel, cell, effects in panels:
        if problem not in effects:
            continue
        image, option, drop = effects[problem]
        model, setting = cell.cell
        file = map_file(Path("saliency") / model / setting, problem, image, option)
        yield {
            "model": model, "setting": setting, "metric": "impact", "estimate": drop, "n": 1,
            "simulated": cell.simulated, "baseline": baseline.cell.setting, "panel": panel,
            "id": problem, "image": image, "option": option, "file": file.as_posix(),
        }  # fmt: skip
