"""The files for DVC: metrics.json, and a CSV file per model and chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from omibench.files.outputs import write_csv
from omibench.params.setting import Cell
from omibench.results.load import JUDGE_RULES
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import TOTAL
from omibench.stages.analyze.results.result import round_table

Row = dict[str, Any]


def describe_metrics(analysis: Analysis) -> dict[str, dict[str, Row]]:
    """Return metrics.json: {model: {setting: {acc, lo, hi, n, ...}}} of the totals.

    Shares are in [0, 1]. `acc, lo, hi, n`, `failures` and `acc_failures_right` are those of the
    main scorer; the last two are left out if unknown. `gptscore` and its interval are present with
    a judge. `rules` contains the accuracy of every scorer, `ratios` the mean of eq. 6 (OMIBench,
    C.1) and `strict` the strict accuracy (MathReal), if defined; `partial` gives the numbers of
    problems of a partial run. A cell without responses or verdicts is `missing`; one that a look
    stopped has no accuracy, but the numbers of problems in `stopped`.
    """
    results = analysis.results
    values: dict[str, dict[str, Row]] = {}
    totals: dict[Cell, dict[str, Row]] = {}
    for row in round_table(analysis.scores.filter(subject=TOTAL)).iter_rows(named=True):
        totals.setdefault(Cell(row["model"], row["setting"]), {})[row["rules"]] = row
    for cell in results.cells:
        scored = totals.get(cell, {})
        main, judge = scored.get(results.main_rules), scored.get(JUDGE_RULES)
        entry: Row = {"simulated": results.simulated_cells[cell]}
        if main:
            entry |= _name_interval(main, "acc", "") | {"n": main["n"]}
            if main["failures"] is not None:
                entry["failures"] = main["failures"]
                entry["acc_failures_right"] = main["failures_right"]
        if judge:
            entry |= _name_interval(judge, "gptscore", "gptscore_")
        if results.partial:
            entry["partial"] = {"problems": results.partial.problems, "of": results.partial.of}
        entry["rules"] = {n: row["estimate"] for n, row in scored.items() if n != JUDGE_RULES}
        for key, column in (("ratios", "ratio"), ("strict", "strict")):
            defined = {n: row[column] for n, row in scored.items() if row[column] is not None}
            if defined:
                entry[key] = defined
        values.setdefault(cell.model, {})[cell.setting] = entry
    for cell in results.missing:
        values.setdefault(cell.model, {})[cell.setting] = {"missing": True}
    for row in analysis.list_rows("stopped"):
        part = {"problems": row["n"], "of": row["of"]}
        values.setdefault(row["model"], {})[row["setting"]] = {"stopped": part}
    return values


def _name_interval(row: Row, name: str, prefix: str) -> Row:
    return {name: row["estimate"], f"{prefix}lo": row["low"], f"{prefix}hi": row["high"]}


def write_plots(analysis: Analysis, out: Path) -> list[str]:
    """Write `plots/accuracy/<model>.csv` and `plots/by_images/<model>.csv`, under the main scorer.

    There is one file per model, since DVC draws one chart per file with a bar for each revision.
    `bin` joins setting and number of images, since DVC distinguishes rows by one column. Returns
    the paths of the files in `out`.
    """
    files = []
    images = analysis.rows("accuracy-by-images").filter(pl.col("setting") != "")
    charts = {
        "accuracy": (
            analysis.scores.filter(subject=TOTAL),
            {"acc": "estimate", "lo": "low", "hi": "high"},
            "setting",
        ),
        "by_images": (
            images.with_columns(bin=pl.format("{}, {} images", "setting", "value")),
            {"images": "value", "bin": "bin", "acc": "estimate", "n": "n"},
            "bin",
        ),
    }
    for model in dict.fromkeys(cell.model for cell in analysis.results.cells):
        for name, (table, columns, key) in charts.items():
            own = round_table(table.filter(model=model, rules=analysis.results.main_rules))
            rows = own.select("model", "setting", simulated="simulated", **columns).to_dicts()
            files.append(f"plots/{name}/{model}.csv")
            write_csv(out / files[-1], rows, ["model", key, "acc"])
    return files
