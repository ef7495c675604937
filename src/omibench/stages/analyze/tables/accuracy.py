"""Typed tables of accuracy by subject, by number of images, and of failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.params.cell import Cell
from omibench.results.attributes import MOST_IMAGES
from omibench.results.grouped import average_samples
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.tables.calibration import correct_accuracy
from omibench.stages.analyze.tables.groups import (
    CELL,
    Failures,
    index_estimates,
    score_groups,
)
from omibench.statistics.agreement import Corrected
from omibench.statistics.intervals import Estimate

if TYPE_CHECKING:
    import polars as pl

TOTAL = "total"
ALL_CELLS = Cell("", "")
_BIN = "images"


class Score(NamedTuple):
    """The accuracy of one cell under one scorer in one subject, or overall (`total`).

    `acc.n` counts problems, `responses` their samples. `failures` is None if it is unknown which
    responses have no answer.
    """

    cell: Cell
    rules: str
    subject: str
    acc: Estimate
    responses: int
    failures: Failures | None
    simulated: bool
    credit: float | None = None
    """The mean share of right parts; None if the scorer gives no partial credit."""
    ratio: float | None = None
    """The mean of OMIBench's eq. 6, with eq. 5 as printed; None if the scorer gives no ratio."""
    corrected: Corrected | None = None
    """The judge's total corrected for its errors; None without a certificate."""
    strict: Estimate | None = None
    """MathReal's strict accuracy; None if the accuracy itself requires all parts."""


class ImageScore(NamedTuple):
    """The accuracy on the problems with `images` images, of one cell or pooled."""

    cell: Cell
    rules: str
    images: str
    acc: Estimate
    simulated: bool


@dataclass(frozen=True)
class FailureCount:
    """The number of a cell's n verdicts with one outcome without an answer."""

    cell: Cell
    rules: str
    outcome: str
    count: int
    n: int
    simulated: bool


def scores(results: Results) -> list[Score]:
    """Return every cell under every scorer: the total, then subjects in alphabetical order.

    The total is the micro-average over problems (OMIBench, section 4.1).
    """
    confidence, verdicts = results.study.analyze.confidence, results.counting_verdicts
    groups = {
        (*place, TOTAL): score for place, score in score_groups(verdicts, None, confidence).items()
    } | score_groups(verdicts, "subject", confidence)
    names = [TOTAL, *subjects(results)]
    table = []
    for cell, rules in _list_cells(results):
        simulated = results.simulated_cells[cell]
        for subject in names:
            if part := groups.get((*cell, rules, subject)):
                fixed = rules == JUDGE_RULES and subject == TOTAL
                table.append(
                    Score(cell, rules, subject, part.acc, part.responses, part.failures, simulated,
                          part.credit, part.ratio,
                          correct_accuracy(results, cell) if fixed else None, part.strict)
                )  # fmt: skip
    return table


def image_scores(results: Results) -> list[ImageScore]:
    """Return accuracy by number of images, for every cell and pooled.

    Settings that withhold part of an item would confound the effect of the number of images, so the
    pooled row (`ALL_CELLS`) covers only `results.pooled_settings`.
    """
    import polars as pl

    confidence, verdicts = results.study.analyze.confidence, results.counting_verdicts
    pooled = verdicts.filter(pl.col("setting").is_in(results.pooled_settings))
    cells, together = [*CELL, _BIN], ["rules", _BIN]
    groups = index_estimates(_average_bins(verdicts, cells), cells, confidence) | {
        (*ALL_CELLS, *place): acc
        for place, acc in index_estimates(
            _average_bins(pooled, together), together, confidence
        ).items()
    }
    everything = [(ALL_CELLS, rules) for rules in results.rules]
    return [
        ImageScore(
            cell,
            rules,
            images,
            groups[*cell, rules, count],
            results.rests_on_simulation(rules)
            if cell == ALL_CELLS
            else results.simulated_cells[cell],
        )
        for cell, rules in [*_list_cells(results), *everything]
        for count, images in _name_bins(results).items()
        if (*cell, rules, count) in groups
    ]


