"""Summaries of several samples of a problem: runs, pass@k, consistency@k, selection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omibench.params.cell import Cell
from omibench.results.load import Results
from omibench.results.study_files import StudyFiles
from omibench.stages.analyze.tables.accuracy import cell_names, round_number
from omibench.statistics.intervals import Estimate, clustered_wilson
from omibench.statistics.samples import Runs, summarise_runs

if TYPE_CHECKING:
    import polars as pl

RUNS = "runs"
COLUMNS = (
    "model", "label", "group", "setting", "rules", "metric", "k", "n", "value", "lo", "hi", "sd",
    "sem", "prompts", "simulated",
)  # fmt: skip


class SampleScore(NamedTuple):
    """One metric of a cell at one k under one scorer, averaged over `value.n` problems.

    `metric` is `pass`, `consistency`, the setting's own (`first`, `majority`, ...), or `runs`: the
    mean over k whole runs, whose spread is in `runs`. `prompts` is the mean number of marking
    prompts per problem, if a reward model marks the candidates.
    """

    cell: Cell
    rules: str
    metric: str
    k: int
    value: Estimate
    runs: Runs | None
    simulated: bool
    prompts: float | None = None


def sample_scores(results: Results, folder: Path) -> list[SampleScore]:
    """Return every metric of the cells with several samples; `folder` is that of `aggregate`.

    A cell that was not aggregated has only its repeated runs.
    """
    table = []
    files = StudyFiles(folder.parent, aggregate=folder)
    cells = results.study.aggregated_cells
    settings = list(dict.fromkeys(cell.setting for cell in cells))
    sampled = results.verdicts.filter(_in_values("setting", settings))
    parts = sampled.partition_by("model", "setting", as_dict=True) if cells else {}
    for cell in cells:
        cell_verdicts = parts.get(cell, sampled.clear())
        clusters = dict(cell_verdicts.select("id", "cluster").iter_rows())
        for rules in results.rules:
            rows = cell_verdicts.filter(rules=rules)
            if rows.height:
                table.append(_runs(results, cell, rules, rows))
        aggregates = files.read_aggregates(cell)
        if aggregates is not None:
            order = aggregates.filter(_in_values("rules", results.rules))
            for (rules, metric, k), part in order.partition_by(
                "rules", "metric", "k", as_dict=True, maintain_order=True
            ).items():
                value = clustered_wilson(
                    part["value"].to_list(), [clusters[i] for i in part["id"]],
                    results.study.analyze.confidence,
                )  # fmt: skip
                simulated = results.simulated_cells[cell] or bool(part["simulated"].any())
                score = SampleScore(cell, str(rules), str(metric), int(k), value, None, simulated)
                table.append(score._replace(prompts=_average_prompts(part)))
    return table


def sample_records(results: Results, rows: list[SampleScore]) -> list[dict[str, Any]]:
    """Return the rows of samples.csv; shares in [0, 1] with 6 digits."""
    return [
        {
            **cell_names(results, s.cell),
            "rules": s.rules,
            "metric": s.metric,
            "k": s.k,
            "n": s.value.n,
            "value": round_number(s.value.mean),
            "lo": round_number(s.value.lo),
            "hi": round_number(s.value.hi),
            "sd": round_number(s.runs.sd) if s.runs else None,
            "sem": round_number(s.runs.sem) if s.runs else None,
            "prompts": None if s.prompts is None else round_number(s.prompts),
            "simulated": s.simulated,
        }
        for s in rows
    ]


def _average_prompts(rows: pl.DataFrame) -> float | None:
    """Return the mean over the problems sent to a reward model."""
    counts = [count for count in rows["prompts"].to_list() if count]
    return sum(counts) / len(counts) if counts else None


def _runs(results: Results, cell: Cell, rules: str, rows: pl.DataFrame) -> SampleScore:
    """Return the runs: each sample index is one run over all problems."""
    import polars as pl

    means = rows.group_by("index", maintain_order=True).agg(pl.col("verdict").mean())
    runs = summarise_runs(means["verdict"].to_list())
    problems = rows.group_by("id", maintain_order=True).agg(
        pl.col("verdict").mean(), pl.col("cluster").first()
    )
    value = clustered_wilson(
        problems["verdict"].to_list(), problems["cluster"].to_list(),
        results.study.analyze.confidence,
    )  # fmt: skip
    return SampleScore(cell, rules, RUNS, runs.runs, value, runs, results.simulated_cells[cell])


def _in_values(column: str, values: list[str]) -> pl.Expr:
    import polars as pl

    return pl.col(column).is_in(values)
