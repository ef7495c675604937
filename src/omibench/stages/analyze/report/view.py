"""The lesser tables of the report, already worded: the template only lays out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omibench.params.study import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.tables.accuracy import (
    TOTAL,
    FailureCount,
    ImageScore,
    Score,
    image_bins,
)
from omibench.stages.analyze.words import NONE, bracketed, number, outcome_name, rules_name


def rule_rows(results: Results, rows: Sequence[Score]) -> list[dict[str, Any]]:
    """Totals of every cell under every rule book."""
    index = {(s.cell, s.rules, s.subject): s for s in rows}
    return [
        {
            **cell_words(results, cell),
            "cells": [_with_interval(index.get((cell, r, TOTAL))) for r in _books(results)],
        }
        for cell in results.study.cells
    ]


def rule_heads(results: Results) -> list[dict[str, Any]]:
    """The columns of `rule_rows`: rule books, the judge, and the judges that voted, if any."""
    return [
        {
            "name": rules_name(r),
            "simulated": results.marked(r),
            "uncalibrated": r in results.votes or (r == JUDGE_RULES and not results.certificate),
        }
        for r in _books(results)
    ]


def _books(results: Results) -> list[str]:
    return [*results.rules, *results.votes]


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
    """Failures of every cell by outcome, under the rule book that tells them."""
    own = {(f.cell, f.outcome): f.count for f in rows if f.rules == results.failure_rules}
    kinds = outcomes(results, rows)
    return [
        {
            **cell_words(results, cell),
            "counts": [own.get((cell, o), 0) for o in kinds],
            "n": results.of(results.failure_rules or results.main_rules, cell).height,
        }
        for cell in results.study.cells
    ]


def outcomes(results: Results, rows: Sequence[FailureCount]) -> list[str]:
    """The failures that occur under the rule book that tells them."""
    seen = {f.outcome for f in rows if f.rules == results.failure_rules}
    return [o for o in FAILURES if o in seen]


def outcome_heads(results: Results, rows: Sequence[FailureCount]) -> list[str]:
    """The columns of `failure_rows`."""
    return [outcome_name(o) for o in outcomes(results, rows)]


def cell_words(results: Results, cell: Cell) -> dict[str, Any]:
    """How a cell is named in the lesser tables."""
    return {
        "label": results.label(cell.model),
        "setting": results.setting_label(cell.setting),
        "simulated": results.simulated[cell],
    }


def _with_interval(score: Score | None) -> dict[str, str]:
    if score is None:
        return {"acc": NONE, "interval": "", "credit": ""}
    credit = "" if score.credit is None else f"credit {number(score.credit)}"
    return {"acc": number(score.acc.mean), "interval": bracketed(score.acc), "credit": credit}