def _average_bins(verdicts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    bins = pl.col("n_images").clip(upper_bound=MOST_IMAGES).alias(_BIN)
    names = [name for name in by if name != _BIN]
    return average_samples(verdicts.select(*names, "id", "cluster", "verdict", bins), by)


def pool_cells(results: Results, rules: str) -> pl.DataFrame:
    """Select the verdicts of a scorer under the pooled settings."""
    import polars as pl

    settings = results.pooled_settings
    return results.select_verdicts(rules).filter(pl.col("setting").is_in(settings))


def failure_counts(results: Results) -> list[FailureCount]:
    """Return the count of every outcome without an answer, for every cell and scorer."""
    counts = {
        tuple(place): count
        for *place, count in results.counting_verdicts.group_by(*CELL, "outcome").len().iter_rows()
    }
    totals: Counter[tuple[str, ...]] = Counter()
    for (model, setting, rules, _), count in counts.items():
        totals[model, setting, rules] += count
    return [
        FailureCount(
            cell,
            rules,
            name,
            counts[*cell, rules, name],
            totals[*cell, rules],
            results.simulated_cells[cell],
        )
        for cell, rules in _list_cells(results)
        for name in FAILURES
        if (*cell, rules, name) in counts
    ]


def subjects(results: Results) -> list[str]:
    """Return the subjects of the dataset, in alphabetical order."""
    return sorted({a.subject for a in results.answers.values()})


def image_bins(results: Results) -> list[str]:
    """Return the non-empty bins of image counts, fewest images first: "2", "3", ..., "6+"."""
    return list(_name_bins(results).values())


def _name_bins(results: Results) -> dict[int, str]:
    """Return the bin of each number of images, fewest images first."""
    counts = {min(a.n_images, MOST_IMAGES) for a in results.answers.values()}
    return {n: f"{MOST_IMAGES}+" if n == MOST_IMAGES else str(n) for n in sorted(counts)}


def in_image_bin(rows: pl.DataFrame, images: str) -> pl.DataFrame:
    """Return the verdicts on problems in a bin of image counts."""
    import polars as pl

    return rows.filter(pl.col("n_images").clip(upper_bound=MOST_IMAGES) == int(images.rstrip("+")))


def score_records(results: Results, rows: Iterable[Score]) -> list[dict[str, Any]]:
    """Return the rows of main.csv; accuracies are shares in [0, 1] rounded to 6 digits."""
    return [
        {
            **cell_names(results, s.cell),
            "rules": s.rules,
            "subject": s.subject,
            **_estimate(s.acc),
            "n_eff": round_number(s.acc.n_eff),
            "responses": s.responses,
            "failures": s.failures.failed if s.failures else None,
            "acc_failures_wrong": round_number(s.failures.as_wrong) if s.failures else None,
            "acc_failures_right": round_number(s.failures.as_right) if s.failures else None,
            "credit": round_number(s.credit) if s.credit is not None else None,
            "corrected": round_number(s.corrected.value) if s.corrected else None,
            "corrected_lo": round_number(s.corrected.lo) if s.corrected else None,
            "corrected_hi": round_number(s.corrected.hi) if s.corrected else None,
            "calibrated": results.certificate is not None if s.rules == JUDGE_RULES else None,
            "simulated": s.simulated,
            "judge_simulated": results.has_simulated_judge(s.rules),
            "ratio": None if s.ratio is None else round_number(s.ratio),
            "strict": round_number(s.strict.mean) if s.strict else None,
            "strict_lo": round_number(s.strict.lo) if s.strict else None,
            "strict_hi": round_number(s.strict.hi) if s.strict else None,
        }
        for s in rows
    ]


def image_records(results: Results, rows: Iterable[ImageScore]) -> list[dict[str, Any]]:
    """Return the rows of by_images.csv; `model` and `setting` are empty for pooled cells."""
    return [
        {
            **cell_names(results, s.cell),
            "rules": s.rules,
            "images": s.images,
            **_estimate(s.acc),
            "simulated": s.simulated,
        }
        for s in rows
    ]


def failure_records(results: Results, rows: Iterable[FailureCount]) -> list[dict[str, Any]]:
    """Return the rows of failures.csv."""
    return [
        {
            **cell_names(results, f.cell),
            "rules": f.rules,
            "outcome": f.outcome,
            "count": f.count,
            "n": f.n,
            "share": round_number(f.count / f.n),
            "simulated": f.simulated,
        }
        for f in rows
    ]


def round_number(value: float) -> float | None:
    """Round to six digits as in files, so that equal results give equal files; NaN becomes None."""
    return None if isnan(value) else round(value, 6)


def _list_cells(results: Results) -> list[tuple[Cell, str]]:
    """Return every cell with every scorer and single judge, in the order of the tables."""
    scorers = [*results.rules, *results.votes]
    return [(cell, rules) for cell in results.cells for rules in scorers]


def cell_names(results: Results, cell: Cell) -> dict[str, Any]:
    """Return the columns that identify a cell in the files."""
    if cell == ALL_CELLS:
        return {"model": "", "label": "all", "group": "", "setting": ""}
    return {
        "model": cell.model,
        "label": results.label(cell.model),
        "group": results.study.models[cell.model].group or "",
        "setting": cell.setting,
    }


def _estimate(acc: Estimate) -> dict[str, Any]:
    return {
        "n": acc.n,
        "acc": round_number(acc.mean),
        "lo": round_number(acc.lo),
        "hi": round_number(acc.hi),
    }
