"""The formatted rows of the main table: one per cell, with bars, intervals, bounds and printed
rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from omibench.papers.layouts import AVERAGE
from omibench.papers.study import PrintedResult, find_row
from omibench.papers.tables import ACC, GPTSCORE, STRICT
from omibench.params.cell import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.attributes import join_labels
from omibench.stages.analyze.claims import UNKNOWN_FAILURES, best
from omibench.stages.analyze.links import EXPLORER, cell_file, has_pages
from omibench.stages.analyze.sections.main_notes import (
    describe_gain,
    describe_places,
    describe_size,
)
from omibench.stages.analyze.tables.accuracy import TOTAL, Score, subjects
from omibench.stages.analyze.tables.groups import Failures
from omibench.stages.analyze.words import (
    NO_VALUE,
    count_noun,
    format_bounds,
    format_decimals,
    format_level,
    format_share,
    name_scorer,
)
from omibench.statistics.intervals import Estimate

if TYPE_CHECKING:
    import polars as pl


class Bar(NamedTuple):
    """A bar with a whisker, in per cent."""

    mean: float
    lo: float
    hi: float


class SubjectCell(NamedTuple):
    """One subject of a row of the main table, with links."""

    acc: str
    gptscore: str
    href: str | None


class PrintedCells(NamedTuple):
    """The printed row below one of our rows."""

    total: str
    gptscore: str
    subjects: list[str]
    strict: str = NO_VALUE
    macro: str = ""
    """A printed mean over parts of the problems, and ours; it is not a total, since it weights the
    parts equally."""


class RankCell(NamedTuple):
    """The rank of a cell, and the range that the tests allow (the result `ranks`)."""

    text: str = ""
    bounds: str = ""
    value: str = ""


class MainRow(NamedTuple):
    """One row of the main table: a cell."""

    cell: Cell
    setting: str
    href: str | None
    leader: bool
    bar: Bar
    total: str
    interval: str
    partial: str
    subjects: list[SubjectCell]
    gptscore: str
    gptscore_interval: str
    failures: str
    bounds: str
    printed: PrintedCells | None
    gain: str = ""
    printed_in: str = ""
    strict: str = NO_VALUE
    strict_interval: str = ""
    rank: RankCell = RankCell()


class ModelRows(NamedTuple):
    """The rows of one model, one per setting."""

    label: str
    simulated: bool
    rows: list[MainRow]
    size: str = ""
    parameters: str = ""
    """Number of parameters in billions."""
    weights: str = ""
    """`open`, `closed`, or empty if unknown."""


class ModelGroup(NamedTuple):
    """Models with a common heading."""

    name: str
    models: list[ModelRows]


CellScores = Mapping[tuple[str, str], Score]
"""One cell's scores by scorer and subject."""


def group_rows(
    results: Results,
    rows: Sequence[Score],
    printed: Sequence[PrintedResult],
    comparisons: pl.DataFrame | None = None,
    ranks: Mapping[Cell, RankCell] | None = None,
) -> list[ModelGroup]:
    """Return the main table: models in the study's order, by group.

    Args:
        results: The study's results.
        rows: Scores of the study.
        printed: Printed rows.
        comparisons: `Analysis.printed_comparisons`, for averages of parts.
        ranks: Ranks by cell.
    """
    averages = {} if comparisons is None else _list_averages(comparisons)
    index: dict[Cell, dict[tuple[str, str], Score]] = {}
    for row in rows:
        index.setdefault(row.cell, {})[row.rules, row.subject] = row
    top = best(results, rows)
    beside = {cell: find_row(results, cell, printed) for cell in results.study.cells}
    digits = max((row.digits for row in beside.values() if row), default=1)
    models_by_group: dict[str, list[ModelRows]] = {}
    for model in dict.fromkeys(cell.model for cell in results.study.cells):
        model_cells = [cell for cell in results.study.cells if cell.model == model]
        lines = [
            _main_row(
                results,
                index[cell],
                cell,
                _describe_printed(results, beside[cell], averages.get(cell)),
                digits,
            )._replace(
                leader=top is not None and cell == top.cell,
                gain=_gain(results, index, cell),
                printed_in=describe_places(results, cell),
                rank=(ranks or {}).get(cell, RankCell()),
            )
            for cell in model_cells
            if (results.main_rules, TOTAL) in index.get(cell, {})
        ]
        if lines:
            simulated = any(results.simulated_cells[cell] for cell in model_cells)
            block = results.study.models[model]
            entry = ModelRows(
                results.label(model),
                simulated,
                lines,
                describe_size(block),
                f"{block.parameters_b or 0:g}",
                block.weights or "",
            )
            models_by_group.setdefault(block.group or "Models", []).append(entry)
    return [ModelGroup(name, models) for name, models in models_by_group.items()]


def list_cells(groups: Sequence[ModelGroup]) -> list[Cell]:
    """Return the cells of the table, in the order of its rows."""
    return [row.cell for group in groups for model in group.models for row in model.rows]


def count_decimals(groups: Sequence[ModelGroup]) -> int:
    """Return the number of decimals of the totals of the table."""
    totals = (row.total for group in groups for model in group.models for row in model.rows)
    return max((len(total.partition(".")[2]) for total in totals), default=1)


def _list_averages(comparisons: pl.DataFrame) -> dict[Cell, float]:
    """Return our means over parts of the problems, in per cent."""
    rows = comparisons.filter(subject=AVERAGE).select("model", "setting", "estimate")
    return {Cell(model, setting): 100 * value for model, setting, value in rows.iter_rows()}


