"""A study's values of printed quantities: metrics of its cells over parts of its dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from math import hypot
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

import polars as pl

from omibench.papers.layouts import AVERAGE
from omibench.papers.study import PrintedResult, find_rows
from omibench.papers.tables import TOLERANCE, PrintedCell, normalise_name
from omibench.params.setting import Cell
from omibench.results.attributes import NOT_STATED, describe_items
from omibench.results.grouped import average_samples, estimate_groups
from omibench.results.load import JUDGE_RULES, PUBLISHED_RULES, Results
from omibench.results.slices import JOINT, label_items
from omibench.results.study_files import StudyFiles
from omibench.text.lists import list_first

CELL: Final = ("model", "setting", "rules")
ESTIMATE: Final = ("estimate", "low", "high", "n", "clusters")
_PLACE = ("slice", "place")
_MEANS = {
    "accuracy": "verdict", "gptscore": "verdict", "credit": "partial", "strict": "all_parts",
}  # fmt: skip
"""The column of verdicts averaged for each metric."""


class Quantity(NamedTuple):
    """A metric of a cell over a part of the dataset, which is empty for all of it.

    `metric` is a key of `_MEANS`, or one of the stage `aggregate` with its k (`pass@5`).
    """

    model: str
    setting: str
    rules: str
    slice: str
    place: str
    """The value of the slice, without case."""
    metric: str


class Parts:
    """The parts of a study's dataset by attributes; case of values is ignored.

    Args:
        results: The study's results.
        names: Attributes, or two joined by ` × `; unknown ones have no part.
    """

    def __init__(self, results: Results, names: Iterable[str]) -> None:
        items = describe_items(results.answers.values(), results.questions)
        known = [n for n in dict.fromkeys(names) if n and {*n.split(JOINT)} <= {*items.columns}]
        labels = pl.concat(
            [
                items.select("id", pl.lit("").alias("slice"), pl.lit("").alias("value")),
                *(label_items(items, name.replace(JOINT, ",")) for name in known),
            ]
        ).with_columns(place=pl.col("value").map_elements(str.casefold, return_dtype=pl.String))
        self.labels = labels.join(items.select("id", "cluster"), on="id", maintain_order="left")
        """Rows of `id`, `cluster`, `slice`, `value` and `place`, the value without case."""
        counts = labels.group_by(_PLACE).len()
        self._sizes: dict[tuple[str, str], int] = {
            (name, place): size for name, place, size in counts.iter_rows()
        }

    def count(self, name: str, value: str) -> int:
        """Return the number of problems of a part."""
        return self._sizes.get((name, value.casefold()), 0)

    def list_values(self, name: str) -> list[str]:
        """Return the values of an attribute, or two joined, among the problems."""
        values = self.labels.filter(slice=name)["value"].unique()
        return [value for value in values if NOT_STATED not in value.split(JOINT)]


def measure(
    results: Results, wanted: Collection[Quantity], parts: Parts, aggregate: Path | None
) -> dict[Quantity, Mapping[str, Any]]:
    """Measure quantities of a study.

    Args:
        results: The study's results.
        wanted: The quantities.
        parts: The parts of the dataset that they are about.
        aggregate: Folder of the stage `aggregate`; None if it was not run.

    Returns:
        The columns `ESTIMATE` of the quantities with responses, as shares.
    """
    places = pl.DataFrame([q[3:5] for q in wanted], dict.fromkeys(_PLACE, pl.String), orient="row")
    labels = parts.labels.join(places.unique(), on=_PLACE, how="semi").drop("value")
    sampled = dict.fromkeys(Cell(*q[:2]) for q in wanted if "@" in q.metric)
    frames = [
        *_estimate_verdicts(results, [q for q in wanted if q.metric in _MEANS], labels),
        *(_estimate_samples(results, sampled, labels, aggregate) if aggregate else ()),
    ]
    return {
        Quantity(*(row[name] for name in Quantity._fields)): {n: row[n] for n in ESTIMATE}
        for frame in frames
        for row in frame.iter_rows(named=True)
    }


def _estimate_verdicts(
    results: Results, wanted: Collection[Quantity], labels: pl.DataFrame
) -> Iterator[pl.DataFrame]:
    """Return the mean over problems of their samples' verdicts, credit or strict verdicts."""
    if not wanted:
        return
    asked = pl.DataFrame([q[:3] for q in wanted], dict.fromkeys(CELL, pl.String), orient="row")
    verdict = pl.col("verdict")
    verdicts = results.counting_verdicts.join(asked.unique(), on=CELL, how="semi").with_columns(
        partial=pl.coalesce("credit", verdict),
        all_parts=pl.coalesce("strict", (verdict >= 1).cast(pl.Float64)),
    )
    metrics = {q.metric for q in wanted}
    columns = tuple({_MEANS[metric] for metric in metrics})
    values = average_samples(verdicts, CELL, columns).drop("cluster").join(labels, on="id")
    confidence = results.study.analyze.confidence
    for metric in metrics:
        frame = estimate_groups(values, (*CELL, *_PLACE), confidence, _MEANS[metric])
        yield frame.with_columns(metric=pl.lit(metric))


