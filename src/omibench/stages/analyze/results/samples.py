"""Several samples of a problem: runs, pass@k, votes and selection, and their curves over k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from omibench.answers.scorers.registry import SCORERS
from omibench.params.setting import Cell
from omibench.results.grouped import average_samples, estimate_groups
from omibench.results.load import Results
from omibench.results.statistics.regression import fit_log_trend
from omibench.results.statistics.samples import (
    AnswerCounts,
    agreement_curve,
    pass_at_k,
    summarise_runs,
    vote_curve,
)
from omibench.results.study_files import StudyFiles
from omibench.schemas.verdict import RIGHT
from omibench.stages.aggregate.votes import (
    Sample,
    drop_invalid,
    group_answers,
    make_equivalence,
    make_validity,
)
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL, sort_cells
from omibench.stages.analyze.results.curve_series import label_cells
from omibench.stages.analyze.results.result import result, write_estimate

RUNS = "runs"
FIT = (1, 3, 4, 8, 16)
"""The values of k used to fit the line (OMIBench, eq. 12: no vote is defined for 2)."""
SLOPE, INTERCEPT = "slope", "intercept"
_METRIC = (*CELL, "metric")
MOST_SAMPLES = 16
"""The largest k of a curve (OMIBench, H.3)."""
PASS, MAJORITY, CONSISTENCY = "pass@k", "majority@k", "consistency@k"
_PUBLISHED = "published"


@result("samples", "Runs, pass@k, consistency@k and the samples that settings choose")
def tabulate_choices(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the repeated runs of cells with several samples, and the stage `aggregate`.

    Args:
        analysis: The study's results.

    Returns:
        By cell and scorer: the metric `runs`, the mean over `k` whole runs (run i is sample i of
        every problem) with their standard deviation `sd` and standard error `sem`; and, for cells
        that were aggregated, `pass`, `consistency` and the setting's own choice (`majority`, ...)
        at each `k`, with `prompts`, the mean number of marking prompts of a problem, if a reward
        model marks the candidates. None if no cell draws several samples.
    """
    results = analysis.results
    cells = results.study.aggregated_cells
    names = pl.DataFrame(cells, ["model", "setting"], orient="row") if cells else None
    if names is None:
        return None
    drawn = results.verdicts.join(names, on=["model", "setting"], how="semi").filter(
        pl.col("rules").is_in(results.rules)
    )
    parts = [sort_cells(analysis, _tabulate_runs(analysis, drawn))]
    files = StudyFiles(analysis.folder)
    by = [*CELL, "metric", "k"]
    chosen = [
        frame.filter(pl.col("rules").is_in(results.rules)).select(
            *by, "id", "value", "simulated", "prompts"
        )
        for cell in cells
        if (frame := files.read_shares(cell)) is not None
    ]
    if chosen:
        values = analysis.add_clusters(pl.concat(chosen))
        sent = pl.col("prompts").filter(pl.col("prompts") > 0)
        facts = values.group_by(by).agg(sent.mean(), pl.col("simulated").any())
        estimates = estimate_groups(values, by, analysis.confidence, "value").drop("n_eff")
        parts.append(estimates.join(facts, on=by, maintain_order="left"))
    table = analysis.mark_simulated(
        pl.concat(parts, how="diagonal_relaxed").rename({"simulated": "by_simulated"})
    )
    marked = table.with_columns(pl.col("simulated") | pl.col("by_simulated").fill_null(value=False))
    order = names.with_row_index("_cell")
    placed = marked.drop("by_simulated").join(order, on=["model", "setting"], maintain_order="left")
    return placed.sort("_cell", maintain_order=True).drop("_cell")


def _tabulate_runs(analysis: Analysis, verdicts: pl.DataFrame) -> pl.DataFrame:
    items = average_samples(verdicts, CELL)
    means = verdicts.group_by(*CELL, "index", maintain_order=True).agg(pl.col("verdict").mean())
    spreads = [
        (*keys, RUNS, runs.runs, runs.sd, runs.sem, False)
        for keys, part in means.group_by(CELL, maintain_order=True)
        for runs in (summarise_runs(part["verdict"].to_list()),)
    ]
    names = [*CELL, "metric", "k", "sd", "sem", "simulated"]
    facts = pl.DataFrame(spreads, names, orient="row")
    estimates = estimate_groups(items, CELL, analysis.confidence).drop("n_eff")
    return estimates.join(facts, on=CELL, maintain_order="left")


