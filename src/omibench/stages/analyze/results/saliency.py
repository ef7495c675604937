"""Confidence and occlusion impact under two settings, over problems right under both.

USNCO-V, figure 7b to h: the log-probability (nats) of the chosen option, the gain of one setting
over the other per problem, and the occlusion impact r (Methods, equation 7), by exam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import floor, inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.results.attributes import NOT_STATED, list_values
from omibench.schemas.saliency_row import map_file
from omibench.stages.analyze.results.boxes import BoxSummary, summarise_box
from omibench.stages.analyze.results.result import result
from omibench.stages.analyze.tables.saliency import TIE, Salience, pair_settings
from omibench.statistics.intervals import clustered_mean, clustered_wilson

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

PAIR = ("model", "setting", "baseline")
EXAM = "exam"
"""The attribute that distinguishes local and national problems in the paper."""
BIN_WIDTH = 0.1
"""The width of a histogram bar of gains, in nats."""
BINS = (-10, 20)
"""The number of bars between -1 and 2 nats; larger gains are in the open bars at the ends."""
Row = dict[str, Any]
ListRows = Callable[[Salience, Salience, Sequence[str], Sequence[str], float], Iterator[Row]]
"""Rows of a setting and its baseline on some problems, with clusters and a confidence level."""


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
    import polars as pl

    rows = [row for pair in _list_pairs(analysis) for row in _list_panels(*pair)]
    return pl.DataFrame(rows, infer_schema_length=None) if rows else None


def _list_pairs(analysis: Analysis) -> list[tuple[Salience, Salience]]:
    return pair_settings(analysis.saliences, analysis.study.analyze.baselines.settings)


def _tabulate(analysis: Analysis, list_rows: ListRows) -> pl.DataFrame | None:
    import polars as pl

    clusters = dict(analysis.items.select("id", "cluster").iter_rows())
    ids_by_exam: dict[str, set[str]] = {}
    if EXAM in analysis.items.columns:
        for id, exam in list_values(analysis.items, "id", EXAM).iter_rows():
            ids_by_exam.setdefault(exam, set()).add(id)
    rows: list[Row] = []
    for salience, baseline in _list_pairs(analysis):
        right = [
            n
            for n in salience.logprobs
            if n in baseline.logprobs and n in salience.right & baseline.right
        ]
        names = {
            "model": salience.cell.model,
            "simulated": salience.simulated or baseline.simulated,
        }
        for exam in ["", *sorted(ids_by_exam.keys() - {NOT_STATED})]:
            ids = [n for n in right if not exam or n in ids_by_exam[exam]]
            part = names | {"slice": EXAM if exam else "", "value": exam, "n": len(ids)}
            part["clusters"] = len({clusters[n] for n in ids})
            if ids:
                groups = [clusters[n] for n in ids]
                for row in list_rows(salience, baseline, ids, groups, analysis.confidence):
                    rows.append(part | row)
    return pl.DataFrame(rows, infer_schema_length=None) if rows else None


def _list_gains(
    salience: Salience,
    baseline: Salience,
    ids: Sequence[str],
    groups: Sequence[str],
    confidence: float,
) -> Iterator[Row]:
    pair = {"setting": salience.cell.setting, "baseline": baseline.cell.setting}
    gains = _measure_gains(salience, baseline, ids)
    for metric, values, highest in (
        ("logprob", [salience.logprobs[n] for n in ids], 0.0),
        ("logprob_baseline", [baseline.logprobs[n] for n in ids], 0.0),
        ("gain", gains, inf),
    ):
        mean = clustered_mean(values, groups, confidence, -inf, highest)
        yield pair | {"metric": metric} | _bound(mean.mean, mean.lo, mean.hi)
    box = summarise_box(gains)
    for metric, value in (("q1", box.q1), ("median", box.median), ("q3", box.q3)):
        yield pair | {"metric": f"gain_{metric}", "estimate": value}
    for metric, hits in (
        ("win", [gain > TIE for gain in gains]),
        ("tie", [abs(gain) <= TIE for gain in gains]),
        ("loss", [gain < -TIE for gain in gains]),
    ):
        share = clustered_wilson([float(hit) for hit in hits], groups, confidence)
        yield pair | {"metric": metric} | _bound(share.mean, share.lo, share.hi)


def _list_bars(
    salience: Salience,
    baseline: Salience,
    ids: Sequence[str],
    groups: Sequence[str],
    confidence: float,
) -> Iterator[Row]:
    first, last = BINS
    gains = _measure_gains(salience, baseline, ids)
    # 0.3 / 0.1 is slightly less than 3.
    places = [max(first - 1, min(last, floor(gain / BIN_WIDTH + 1e-9))) for gain in gains]
    for place in sorted(set(places)):
        hits = [float(other == place) for other in places]
        share = clustered_wilson(hits, groups, confidence)
        yield {
            "setting": salience.cell.setting, "baseline": baseline.cell.setting,
            "metric": "share", "count": int(sum(hits)),
            "bin_low": None if place < first else round(place * BIN_WIDTH, 6),
            "bin_high": None if place == last else round((place + 1) * BIN_WIDTH, 6),
        } | _bound(share.mean, share.lo, share.hi)  # fmt: skip


def _list_boxes(
    salience: Salience,
    baseline: Salience,
    ids: Sequence[str],
    groups: Sequence[str],
    confidence: float,
) -> Iterator[Row]:
    for cell, other in ((salience, baseline), (baseline, salience)):
        pair = {"setting": cell.cell.setting, "beside": other.cell.setting, "id": ""}
        impacts = [cell.impacts[n] for n in ids]
        mean = clustered_mean(impacts, groups, confidence, 0.0, inf)
        yield pair | {"metric": "mean"} | _bound(mean.mean, mean.lo, mean.hi)
        box = summarise_box(impacts)
        for metric in BoxSummary._fields:
            yield pair | {"metric": metric, "estimate": getattr(box, metric)}
        for n, impact in zip(ids, impacts, strict=True):
            if not box.whisker_low <= impact <= box.whisker_high:
                yield pair | {"metric": "outlier", "estimate": impact, "id": n}


def _list_panels(salience: Salience, baseline: Salience) -> Iterator[Row]:
    mended = [n for n in salience.impacts if n in salience.right and _is_wrong(baseline, n)]
    problem = max(mended, key=lambda n: (salience.impacts[n], n), default=None)
    if problem is None:
        return
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


def _is_wrong(salience: Salience, problem: str) -> bool:
    return problem in salience.impacts and problem not in salience.right


def _measure_gains(salience: Salience, baseline: Salience, ids: Sequence[str]) -> list[float]:
    return [salience.logprobs[n] - baseline.logprobs[n] for n in ids]


def _bound(value: float, low: float, high: float) -> Row:
    """Return an estimate with its bounds; none if a single value leaves them undefined."""
    bounds = [None if abs(bound) == inf else bound for bound in (low, high)]
    return {"estimate": value, "low": bounds[0], "high": bounds[1]}