def _gain(results: Results, index: Mapping[Cell, CellScores], cell: Cell) -> str:
    base = results.study.models[cell.model].base
    key = (results.main_rules, TOTAL)
    bases = index.get(Cell(base, cell.setting), {}) if base else {}
    return describe_gain(results, cell, index[cell].get(key), bases.get(key))


def main_caption(results: Results) -> str:
    """Return the caption of the main table."""
    judged = " The value after GPT is the GPTScore." if JUDGE_RULES in results.rules else ""
    return (
        f"ACC in per cent by {name_scorer(results.main_rules)}; in brackets the "
        f"{format_level(results.study.analyze.confidence)} interval.{judged}"
    )


def has_strict(results: Results, rows: Sequence[Score]) -> bool:
    """Return whether the main scorer distinguishes strict accuracy from the share of right
    parts."""
    return any(row.strict and row.rules == results.main_rules for row in rows)


def failure_head(results: Results) -> str:
    """Return the heading of the responses without an answer, with their scorer."""
    rules = results.failure_rules
    return "No answer" if rules in (None, results.main_rules) else f"No answer, by {rules}"


def describe_reading(results: Results) -> str:
    """Return the explanation of the main table."""
    rules = results.failure_rules
    if rules == results.main_rules:
        bounds = (
            "responses without an answer count as wrong, and Bounds shows the total with them "
            "counted as wrong and as right"
        )
    elif rules:
        bounds = (
            f"{UNKNOWN_FAILURES}, so Bounds shows the total as published, and with the responses "
            f"in which {name_scorer(rules)} finds no answer counted as right"
        )
    else:
        bounds = f"{UNKNOWN_FAILURES}, so there are no bounds"
    return _READING.format(bounds=bounds)


_READING = (
    "ACC is the share of responses called right, averaged over problems; {bounds}. "
    "Totals over part of the problems are marked and cannot lead. Intervals are Wilson's at the "
    "effective sample size: problems that share a stem count as one cluster. Models with "
    "overlapping intervals can still differ, because they "
    "answer the same problems: sentences in this report use paired differences, each with the "
    "interval of its pair, and tests with Holm's correction over all pairs of the compared cells, "
    "since the best of many equal models looks better. "
    "Without a certificate, a GPTScore is one judge's opinion; with one, the card on the judge "
    "shows totals corrected for its errors."
)


def _main_row(
    results: Results,
    cell_scores: CellScores,
    cell: Cell,
    printed: PrintedCells | None,
    digits: int,
) -> MainRow:
    total = cell_scores[results.main_rules, TOTAL]
    judge = cell_scores.get((JUDGE_RULES, TOTAL))
    failed, problems = total.failures, len(results.answers)
    page = f"{EXPLORER}/cells/{cell_file(cell)}" if has_pages(results) else None
    return MainRow(
        cell=cell,
        setting=results.setting_label(cell.setting),
        href=page,
        leader=False,
        bar=_bar(total.acc),
        total=format_share(total.acc.mean, digits),
        interval=format_bounds(total.acc),
        partial=f"{total.acc.n:,} of {count_noun(problems, 'problem')}"
        if total.acc.n < problems
        else "",
        subjects=[_subject_cell(results, cell_scores, s, page, digits) for s in subjects(results)],
        gptscore=_mean(judge, digits),
        gptscore_interval=format_bounds(judge.acc) if judge else "",
        failures=f"{failed.failed} / {total.responses}" if failed else NO_VALUE,
        bounds=_bounds(failed, digits),
        printed=printed,
        strict=format_share(total.strict.mean, digits) if total.strict else NO_VALUE,
        strict_interval=format_bounds(total.strict) if total.strict else "",
    )


def _subject_cell(
    results: Results, cell_scores: CellScores, subject: str, page: str | None, digits: int
) -> SubjectCell:
    score = cell_scores.get((results.main_rules, subject))
    return SubjectCell(
        _mean(score, digits),
        _mean(cell_scores.get((JUDGE_RULES, subject)), digits),
        f"{page}#{subject}" if page and score else None,
    )


def _describe_printed(
    results: Results, row: PrintedResult | None, average: float | None
) -> PrintedCells | None:
    if row is None:
        return None

    def text(subject: str, metric: str) -> str:
        value = row.values.get((subject, metric))
        return NO_VALUE if value is None else format_decimals(value, row.digits)

    total = text(TOTAL, ACC)
    pairs = {join_labels(answer.attributes.get("pair")) for answer in results.answers.values()}
    if total == NO_VALUE and len(pairs) == 1:
        total = text(pairs.pop(), ACC)
    values = [text(s, ACC) for s in subjects(results)]
    macro = _describe_macro(row, average) if (AVERAGE, ACC) in row.values else ""
    cells = PrintedCells(total, text(TOTAL, GPTSCORE), values, text(TOTAL, STRICT), macro)
    is_empty = {total, cells.gptscore, cells.strict, *values} == {NO_VALUE} and not macro
    return None if is_empty else cells


def _describe_macro(row: PrintedResult, average: float | None) -> str:
    parts = [part for part, metric in row.values if metric == ACC and part != AVERAGE]
    printed = format_decimals(row.values[AVERAGE, ACC], row.digits)
    ours = "" if average is None else f", ours {format_decimals(average, row.digits)}"
    return f"macro average of {' and '.join(parts)}: {printed}{ours}"


def _bounds(failed: Failures | None, digits: int) -> str:
    if failed is None:
        return NO_VALUE
    return f"{format_share(failed.as_wrong, digits)} to {format_share(failed.as_right, digits)}"


def _bar(acc: Estimate) -> Bar:
    return Bar(round(100 * acc.mean, 2), round(100 * acc.lo, 2), round(100 * acc.hi, 2))


def _mean(score: Score | None, digits: int) -> str:
    return format_share(score.acc.mean, digits) if score else NO_VALUE
