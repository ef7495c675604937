"""What the report's template shows, all of it already worded: the template only lays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from omibench.analyze.claims import best
from omibench.analyze.intervals import Estimate
from omibench.analyze.links import EXPLORER, cell_file
from omibench.analyze.load import JUDGE_RULES, Results
from omibench.analyze.published import ACC, GPTSCORE, Printed, printed_row
from omibench.analyze.tables import (
    TOTAL,
    FailureCount,
    ImageScore,
    Score,
    image_bins,
    subjects,
)
from omibench.analyze.words import OUTCOME_NAMES, bare_interval, level, number, rules_name
from omibench.study import Cell
from omibench.verdict import FAILURES

NONE = "–"


class Bar(NamedTuple):
    """A bar with a whisker, in per cent."""

    mean: float
    lo: float
    hi: float


class SubjectCell(NamedTuple):
    """One subject of a row of the main table, and where to read more."""

    acc: str
    gptscore: str
    href: str | None


class PrintedCells(NamedTuple):
    """The printed row below one of ours."""

    total: str
    gptscore: str
    subjects: list[str]


class MainRow(NamedTuple):
    """One row of the main table: a cell."""

    setting: str
    href: str | None
    leader: bool
    bar: Bar
    total: str
    interval: str
    subjects: list[SubjectCell]
    gptscore: str
    gptscore_interval: str
    failures: str
    bounds: str
    printed: PrintedCells | None


class ModelRows(NamedTuple):
    """The rows of one model, one a setting."""

    label: str
    simulated: bool
    rows: list[MainRow]

    @property
    def height(self) -> int:
        """How many lines of the table the model takes."""
        return sum(2 if row.printed else 1 for row in self.rows)


class Group(NamedTuple):
    """Models under one heading."""

    name: str
    models: list[ModelRows]


ScoreIndex = Mapping[tuple[Cell, str, str], Score]


def groups(results: Results, rows: Sequence[Score], printed: Sequence[Printed]) -> list[Group]:
    """The main table: models in the study's order under the headings of their groups."""
    index = {(s.cell, s.rules, s.subject): s for s in rows}
    leader = best(results, rows).cell
    found: dict[str, list[ModelRows]] = {}
    for model in dict.fromkeys(cell.model for cell in results.study.cells):
        own = [cell for cell in results.study.cells if cell.model == model]
        lines = [
            _main_row(results, index, cell, printed_row(results, cell, printed), cell == leader)
            for cell in own
            if (cell, results.main_rules, TOTAL) in index
        ]
        if lines:
            simulated = any(results.simulated[cell] for cell in own)
            entry = ModelRows(results.label(model), simulated, lines)
            found.setdefault(results.study.models[model].group or "Models", []).append(entry)
    return [Group(name, models) for name, models in found.items()]


def rule_rows(results: Results, rows: Sequence[Score]) -> list[dict[str, Any]]:
    """Totals of every cell under every rule book."""
    index = {(s.cell, s.rules, s.subject): s for s in rows}
    return [
        {
            **cell_words(results, cell),
            "cells": [_with_interval(index.get((cell, r, TOTAL))) for r in results.rules],
        }
        for cell in results.study.cells
    ]


def rule_heads(results: Results) -> list[dict[str, Any]]:
    """The columns of `rule_rows`."""
    return [
        {"name": rules_name(r), "simulated": r == JUDGE_RULES and results.judge_simulated}
        for r in results.rules
    ]


def image_rows(results: Results, rows: Sequence[ImageScore]) -> list[dict[str, Any]]:
    """Accuracy by number of images of every cell, under the main rules."""
    index = {(s.cell, s.images): s.acc for s in rows if s.rules == results.main_rules}
    return [
        {
            **cell_words(results, cell),
            "cells": [
                {"acc": number(acc.mean), "n": acc.n} if acc else {"acc": NONE, "n": 0}
                for acc in (index.get((cell, b)) for b in image_bins(results))
            ],
        }
        for cell in results.study.cells
    ]


