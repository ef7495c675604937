"""The cells that `infer.adaptive` stopped, each beside the leader that it was behind."""

from __future__ import annotations

from typing import Any

import polars as pl

from omibench.params.setting import Cell
from omibench.results.grouped import average_samples, estimate_accuracy
from omibench.results.load import Results, StoppedCells
from omibench.results.statistics.paired import paired_difference
from omibench.schemas.adaptive import Look, StopRecord
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import result, write_estimate

NOT_FIRST = "not first"


@result("stopped", "Cells stopped by looks, compared with the leader on the problems of both")
def tabulate_stopped(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the cells that were behind the leader at a look and not asked any further.

    They have no rank, and are in no other table. `estimate` is the accuracy over the n problems of
    the look; the difference, leader minus cell, is over the same problems. Neither interval is
    corrected for the choice of the moment. What was saved is the number of requests that the cell
    would have needed for the rest, and their dollars at its own mean cost.

    Args:
        analysis: The study's results.

    Returns:
        One row per stopped cell, in the order of the looks; None without any.
    """
    stopped = analysis.results.stopped
    if stopped is None:
        return None
    present = {Cell(*names) for names in stopped.verdicts.select("model", "setting").rows()}
    rows = [
        _describe_stop(analysis, stopped, look, stop)
        for look in stopped.looks
        for stop in look.stopped
        if Cell(*stop.cell) in present
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _describe_stop(
    analysis: Analysis, stopped: StoppedCells, look: Look, stop: StopRecord
) -> dict[str, Any]:
    results, cell, level = analysis.results, Cell(*stop.cell), analysis.confidence
    mine = _select(results, look.scorer, cell)
    estimate = estimate_accuracy(mine, level)
    both = _average(mine).join(
        _average(_select(results, look.scorer, Cell(*stop.behind))), on="id", suffix="_leader"
    )
    leading, own = both["verdict_leader"].to_numpy(), both["verdict"].to_numpy()
    difference = paired_difference(leading, own, both["cluster"].to_list(), level)
    responses = stopped.responses.filter(**cell._asdict())
    saved = round(responses.height * (look.of - look.problems) / look.problems)
    usd = responses["cost_usd"].mean()
    return {
        **cell._asdict(),
        "rules": look.scorer,
        "metric": "accuracy",
        **write_estimate(estimate),
        "n": mine["id"].n_unique(),
        "clusters": mine["cluster"].n_unique(),
        "simulated": mine["simulated"].any() or results.has_synthetic_problems,
        "of": look.of,
        "rank": NOT_FIRST,
        "look": look.look,
        "stopped_at": look.problems / look.of,
        "behind_model": stop.behind[0],
        "behind_setting": stop.behind[1],
        "difference": difference.value,
        "difference_low": difference.lo,
        "difference_high": difference.hi,
        "p": stop.p,
        "level": look.level,
        "saved_requests": saved,
        "saved_usd": None if usd is None else saved * float(usd),  # type: ignore[arg-type]
    }


def _select(results: Results, rules: str, cell: Cell) -> pl.DataFrame:
    """Return a cell's verdicts, whether it was stopped or not."""
    found = results.select_verdicts(rules, cell)
    if found.height or results.stopped is None:
        return found
    return results.stopped.verdicts.filter(**cell._asdict(), rules=rules)


def _average(verdicts: pl.DataFrame) -> pl.DataFrame:
    return average_samples(verdicts, ["model", "setting"]).select("id", "cluster", "verdict")
