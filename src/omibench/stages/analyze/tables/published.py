"""Printed results beside ours: which printed row is of a cell, and which values differ.

Model names are compared with our labels, the column `strategy` with our settings' names and
labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.params.cell import Cell
from omibench.results.counted_samples import read_aggregates
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.attributes import list_labels
from omibench.stages.analyze.tables.accuracy import TOTAL, Score
from omibench.stages.analyze.tables.printed import (
    ACC,
    AVERAGE,
    CONS5,
    GPTSCORE,
    PASS5,
    STRICT,
    Printed,
)
from omibench.stages.analyze.words import format_decimals

if TYPE_CHECKING:
    import polars as pl

_DEFAULT_STRATEGY = "cot"
"""Of a table that names none, and of whose paper we have no study (OMIBench, appendix B)."""
_SAMPLED = {PASS5: ("pass", 5), CONS5: ("consistency", 5)}
"""Metric -> metric and k of `aggregate`."""
_OPTIONAL_ENDING = re.compile(r"(?:instruct|preview|32k)$")
"""Ends of names that one table of a paper prints and another leaves out."""
_ROUNDING = 1e-9


class PrintedComparison(NamedTuple):
    """One printed cell beside what the responses give under `rules`, both in per cent."""

    cell: Cell
    subject: str
    metric: str
    rules: str
    printed: float
    measured: float
    n: int
    simulated: bool
    digits: int = 2

    @property
    def differs(self) -> bool | None:
        """Whether rounding to the printed decimals cannot explain the distance.

        None for what is simulated: no stand-in is meant to give printed values.
        """
        if self.simulated:
            return None
        return abs(self.measured - self.printed) > 0.5 * 10.0**-self.digits + _ROUNDING


class _Measurement(NamedTuple):
    """Our value, in [0, 1], over `n` problems."""

    value: float
    n: int
    rules: str
    simulated: bool


def printed_rows(results: Results, cell: Cell, printed: Sequence[Printed]) -> list[Printed]:
    """The printed rows of a cell, one of each table at most: same model name, same strategy.

    A strategy is the name or the label of a setting, or the part of the name before the first
    hyphen (`cot-warm`). Names of models that differ only in case, hyphens or an ending such as
    `-Instruct` are one where no name is the very same.
    """
    label, setting = results.label(cell.model), cell.setting
    names = {setting, setting.partition("-")[0], results.setting_label(setting)}
    rows_by_file: dict[str, Printed] = {}
    for normalise in (str, _plain):
        for row in printed:
            strategies = row.settings or (row.strategy or _DEFAULT_STRATEGY,)
            accepted_names = {setting} if row.settings else names
            if normalise(row.model) == normalise(label) and accepted_names.intersection(strategies):
                rows_by_file.setdefault(row.file, row)
    return list(rows_by_file.values())


def printed_row(results: Results, cell: Cell, printed: Sequence[Printed]) -> Printed | None:
    """The printed row of a cell that stands below it: that of the first table that has one."""
    return next(iter(printed_rows(results, cell, printed)), None)


def compare(
    results: Results,
    rows: Sequence[Score],
    printed: Sequence[Printed],
    aggregate: Path | None = None,
) -> list[PrintedComparison]:
    """Every printed cell for whose problems we hold all responses, beside what these give.

    All means as many as the printed dataset has, or the frozen one where that is not known.
    ACC is compared under the stored verdicts (`published`) where there are any, else under the
    main rules, with credit for parts where the table is `loose`; GPTScore with the judge's; pass@5
    and consistency@5 with those of the folder `aggregate`.
    """
    comparisons = []
    for cell in results.study.cells:
        cell_values = _CellValues(results, cell, [s for s in rows if s.cell == cell], aggregate)
        for row in printed_rows(results, cell, printed):
            for (part, metric), value in row.values.items():
                measurement = (
                    cell_values.average(row)
                    if part == AVERAGE
                    else cell_values.measure_part(row, part, metric)
                )
                if measurement:
                    stand_in = (
                        measurement.simulated
                        or results.has_synthetic_problems
                        or results.has_simulated_judge(measurement.rules)
                    )
                    comparisons.append(
                        PrintedComparison(
                            cell, part, metric, measurement.rules, value,
                            100 * measurement.value, measurement.n, stand_in, row.digits,
                        )
                    )  # fmt: skip
    return comparisons


def measure_average(
    results: Results, cell: Cell, rows: Sequence[Score], row: Printed
) -> float | None:
    """Our macro average beside the printed one: the mean over the parts, each weighing the same.

    Args:
        results: The study's results.
        cell: The model and the setting.
        rows: The study's scores.
        row: The printed row of the cell.

    Returns:
        Per cent; None where some problem of a part has no response.
    """
    values = _CellValues(results, cell, [score for score in rows if score.cell == cell], None)
    measurement = values.average(row)
    return 100 * measurement.value if measurement else None


class _CellValues:
    """The values of one cell, by part of the problems and metric."""

    def __init__(
        self, results: Results, cell: Cell, rows: Sequence[Score], aggregate: Path | None
    ) -> None:
        self._results, self._cell, self._aggregate = results, cell, aggregate
        self._scores = {(s.subject, s.rules): s for s in rows}
        self._rules = "published" if "published" in results.rules else results.main_rules

    def measure_part(self, row: Printed, part: str, metric: str) -> _Measurement | None:
        """Our value of a part; None where it is not over all of its problems."""
        rules = JUDGE_RULES if metric == GPTSCORE else self._rules
        loose = row.loose and metric == ACC
        is_scored = metric in (ACC, GPTSCORE) and not loose
        score = self._scores.get((part, rules)) if is_scored else None
        ids = _problems(self._results, part)
        if score:
            measurement = _Measurement(score.acc.mean, score.acc.n, score.rules, score.simulated)
        else:
            values = self._values(metric, rules, ids, loose)
            if not values:
                return None
            measurement = _Measurement(
                fmean(values), len(values), rules, self._results.simulated_cells[self._cell]
            )
        return measurement if measurement.n == row.sizes.get(part, len(ids)) else None

    def average(self, row: Printed) -> _Measurement | None:
        """The mean over the parts whose accuracy the row prints, each weighing the same."""
        parts = [self.measure_part(row, p, m) for p, m in row.values if m == ACC and p != AVERAGE]
        measurements = [part for part in parts if part]
        if not measurements or len(measurements) < len(parts):
            return None
        n = sum(part.n for part in measurements)
        return measurements[0]._replace(value=fmean(part.value for part in measurements), n=n)

    def _values(self, metric: str, rules: str, ids: set[str], loose: bool) -> list[float]:
        """A value a problem, the mean of its samples; `loose`: with credit for parts."""
        import polars as pl

        if metric in _SAMPLED:
            frame = read_aggregates(self._cell, self._aggregate) if self._aggregate else None
            if frame is None:
                return []
            name, k = _SAMPLED[metric]
            return _within(frame.filter(rules=rules, metric=name, k=k), ids)["value"].to_list()
        frame = _within(self._results.select_verdicts(rules, self._cell), ids)
        verdict = pl.col("verdict")
        all_parts = pl.coalesce("strict", (verdict >= 1).cast(pl.Float64))
        counted = all_parts if metric == STRICT else verdict
        if loose:
            counted = pl.coalesce("credit", verdict)
        return frame.group_by("id").agg(counted.mean().alias("value"))["value"].to_list()


def comparison_records(results: Results, rows: Sequence[PrintedComparison]) -> list[dict[str, Any]]:
    """The rows of differences.csv, in percentage points as printed."""
    return [
        {
            "model": c.cell.model,
            "label": results.label(c.cell.model),
            "setting": c.cell.setting,
            "subject": c.subject,
            "metric": c.metric,
            "rules": c.rules,
            "printed": c.printed,
            "ours": float(format_decimals(c.measured, 2)),
            "difference": float(format_decimals(c.measured - c.printed, 2)),
            "n": c.n,
            "differs": c.differs,
            "simulated": c.simulated,
        }
        for c in rows
    ]


def _problems(results: Results, part: str) -> set[str]:
    """The problems of a part: of all, of a subject, of a subset, or of a category.

    The parts `real` and `clean` are the problems that have both pictures and show that one.
    """
    return {
        id
        for id, answer in results.answers.items()
        if part in (TOTAL, answer.subject, *list_labels(answer.attributes.get("exam")))
        or part in list_labels(answer.attributes.get("pair"))
        or part in [name.casefold() for name in list_labels(answer.attributes.get("category"))]
    }


def _within(frame: pl.DataFrame, ids: set[str]) -> pl.DataFrame:
    import polars as pl

    return frame.filter(pl.col("id").is_in(list(ids)))


def _plain(name: str) -> str:
    return _OPTIONAL_ENDING.sub("", re.sub(r"[\W_]", "", name.casefold()))
