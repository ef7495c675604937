"""Metrics for DVC: metrics.json, and one CSV file per series and model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omibench.files.csv_file import write_csv
from omibench.params.cell import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.stages.analyze.tables.accuracy import (
    ALL_CELLS,
    TOTAL,
    ImageScore,
    Score,
    round_number,
)


def metrics(results: Results, rows: Sequence[Score]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return {model: {setting: {acc, lo, hi, n, ...}}} of the totals; shares in [0, 1], 6 digits.

    `acc, lo, hi, n`, `failures` and `acc_failures_right` are those of the main scorer; the last two
    are left out if unknown. `gptscore` and its interval are present with a judge. `rules` contains
    the accuracy of every scorer, `ratios` the mean of eq. 6 (OMIBench, C.1) and `strict` the strict
    accuracy (MathReal), if defined; `partial` gives the numbers of problems of a partial run. A
    cell without responses or verdicts is `missing`.
    """
    values: dict[str, dict[str, dict[str, Any]]] = {}
    totals_by_cell: dict[Cell, dict[str, Score]] = {}
    for score in rows:
        if score.subject == TOTAL:
            totals_by_cell.setdefault(score.cell, {})[score.rules] = score
    for cell in results.cells:
        totals = totals_by_cell.get(cell, {})
        main, judge = totals.get(results.main_rules), totals.get(JUDGE_RULES)
        entry: dict[str, Any] = {"simulated": results.simulated_cells[cell]}
        if main:
            entry |= {
                "acc": round_number(main.acc.mean),
                "lo": round_number(main.acc.lo),
                "hi": round_number(main.acc.hi),
                "n": main.acc.n,
            }
            if main.failures:
                entry["failures"] = main.failures.failed
                entry["acc_failures_right"] = round_number(main.failures.as_right)
        if judge:
            entry |= {
                "gptscore": round_number(judge.acc.mean),
                "gptscore_lo": round_number(judge.acc.lo),
                "gptscore_hi": round_number(judge.acc.hi),
            }
        if results.partial:
            entry["partial"] = {"problems": results.partial.problems, "of": results.partial.of}
        entry["rules"] = {
            name: round_number(s.acc.mean) for name, s in totals.items() if name != JUDGE_RULES
        }
        ratios = {name: round_number(s.ratio) for name, s in totals.items() if s.ratio is not None}
        if ratios:
            entry["ratios"] = ratios
        strict = {name: round_number(s.strict.mean) for name, s in totals.items() if s.strict}
        if strict:
            entry["strict"] = strict
        values.setdefault(cell.model, {})[cell.setting] = entry
    for cell in results.missing:
        values.setdefault(cell.model, {})[cell.setting] = {"missing": True}
    return values


def write_plots(
    out: Path, results: Results, rows: Sequence[Score], images: Sequence[ImageScore]
) -> None:
    """Return `plots/accuracy/<model>.csv` and `plots/by_images/<model>.csv`, under the main scorer.

    There is one file per model, since DVC draws one chart per file with a bar for each revision.
    `bin` joins setting and number of images, since DVC distinguishes rows by one column.
    """
    for model in dict.fromkeys(cell.model for cell in results.cells):
        totals = [
            {
                "model": model,
                "setting": s.cell.setting,
                "acc": round_number(s.acc.mean),
                "lo": round_number(s.acc.lo),
                "hi": round_number(s.acc.hi),
                "simulated": results.simulated_cells[s.cell],
            }
            for s in rows
            if s.cell.model == model and s.subject == TOTAL and s.rules == results.main_rules
        ]
        bins = [
            {
                "model": model,
                "images": s.images,
                "setting": s.cell.setting,
                "bin": f"{s.cell.setting}, {s.images} images",
                "acc": round_number(s.acc.mean),
                "n": s.acc.n,
                "simulated": results.simulated_cells[s.cell],
            }
            for s in images
            if s.cell != ALL_CELLS and s.cell.model == model and s.rules == results.main_rules
        ]
        write_csv(out / "plots" / "accuracy" / f"{model}.csv", totals, ["model", "setting", "acc"])
        write_csv(out / "plots" / "by_images" / f"{model}.csv", bins, ["model", "bin", "acc"])