@result(
    "accuracy-by-k",
    "pass@k, majority@k and consistency@k by the number of samples, and their slopes",
    source="OMIBench, H.3 and figure 5c; USNCO-V, eqs. 3 to 5; EMMA, section 4.1",
)
def tabulate_samples(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate pass@k, majority@k and consistency@k for k = 1 to 16.

    Each value is the mean over all subsets of k of the n samples, which is unbiased for k fresh
    samples. Lines are fitted by least squares on log2 k at k = 1, 3, 4, 8 and 16, up to the number
    of samples.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell with several samples, scorer, metric (`pass@k`, `majority@k`: the verdict
        of the most frequent answer, ties drawn; `consistency@k`: the share of samples that give it)
        and `k`. Rows with the metric `slope` (gain per doubling, with `r_squared`) and `intercept`
        (at k = 1) describe the line through the metric in `curve`. None if no problem has several
        samples.
    """
    values = _frame_worths(analysis)
    if values.is_empty():
        return None
    estimates = estimate_groups(values, [*_METRIC, "k"], analysis.confidence, "value").drop("n_eff")
    lines = pl.DataFrame(_fit_lines(analysis, values), infer_schema_length=None)
    table = pl.concat([estimates.with_columns(curve=pl.col("metric")), lines], how="diagonal")
    return analysis.mark_simulated(label_cells(analysis, table))


def _frame_worths(analysis: Analysis) -> pl.DataFrame:
    """Return a row per problem of a cell, scorer, metric and k, with the problem's cluster."""
    results = analysis.results
    settings = {cell.setting for cell in results.study.aggregated_cells}
    verdicts = results.verdicts.filter(pl.col("setting").is_in(settings))
    parts = verdicts.partition_by("model", "setting", as_dict=True)
    rows = [
        (cell.model, cell.setting, *worth)
        for cell in results.study.aggregated_cells
        if (cell.model, cell.setting) in parts
        for worth in measure_samples(results, cell, parts[cell.model, cell.setting])
    ]
    schema: dict[str, pl.DataType] = {
        **dict.fromkeys(("model", "setting", "rules", "id", "metric"), pl.String()),
        "value": pl.List(pl.Float64),
    }
    return analysis.add_clusters(
        pl.DataFrame(rows, schema=schema, orient="row")
        .with_columns(k=pl.int_ranges(1, pl.col("value").list.len() + 1))
        .explode("value", "k")
        .drop_nulls("k")
    )


def _fit_lines(analysis: Analysis, values: pl.DataFrame) -> list[dict[str, Any]]:
    points = values.filter(pl.col("k").is_in(FIT))
    rows: list[dict[str, Any]] = []
    for keys, part in points.group_by(*_METRIC, maintain_order=True):
        wide = part.sort("k").group_by("id", "cluster", maintain_order=True).agg("value")
        places = part["k"].unique().sort().to_list()
        matrix = np.array(wide["value"].to_list(), dtype=float)
        clusters = wide["cluster"].to_list()
        trend = fit_log_trend(places, matrix, clusters, analysis.confidence)
        if trend is None:
            continue
        *cell, curve = keys
        facts = dict(zip(CELL, cell, strict=True)) | {"curve": curve}
        for metric, term in ((SLOPE, trend.slope), (INTERCEPT, trend.intercept)):
            facts |= {"metric": metric, "clusters": len(set(clusters)), "n": term.n}
            rows.append(facts | write_estimate(term) | {"r_squared": trend.r_squared})
    return rows


class Worth(NamedTuple):
    """One metric of one problem's samples, for k = 1, 2, ... in order."""

    rules: str
    id: str
    metric: str
    values: tuple[float, ...]


class _Ballot(NamedTuple):
    """The class of equal answers of each sample of a problem; -1 if it has no answer."""

    classes: tuple[int, ...]
    agreeing: tuple[int, ...]
    """The sizes of the classes of valid answers, as counted by `aggregate.votes.consistency`: for
    multiple choice, only answers that are an option."""


def measure_samples(results: Results, cell: Cell, verdicts: pl.DataFrame) -> Iterator[Worth]:
    """Measure pass@k, the majority's verdict and consistency@k over all subsets of k samples.

    Votes are counted as in the stage `aggregate`: the setting's `sameness` decides which answers
    are equal. Under a judge or published verdicts, the answers extracted by the first scorer vote.

    Args:
        results: The study's results.
        cell: A cell with several samples of a problem.
        verdicts: All verdicts of the cell.

    Yields:
        For each scorer and problem, three metrics for k up to 16 or the fewest samples of a
        problem; only pass@k if no scorer extracts answers.
    """
    scorers = verdicts["rules"].unique(maintain_order=True).to_list()
    base = next((r for r in results.study.score.scorers if r != _PUBLISHED and r in scorers), None)
    samples = {
        scorer: _collect_samples(verdicts, scorer) for scorer in scorers if "/" not in scorer
    }
    fewest = min((len(s) for problems in samples.values() for s in problems.values()), default=0)
    most = min(fewest, MOST_SAMPLES)
    sameness = results.study.settings[cell.setting].aggregate.sameness

    @cache
    def cast_votes(voter: str, problem: str) -> _Ballot:
        return _cast_votes(results, problem, samples[voter][problem], sameness)

    for scorer, problems in samples.items():
        voter = scorer if scorer in SCORERS and scorer != _PUBLISHED else base
        for problem, drawn in problems.items():
            scores = [sample.verdict for sample in drawn]
            right = sum(score >= RIGHT for score in scores)
            passes = tuple(pass_at_k(len(scores), right, k) for k in range(1, most + 1))
            yield Worth(scorer, problem, PASS, passes)
            if voter is None or problem not in samples[voter]:
                continue
            ballot = cast_votes(voter, problem)
            yield Worth(scorer, problem, MAJORITY, _count_votes(ballot.classes, scores, most))
            counts = AnswerCounts(ballot.agreeing, len(drawn) - sum(ballot.agreeing))
            yield Worth(scorer, problem, CONSISTENCY, agreement_curve(counts, most))


def _collect_samples(verdicts: pl.DataFrame, scorer: str) -> dict[str, list[Sample]]:
    samples: dict[str, list[Sample]] = {}
    columns = ("id", "index", "extracted", "outcome", "verdict")
    for name, index, extracted, outcome, verdict in (
        verdicts.filter(rules=scorer).sort("index").select(columns).iter_rows()
    ):
        answer = extracted if outcome == "scored" else None
        samples.setdefault(name, []).append(Sample(index, answer, verdict))
    return samples


def _cast_votes(
    results: Results, problem: str, samples: Sequence[Sample], sameness: str | None
) -> _Ballot:
    answer = results.answers[problem]
    are_same = make_equivalence(sameness, answer.answer_type, answer.choices)
    groups = group_answers(samples, are_same)
    home = {m.index: place for place, group in enumerate(groups) for m in group.members}
    valid = drop_invalid(samples, make_validity(answer.choices))
    sizes = sorted(len(group.members) for group in group_answers(valid, are_same))
    return _Ballot(tuple(home.get(s.index, -1) for s in samples), tuple(sizes))


def _count_votes(classes: Sequence[int], verdicts: Sequence[float], most: int) -> tuple[float, ...]:
    members: dict[int, list[float]] = {}
    for place, verdict in zip(classes, verdicts, strict=True):
        members.setdefault(place, []).append(verdict)
    invalid = members.pop(-1, [])
    groups = sorted((len(scores), sum(scores) / len(scores)) for scores in members.values())
    mean = sum(invalid) / len(invalid) if invalid else 0.0
    counts = AnswerCounts(tuple(size for size, _ in groups), len(invalid))
    return vote_curve(counts, tuple(score for _, score in groups), mean, most)
