"""Compare printed results with ours: match rows to cells, and find differing values.

Model names are compared with our labels, settings with our settings' names and labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import hypot
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from omibench.papers.layouts import AVERAGE
from omibench.papers.names import normalise_name
from omibench.papers.tables import PrintedCell
from omibench.params.cell import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.stages.analyze.tables.measured import (
    MeasuredQuantity,
    Measurement,
    PartMeans,
    measure,
)
from omibench.stages.analyze.tables.printed import GPTSCORE, Printed, name_metric, name_part
from omibench.stages.analyze.words import format_decimals

_DEFAULT_STRATEGY = "cot"
"""The setting of a table without settings from a paper without a study (OMIBench, appendix B)."""
_ROUNDING = 1e-9


class PrintedComparison(NamedTuple):
    """One printed value and our value from the responses under `rules`, both in per cent.

    `low` and `high` are our interval's.
    """

    cell: Cell
    subject: str
    metric: str
    rules: str
    printed: float
    measured: float
    n: int
    simulated: bool
    digits: int = 2
    low: float | None = None
    high: float | None = None
    clusters: int | None = None
    value: PrintedCell | None = None
    """The printed value with its source."""
    measured_metric: str = ""
    source: str = ""

    @property
    def differs(self) -> bool | None:
        """Whether rounding to the printed decimals cannot explain the difference.

        None for simulated models, which are not meant to reproduce printed values.
        """
        if self.simulated:
            return None
        return abs(self.measured - self.printed) > 0.5 * 10.0**-self.digits + _ROUNDING

    @property
    def inside(self) -> bool | None:
        """Whether the printed value lies in our interval; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low - _ROUNDING <= self.printed <= self.high + _ROUNDING


class _Pair(NamedTuple):
    """A printed value and our corresponding quantity."""

    cell: Cell
    row: Printed
    value: PrintedCell
    quantity: MeasuredQuantity


def printed_rows(results: Results, cell: Cell, printed: Sequence[Printed]) -> list[Printed]:
    """Return the printed rows of a cell: same model name, same setting.

    A setting matches by the table's layout, by a setting's name or label, or by the part of its
    name before the first hyphen (`cot-warm`). Model names that differ only in case, hyphens or an
    ending such as `-Instruct` match unless another name in the table is exactly equal.
    """
    label, setting = results.label(cell.model), cell.setting
    names = {setting, setting.partition("-")[0], results.setting_label(setting)}
    rows_by_file: dict[str, list[Printed]] = {}
    for normalise in (str, normalise_name):
        exact, model = dict(rows_by_file), normalise(label)
        for row in printed:
            if normalise(row.model) != model or row.file in exact:
                continue
            strategies = row.settings or (row.strategy or _DEFAULT_STRATEGY,)
            accepted_names = {setting} if row.settings else names
            if accepted_names.intersection(strategies):
                rows_by_file.setdefault(row.file, []).append(row)
    return [row for rows in rows_by_file.values() for row in rows]


def printed_row(results: Results, cell: Cell, printed: Sequence[Printed]) -> Printed | None:
    """Return the printed row for a cell: the first one over as many samples."""
    samples = results.study.settings[cell.setting].decoding.samples
    rows = printed_rows(results, cell, printed)
    return next((row for row in rows if row.k in (None, samples)), None)


def compare(
    results: Results, printed: Sequence[Printed], aggregate: Path | None = None
) -> list[PrintedComparison]:
    """Compare every printed value if we have all responses to its problems.

    The required number is that of the printed dataset, or of the frozen one if unknown. ACC is
    compared under the stored verdicts (`published`) if available, otherwise under the main scorer,
    with partial credit if the table prints loose accuracy; GPTScore is compared with the judge's;
    metrics of k samples with the stage `aggregate`.

    Args:
        results: The study's results.
        printed: Printed rows for its dataset.
        aggregate: Folder of the stage `aggregate`.
    """
    rows = [
        (cell, row) for cell in results.study.cells for row in printed_rows(results, cell, printed)
    ]
    pairs = [
        _Pair(cell, row, value, _make_quantity(results, cell, value))
        for cell, row in rows
        for value in row.cells
    ]
    parts = PartMeans(results, {(value.slice, value.value) for *_, value, _ in pairs})
    quantities = {pair.quantity for pair in pairs if pair.value.part != AVERAGE}
    measurements = measure(results, quantities, parts, aggregate)
    comparisons = []
    for pair in pairs:
        measurement = (
            _average(pair, measurements, parts)
            if pair.value.part == AVERAGE
            else _find_whole(pair, measurements, parts)
        )
        if measurement:
            comparisons.append(_compare(results, pair, measurement))
    return comparisons


def _make_quantity(results: Results, cell: Cell, value: PrintedCell) -> MeasuredQuantity:
    """Return our quantity for a printed value."""
    rules = "published" if "published" in results.rules else results.main_rules
    metric = value.metric_name
    if metric == GPTSCORE:
        rules = JUDGE_RULES
    elif value.k and "@" not in metric:
        metric = f"{results.study.settings[cell.setting].aggregate.how}@{value.k}"
    return MeasuredQuantity(cell, rules, value.slice, value.value, metric)


def _find_whole(
    pair: _Pair, measurements: Mapping[MeasuredQuantity, Measurement], parts: PartMeans
) -> Measurement | None:
    """Return our value; None if it does not cover all problems of the printed one."""
    measurement = measurements.get(pair.quantity)
    size = pair.value.n or parts.count(pair.value.slice, pair.value.value)
    return measurement if measurement and measurement.n == size else None


def _average(
    pair: _Pair, measurements: Mapping[MeasuredQuantity, Measurement], parts: PartMeans
) -> Measurement | None:
    """Return the unweighted mean over the parts whose values the row prints.

    Parts have different problems, so their errors are independent. The interval combines those of
    the parts (Zou and Donner 2008).
    """
    found = [
        _find_whole(pair._replace(value=part, quantity=quantity), measurements, parts)
        for part in pair.row.cells
        if part.part != AVERAGE and part.metric == pair.value.metric
        for quantity in [pair.quantity._replace(slice=part.slice, value=part.value)]
    ]
    whole = [part for part in found if part]
    if not whole or len(whole) < len(found):
        return None
    value = fmean(part.value for part in whole)
    below = hypot(*(part.value - part.low for part in whole)) / len(whole)
    above = hypot(*(part.high - part.value for part in whole)) / len(whole)
    n, clusters = sum(part.n for part in whole), sum(part.clusters for part in whole)
    return Measurement(value, max(0.0, value - below), min(1.0, value + above), n, clusters)


def _compare(results: Results, pair: _Pair, measurement: Measurement) -> PrintedComparison:
    rules = pair.quantity.rules
    stand_in = (
        results.simulated_cells[pair.cell]
        or results.has_synthetic_problems
        or results.has_simulated_judge(rules)
    )
    return PrintedComparison(
        pair.cell, name_part(pair.value), name_metric(pair.value), rules, pair.value.number.value,
        100 * measurement.value, measurement.n, stand_in, pair.value.number.digits,
        100 * measurement.low, 100 * measurement.high, measurement.clusters, pair.value,
        pair.quantity.metric, pair.row.source,
    )  # fmt: skip


def comparison_records(results: Results, rows: Iterable[PrintedComparison]) -> list[dict[str, Any]]:
    """Return the rows of differences.csv, in percentage points as printed."""
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