def _estimate_samples(
    results: Results, cells: Iterable[Cell], labels: pl.DataFrame, aggregate: Path
) -> Iterator[pl.DataFrame]:
    """Return the mean over problems of the results of the stage `aggregate`."""
    files = StudyFiles(aggregate.parent, aggregate=aggregate)
    for cell in cells:
        frame = files.read_shares(cell)
        if frame is not None:
            values = frame.select(
                *CELL,
                "id",
                pl.concat_str("metric", pl.col("k").cast(pl.String), separator="@").alias("metric"),
                pl.col("value").alias("worth"),
            ).join(labels, on="id")
            confidence = results.study.analyze.confidence
            yield estimate_groups(values, (*CELL, *_PLACE, "metric"), confidence, "worth")


# Printed values beside a study's: one tidy table, and what of print it cannot contain.

MOST_NAMES = 4
"""The number of names that a line lists; the rest is counted."""
COLUMNS: Final[Mapping[str, str]] = {
    "model": "String", "setting": "String", "rules": "String", "slice": "String",
    "value": "String", "metric": "String", "estimate": "Float64", "low": "Float64",
    "high": "Float64", "n": "Int64", "clusters": "Int64", "simulated": "Boolean",
    "printed": "Float64", "printed_low": "Float64", "printed_high": "Float64",
    "difference": "Float64", "inside": "Boolean", "differs": "Boolean", "source": "String",
    "file": "String", "subject": "String", "printed_metric": "String", "digits": "Int64",
}  # fmt: skip
"""The columns of a comparison.

`estimate`, `low` and `high` are ours, `printed`, `printed_low` and `printed_high` the paper's, as
shares; `difference` is ours minus the paper's; `inside`: whether the printed value lies in our
interval; `differs`: whether rounding cannot explain the difference, null if ours is not meant to
reproduce print. `subject` and `printed_metric` are the printed names, `digits` the decimals of the
printed number in per cent.
"""