def failure_rows(results: Results, rows: Sequence[FailureCount]) -> list[dict[str, Any]]:
    """Failures of every cell by outcome, under the main rules."""
    own = {(f.cell, f.outcome): f.count for f in rows if f.rules == results.main_rules}
    kinds = outcomes(results, rows)
    return [
        {
            **cell_words(results, cell),
            "counts": [own.get((cell, o), 0) for o in kinds],
            "n": results.of(results.main_rules, cell).height,
        }
        for cell in results.study.cells
    ]


def outcomes(results: Results, rows: Sequence[FailureCount]) -> list[str]:
    """The outcomes that occur under the main rules."""
    seen = {f.outcome for f in rows if f.rules == results.main_rules}
    return [o for o in FAILURES if o in seen]


def outcome_heads(results: Results, rows: Sequence[FailureCount]) -> list[str]:
    """The columns of `failure_rows`."""
    return [OUTCOME_NAMES[o] for o in outcomes(results, rows)]


def main_caption(results: Results) -> str:
    """What the main table shows."""
    judged = " GPTScore is the judge's verdict" if JUDGE_RULES in results.rules else ""
    below = ", small below ACC by subject." if judged else ""
    return (
        f"ACC in per cent under the rule book {results.main_rules}, totals with "
        f"{level(results.study.analyze.confidence)} interval.{judged}{below}"
    )


READING = (
    "ACC is the share of responses that the rule book calls right, averaged over problems; "
    "responses without an answer count as wrong, and Bounds shows the total with them counted as "
    "wrong and as right. Intervals are Wilson's at the effective sample size: problems that share "
    "a stem count as one cluster. Two intervals that overlap can still differ, because models "
    "answer the same problems: sentences in this report use paired tests. A GPTScore without a "
    "calibration against people is only the judge's opinion."
)


def cell_words(results: Results, cell: Cell) -> dict[str, Any]:
    """How a cell is named in the lesser tables."""
    return {
        "label": results.label(cell.model),
        "setting": results.setting_label(cell.setting),
        "simulated": results.simulated[cell],
    }


def _main_row(
    results: Results,
    index: ScoreIndex,
    cell: Cell,
    printed: Printed | None,
    leader: bool,
) -> MainRow:
    total = index[cell, results.main_rules, TOTAL]
    judge = index.get((cell, JUDGE_RULES, TOTAL))
    page = f"{EXPLORER}/cells/{cell_file(cell)}" if results.study.analyze.explorer else None
    return MainRow(
        setting=results.setting_label(cell.setting),
        href=page,
        leader=leader,
        bar=_bar(total.acc),
        total=number(total.acc.mean),
        interval=bare_interval(total.acc),
        subjects=[
            SubjectCell(
                _mean(index.get((cell, results.main_rules, s))),
                _mean(index.get((cell, JUDGE_RULES, s))),
                f"{page}#{s}" if page else None,
            )
            for s in subjects(results)
        ],
        gptscore=_mean(judge),
        gptscore_interval=bare_interval(judge.acc) if judge else "",
        failures=f"{total.failures} / {total.acc.n}",
        bounds=f"{number(total.bounds.pessimistic, 0)} to {number(total.bounds.optimistic, 0)}",
        printed=_printed(results, printed) if printed else None,
    )


def _printed(results: Results, row: Printed) -> PrintedCells:
    def text(subject: str, metric: str) -> str:
        value = row.values.get((subject, metric))
        return NONE if value is None else f"{value:.2f}"

    return PrintedCells(
        text(TOTAL, ACC), text(TOTAL, GPTSCORE), [text(s, ACC) for s in subjects(results)]
    )


def _bar(acc: Estimate) -> Bar:
    return Bar(round(100 * acc.mean, 2), round(100 * acc.lo, 2), round(100 * acc.hi, 2))


def _mean(score: Score | None) -> str:
    return number(score.acc.mean) if score else NONE


def _with_interval(score: Score | None) -> dict[str, str]:
    if score is None:
        return {"acc": NONE, "interval": ""}
    return {"acc": number(score.acc.mean), "interval": bare_interval(score.acc)}
