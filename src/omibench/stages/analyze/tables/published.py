"""Printed results beside ours: which printed row is of a cell, and which values differ.

Model names are compared with our labels, settings with our settings' names and labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import hypot
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from omibench.params.cell import Cell
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.layouts import AVERAGE
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
"""Of a table that names none, and of whose paper we have no study (OMIBench, appendix B)."""
_OPTIONAL_ENDING = re.compile(r"(?:instruct|preview|32k)$")
"""Ends of names that one table of a paper prints and another leaves out."""
_ROUNDING = 1e-9


class PrintedComparison(NamedTuple):
    """One printed value beside what the responses give under `rules`, both in per cent.

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
    """What is printed, with its place."""
    measured_metric: str = ""
    source: str = ""

    @property
    def differs(self) -> bool | None:
        """Whether rounding to the printed decimals cannot explain the distance.

        None for what is simulated: no stand-in is meant to give printed values.
        """
        if self.simulated:
            return None
        return abs(self.measured - self.printed) > 0.5 * 10.0**-self.digits + _ROUNDING

    @property
    def inside(self) -> bool | None:
        """Whether the printed value lies in our interval; None where there is none."""
        if self.low is None or self.high is None:
            return None
        return self.low - _ROUNDING <= self.printed <= self.high + _ROUNDING


class _Pair(NamedTuple):
    """A printed value and the quantity of ours that it is."""

    cell: Cell
    row: Printed
    value: PrintedCell
    quantity: MeasuredQuantity


def printed_rows(results: Results, cell: Cell, printed: Sequence[Printed]) -> list[Printed]:
    """The printed rows of a cell: same model name, same setting.

    A setting is that of the table's layout, or the name or the label of one, or the part of its
    name before the first hyphen (`cot-warm`). Names of models that differ only in case, hyphens or
    an ending such as `-Instruct` are one where no name of the table is the very same.
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
    """The printed row of a cell that stands below it: the first one over as many samples."""
    samples = results.study.settings[cell.setting].decoding.samples
    rows = printed_rows(results, cell, printed)
    return next((row for row in rows if row.k in (None, samples)), None)


def compare(
    results: Results, printed: Sequence[Printed], aggregate: Path | None = None
) -> list[PrintedComparison]:
    """Compare every printed value for whose problems we hold all responses.

    All means as many as the printed dataset has, or the frozen one where that is not known.
    ACC is compared under the stored verdicts (`published`) where there are any, else under the
    main rules, with credit for parts where the table prints loose accuracy; GPTScore with the
    judge's; what is made from k samples with the stage `aggregate`.

    Args:
        results: The study's results.
        printed: Rows of printed tables about its dataset.
        aggregate: The folder of the stage `aggregate`.
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
    """The quantity of ours that a printed value is of."""
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
    """Our value; None where it is not over all problems of the printed one."""
    measurement = measurements.get(pair.quantity)
    size = pair.value.n or parts.count(pair.value.slice, pair.value.value)
    return measurement if measurement and measurement.n == size else None


def _average(
    pair: _Pair, measurements: Mapping[MeasuredQuantity, Measurement], parts: PartMeans
) -> Measurement | None:
    """The mean over the parts whose value the row prints, each weighing the same.

    Parts are other problems, so that their errors are independent: the interval combines those of
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


@lru_cache(4096)
def normalise_name(name: str) -> str:
    """A model's name without case, punctuation and what one table prints and another leaves out."""
    return _OPTIONAL_ENDING.sub("", re.sub(r"[\W_]", "", name.casefold()))
