"""The CSV files next to the report as pivots of results, in the columns of earlier versions.

They go after two versions; `tables/` has the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from omibench.files.outputs import write_csv
from omibench.params.setting import Cell
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.verdict import FAILURES
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import TOTAL, cells_of
from omibench.stages.analyze.results.reasoning import MEAN, TYPE
from omibench.stages.analyze.results.result import round_table
from omibench.stages.analyze.results.saliency import UNSCORED

Row = dict[str, Any]


class Pivot(NamedTuple):
    """A CSV file: the rows of results, and its columns."""

    rows: Callable[[Analysis], pl.DataFrame | None]
    columns: Sequence[str]
    sources: Mapping[str, str] = {}
    """The columns of the result behind columns of another name."""


def _select_outcomes(analysis: Analysis) -> pl.DataFrame:
    table = analysis.rows("outcomes")
    return table.filter(table["value"].is_in(FAILURES))


def _list_images(analysis: Analysis) -> pl.DataFrame:
    table = analysis.rows("accuracy-by-images")
    return table.filter((table["setting"] != "") | (table["model"] == ""))


def _list_scores(analysis: Analysis) -> pl.DataFrame:
    is_judge = pl.col("rules") == JUDGE_RULES
    return analysis.scores.with_columns(
        failures_wrong=pl.when(pl.col("failures").is_not_null()).then("estimate"),
        calibrated=pl.when(is_judge).then(pl.lit(analysis.results.certificate is not None)),
    )


def _list_errors(analysis: Analysis) -> pl.DataFrame | None:
    types, cells = analysis.find_rows("error-types"), analysis.find_rows("error-judgements")
    if types is None or cells is None:
        return None
    by = ["model", "setting", "by"]
    shares = types.filter(pl.col("slice") == TYPE, pl.col("count") > 0).drop("simulated")
    facts = cells.select(*by, "right_after_all", "judge_failed", "judge", "calibrated", "simulated")
    return facts.join(
        shares.sort("count", "value", descending=[True, False]).drop("label"),
        on=by,
        maintain_order="left_right",
    )


def _name_means(analysis: Analysis) -> pl.DataFrame | None:
    table = analysis.find_rows("other-judges")
    if table is None:
        return None
    is_mean = pl.col("metric") == MEAN
    return table.with_columns(value=pl.when(is_mean).then(pl.lit(MEAN)).otherwise("value"))


_CELL = ("model", "label", "group", "setting")
_SCORED = (*_CELL, "rules")
_INTERVAL = {"lo": "low", "hi": "high"}
PIVOTS: Mapping[str, Pivot] = {
    "main": Pivot(
        _list_scores,
        (
            *_SCORED, "subject", "n", "acc", "lo", "hi", "n_eff", "responses", "failures",
            "acc_failures_wrong", "acc_failures_right", "credit", "corrected", "corrected_lo",
            "corrected_hi", "calibrated", "simulated", "judge_simulated", "ratio", "strict",
            "strict_lo", "strict_hi", "corrected_by",
        ),
        {
            "acc": "estimate", **_INTERVAL, "acc_failures_wrong": "failures_wrong",
            "acc_failures_right": "failures_right", "corrected_lo": "corrected_low",
            "corrected_hi": "corrected_high", "strict_lo": "strict_low", "strict_hi": "strict_high",
        },
    ),
    "by_images": Pivot(
        _list_images,
        (*_SCORED, "images", "n", "acc", "lo", "hi", "simulated"),
        {"images": "value", "acc": "estimate", **_INTERVAL},
    ),
    "failures": Pivot(
        _select_outcomes,
        (*_SCORED, "outcome", "count", "n", "share", "simulated"),
        {"outcome": "value", "share": "estimate"},
    ),
    "samples": Pivot(
        lambda analysis: analysis.find_rows("samples"),
        (
            *_SCORED, "metric", "k", "n", "value", "lo", "hi", "sd", "sem", "prompts", "simulated",
        ),
        {"value": "estimate", **_INTERVAL},
    ),
    "rationales": Pivot(
        lambda analysis: analysis.find_rows("rationale-marks"),
        (
            *_CELL, "mark", "n", "mean", "lo", "hi", "judge_failed", "judge", "calibrated",
            "simulated",
        ),
        {"mark": "metric", "mean": "estimate", **_INTERVAL},
    ),
    "errors": Pivot(
        _list_errors,
        (
            *_CELL, "taxonomy", TYPE, "count", "classified", "share", "lo", "hi",
            "right_after_all", "judge_failed", "judge", "calibrated", "simulated", "by",
        ),
        {TYPE: "value", "share": "estimate", **_INTERVAL},
    ),
    "saliency": Pivot(
        lambda analysis: analysis.find_rows("saliency"),
        (
            *_CELL, "reading", "max_pixels", "problems", *UNSCORED, "declares", "mass", "pictures",
            "logprob", "impact_mean", "impact_median", "impact_max", "supportive", "simulated",
            "hidden",
        ),
        {"problems": "n", "impact_mean": "estimate"},
    ),
    "other-judges": Pivot(
        _name_means,
        (
            *_CELL, "instrument", "value", "n", "estimate", "lo", "hi", "lowest", "highest",
            "judge_failed", "judge", "simulated",
        ),
        _INTERVAL,
    ),
}  # fmt: skip


def pivot_result(analysis: Analysis, name: str) -> list[Row] | None:
    """Return the rows of one of `PIVOTS`; None if the study has no such result."""
    pivot = PIVOTS[name]
    table = pivot.rows(analysis)
    if table is None:
        return None
    names = {cell: cell_names(analysis.results, cell) for cell in cells_of(table)}
    rows = (
        row | names[Cell(row["model"], row["setting"])]
        for row in round_table(table).iter_rows(named=True)
    )
    sources = [(column, pivot.sources.get(column, column)) for column in pivot.columns]
    return [{column: row.get(source) for column, source in sources} for row in rows]


def cell_names(results: Results, cell: Cell) -> Row:
    """Return the columns that identify a cell in the files."""
    if not cell.model:
        return {"model": "", "label": "all", "group": "", "setting": ""}
    return {
        "model": cell.model,
        "label": results.label(cell.model),
        "group": results.study.models[cell.model].group or "",
        "setting": cell.setting,
    }


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
    for row in pivot_result(analysis, "main") or ():
        if row["subject"] == TOTAL:
            totals.setdefault(Cell(row["model"], row["setting"]), {})[row["rules"]] = row
    for cell in results.cells:
        scored = totals.get(cell, {})
        main, judge = scored.get(results.main_rules), scored.get(JUDGE_RULES)
        entry: Row = {"simulated": results.simulated_cells[cell]}
        if main:
            entry |= {name: main[name] for name in ("acc", "lo", "hi", "n")}
            if main["failures"] is not None:
                entry |= {name: main[name] for name in ("failures", "acc_failures_right")}
        if judge:
            entry |= {
                "gptscore": judge["acc"], "gptscore_lo": judge["lo"], "gptscore_hi": judge["hi"],
            }  # fmt: skip
        if results.partial:
            entry["partial"] = {"problems": results.partial.problems, "of": results.partial.of}
        entry["rules"] = {name: row["acc"] for name, row in scored.items() if name != JUDGE_RULES}
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


def write_plots(analysis: Analysis, out: Path) -> list[str]:
    """Write `plots/accuracy/<model>.csv` and `plots/by_images/<model>.csv`, under the main scorer.

    There is one file per model, since DVC draws one chart per file with a bar for each revision.
    `bin` joins setting and number of images, since DVC distinguishes rows by one column. Returns
    the paths of the files in `out`.
    """
    files = []
    results = analysis.results
    images = [
        {**row, "bin": f"{row['setting']}, {row['images']} images"}
        for row in pivot_result(analysis, "by_images") or ()
    ]
    totals = [row for row in pivot_result(analysis, "main") or () if row["subject"] == TOTAL]
    plots = (
        ("accuracy", totals, ("model", "setting", "acc", "lo", "hi", "simulated"), "setting"),
        (
            "by_images",
            images,
            ("model", "images", "setting", "bin", "acc", "n", "simulated"),
            "bin",
        ),
    )
    for model in dict.fromkeys(cell.model for cell in results.cells):
        for name, rows, columns, bar in plots:
            own = [
                {column: row[column] for column in columns}
                for row in rows
                if row["model"] == model and row["rules"] == results.main_rules
            ]
            files.append(f"plots/{name}/{model}.csv")
            write_csv(out / files[-1], own, ["model", bar, "acc"])
    return files