def make_comparisons(rows: Sequence[Mapping[str, Any]] = ()) -> pl.DataFrame:
    """Return a table of comparisons; without rows, an empty one."""
    schema = {name: getattr(pl, kind) for name, kind in COLUMNS.items()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def compare_with_print(
    results: Results, printed: Sequence[PrintedResult], aggregate: Path | None = None
) -> pl.DataFrame:
    """Compare every printed value of a cell if we have all responses to its problems.

    The required number is that of the printed dataset, or of the frozen one if unknown. ACC is
    compared under the stored verdicts (`published`) if available, otherwise under the main scorer,
    with partial credit if the table prints loose accuracy; GPTScore is compared with the judge's;
    metrics of k samples with the stage `aggregate`; averages with the unweighted mean of our parts.

    Args:
        results: The study's results.
        printed: Printed results on its dataset.
        aggregate: Folder of the stage `aggregate`.

    Returns:
        A row of `COLUMNS` for each value, in the order of cells and tables.
    """
    pairs = [
        (row, value, _name_quantity(results, cell, value))
        for cell in results.study.cells
        for row in find_rows(results, cell, printed)
        for value in row.cells
    ]
    if not pairs:
        return make_comparisons()
    parts = Parts(results, (value.slice for _, value, _ in pairs))
    wanted = {quantity for _, value, quantity in pairs if value.part != AVERAGE}
    measured = measure(results, wanted, parts, aggregate)

    def find(value: PrintedCell, quantity: Quantity) -> Mapping[str, Any] | None:
        """Return our value; None if it does not cover all problems of the printed one."""
        place = {"slice": value.slice, "place": value.value.casefold()}
        found = measured.get(quantity._replace(**place))
        size = value.n or parts.count(value.slice, value.value)
        return found if found and found["n"] == size else None

    rows = []
    for row, value, quantity in pairs:
        ours = (
            _average([find(cell, quantity) for cell in row.cells if is_part_of(cell, value)])
            if value.part == AVERAGE
            else find(value, quantity)
        )
        if ours:
            cell = Cell(quantity.model, quantity.setting)
            simulated = (
                results.simulated_cells[cell]
                or results.has_synthetic_problems
                or results.has_simulated_judge(quantity.rules)
            )
            whose = {**quantity._asdict(), **ours, "simulated": simulated}
            rows.append(describe_pair(row, value, whose))
    return make_comparisons(rows)


def is_part_of(cell: PrintedCell, average: PrintedCell) -> bool:
    """Return whether a cell of the same row is one of the parts of a printed average."""
    return cell.part != AVERAGE and cell.metric == average.metric


def compare_readings(
    printed: Iterable[PrintedResult], labels: Mapping[str, str], table: pl.DataFrame
) -> pl.DataFrame:
    """Compare printed metrics of reading, which do not depend on a setting (MathReal, table 7).

    Args:
        printed: Printed results.
        labels: Model -> its label.
        table: Tidy rows of one metric by model.
    """
    pairs = [
        describe_pair(row, cell, ours | {"setting": "", "rules": ""})
        for ours in table.iter_rows(named=True)
        for row in printed
        if normalise_name(row.model) == normalise_name(labels[ours["model"]])
        for cell in row.cells
        if cell.metric_name == ours["metric"] and cell.n in (0, ours["n"])
    ]
    return make_comparisons(pairs)


def compare_chance(printed: Iterable[PrintedResult], table: pl.DataFrame) -> pl.DataFrame:
    """Compare printed accuracies of guessing with their distribution (EMMA, table 2).

    Args:
        printed: Printed results.
        table: Tidy rows of the accuracy of guessing by part.
    """
    chances = {
        (row["slice"], row["value"].casefold()): row | {"model": "", "setting": "", "rules": ""}
        for row in table.iter_rows(named=True)
    }
    pairs = [
        describe_pair(row, cell, ours)
        for row in printed
        for cell in row.cells
        if row.is_chance
        and (ours := chances.get((cell.slice, cell.value.casefold())))
        and cell.n in (0, ours["n"])
    ]
    # The paper drew once.
    return make_comparisons(pairs).with_columns(differs=pl.lit(None, dtype=pl.Boolean))


def describe_pair(row: PrintedResult, cell: PrintedCell, ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of `COLUMNS` for a printed value and ours.

    Args:
        row: The printed result.
        cell: Its value, in per cent.
        ours: Our value: the columns up to `simulated`, with shares.
    """
    printed = cell.number.value
    apart = 100 * ours["estimate"] - printed
    low, high = cell.interval or (None, None)
    is_inside = 100 * ours["low"] - TOLERANCE <= printed <= 100 * ours["high"] + TOLERANCE
    return {
        **{name: ours[name] for name in (*CELL, "metric", *ESTIMATE, "simulated")},
        "slice": cell.slice,
        "value": cell.subject if cell.slice or cell.part == AVERAGE else "",
        "printed": printed / 100,
        "printed_low": low and low.value / 100,
        "printed_high": high and high.value / 100,
        "difference": apart / 100,
        "inside": is_inside,
        "differs": None if ours["simulated"] else abs(apart) > cell.number.half + TOLERANCE,
        "source": row.source,
        "file": cell.file,
        "subject": cell.subject,
        "printed_metric": cell.short_metric,
        "digits": cell.number.digits,
    }


def _name_quantity(results: Results, cell: Cell, value: PrintedCell) -> Quantity:
    """Return our quantity for a printed value."""
    rules = PUBLISHED_RULES if PUBLISHED_RULES in results.rules else results.main_rules
    metric = value.metric_name
    if metric == "gptscore":
        rules = JUDGE_RULES
    elif value.k and "@" not in metric:
        metric = f"{results.study.settings[cell.setting].aggregate.how}@{value.k}"
    return Quantity(*cell, rules, value.slice, value.value.casefold(), metric)


def _average(parts: Sequence[Mapping[str, Any] | None]) -> dict[str, Any] | None:
    """Return the unweighted mean over the parts whose values a row prints; None if one lacks.

    Parts have different problems, so their errors are independent. The interval combines those of
    the parts (Zou and Donner 2008).
    """
    found = [part for part in parts if part]
    if not found or len(found) < len(parts):
        return None
    value = fmean(part["estimate"] for part in found)
    below = hypot(*(part["estimate"] - part["low"] for part in found)) / len(found)
    above = hypot(*(part["high"] - part["estimate"] for part in found)) / len(found)
    return {
        "estimate": value,
        "low": max(0.0, value - below),
        "high": min(1.0, value + above),
        "n": sum(part["n"] for part in found),
        "clusters": sum(part["clusters"] for part in found),
    }


# ----------------------------------------------------------------------------- without a match


def describe_unmatched(results: Results, printed: Sequence[PrintedResult]) -> list[str]:
    """Describe the models, settings and parts of printed results that do not match the study.

    Args:
        results: The study's results.
        printed: Printed results on its dataset.

    Returns:
        One line per table and kind: the number of unmatched names, the first of them with the
        nearest name in the study; and the number of parts whose number of problems differs from the
        printed one.
    """
    cells = results.study.cells
    matched = {id(row) for cell in cells for row in find_rows(results, cell, printed)}
    labels = [results.label(cell.model) for cell in cells]
    settings = dict.fromkeys(cell.setting for cell in cells)
    names = [*settings, *(results.setting_label(setting) for setting in settings)]
    lines: list[str] = []
    for file in dict.fromkeys(row.file for row in printed):
        rows = [row for row in printed if row.file == file]
        models = dict.fromkeys(row.model for row in rows if not row.is_chance)
        known = set(map(normalise_name, labels))
        missing = [model for model in models if normalise_name(model) not in known]
        lines += _describe(file, "models", missing, len(models), labels)
        ours = [row for row in rows if row.model in models and row.model not in missing]
        used = {row.strategy for row in ours if id(row) in matched}
        strategies = dict.fromkeys(row.strategy for row in ours if row.strategy)
        unused = [strategy for strategy in strategies if strategy not in used]
        lines += _describe(file, "settings", unused, len(strategies), names)
        lines += _describe_parts(results, file, [row for row in ours if id(row) in matched])
    return lines


def _describe_parts(results: Results, file: str, rows: Iterable[PrintedResult]) -> Iterator[str]:
    """Return a line for each attribute with printed values that no problem has, and for sizes."""
    cells = [cell for row in rows for cell in row.cells if cell.slice and cell.part != AVERAGE]
    places = dict.fromkeys((cell.slice, cell.value) for cell in cells)
    if not places:
        return
    parts = Parts(results, (name for name, _ in places))
    for name in dict.fromkeys(name for name, _ in places):
        values = [value for slice_, value in places if slice_ == name]
        missing = [value for value in values if not parts.count(name, value)]
        yield from _describe(
            file, f"values of {name}", missing, len(values), sorted(parts.list_values(name))
        )
    printed = {(cell.slice, cell.value): cell.n for cell in cells if cell.n}
    sizes = {place: (n, parts.count(*place)) for place, n in printed.items()}
    words = [
        f"{value!r} ({ours} problems, {n} in print)"
        for (_, value), (n, ours) in sizes.items()
        if ours and n != ours
    ]
    if words:
        yield (
            f"{file}: {len(words)} of {len(sizes)} parts have another number of problems than in "
            f"print, so their values are not compared: {list_first(words, MOST_NAMES)}"
        )


def _describe(
    file: str, kind: str, missing: Sequence[str], of: int, names: Iterable[str]
) -> Iterator[str]:
    if missing:
        known = list(dict.fromkeys(names))
        near = {name: get_close_matches(name, known, n=1) for name in missing[:MOST_NAMES]}
        words = [
            f"{name!r} (nearest: {near[name][0]!r})" if near.get(name) else repr(name)
            for name in missing
        ]
        yield f"{file}: {len(missing)} of {of} {kind} match nothing in this study: " + list_first(
            words, MOST_NAMES
        )
