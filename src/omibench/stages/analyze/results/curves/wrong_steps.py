"""The share of key steps of rationales with an error, as labelled by annotators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omibench.params.cell import Cell
from omibench.results.four_way import RESPONSE
from omibench.stages.analyze.results.curves.points import frame_cells
from omibench.stages.analyze.results.result import result
from omibench.stages.certify.labels import STEPS, WRONG_STEPS, read_labels
from omibench.stages.certify.matching import match_labels
from omibench.statistics.intervals import clustered_ratio

if TYPE_CHECKING:
    import polars as pl

    from omibench.results.load import Results
    from omibench.stages.analyze.analysis import Analysis

_SUMMED = ("setting", "model")


@result(
    "wrong-steps",
    "Steps of rationales with an error, as labelled by annotators",
    source="OMIBench, section 5 and B.2",
)
def tabulate_wrong_steps(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the share of labelled key steps with an error.

    Args:
        analysis: The study's results; the labels come from `judge.errors.labels`, otherwise from
            `certify.labels`, with the columns `steps` and `wrong_steps`.

    Returns:
        One row per cell, and one per setting over all labelled models (`model` is empty), as in the
        paper's sum over two: the metric `wrong-steps`, wrong steps over all steps, with an interval
        clustered by problem; `n` is the number of problems, and `steps` and `rationales` are the
        numbers labelled. None without labels of steps.
    """
    import polars as pl

    steps = _read_steps(analysis.results)
    if steps is None:
        return None
    clusters = analysis.items.select("id", "cluster")
    responses = steps.join(clusters, on="id", maintain_order="left")
    rows = []
    for by in (_SUMMED, _SUMMED[:1]):
        for keys, part in responses.group_by(*by, maintain_order=True):
            groups = part["cluster"].to_list()
            share = clustered_ratio(
                part[WRONG_STEPS].to_list(), part[STEPS].to_list(), groups, analysis.confidence
            )
            rows.append(
                {
                    "model": "", **dict(zip(by, keys, strict=True)), "metric": "wrong-steps",
                    "estimate": share.mean, "low": share.lo, "high": share.hi,
                    "n": part["id"].n_unique(), "clusters": len(set(groups)), "steps": share.n,
                    "rationales": part.height, "simulated": bool(part["simulated"].any()),
                }
            )  # fmt: skip
    labels = frame_cells(analysis).select("model", "setting", "label", "setting_label")
    return pl.DataFrame(rows).join(
        labels, on=["model", "setting"], how="left", maintain_order="left"
    )


def _read_steps(results: Results) -> pl.DataFrame | None:
    """Return a row per rationale with labelled steps: `RESPONSE`, the counts and `simulated`."""
    import polars as pl

    errors = results.study.judge.errors
    file = (errors.labels if errors else None) or results.study.certify.labels
    rows = [row for row in read_labels(Path(file)) if row.steps is not None] if file else []
    if not rows or file is None:
        return None
    matched = match_labels(rows, results.read_responses(), Path(file), "analyze")
    wrong, every = matched.column(WRONG_STEPS), matched.column(STEPS)
    simulated = {label.place: label.row.simulated for label in matched.labels}
    counts = [
        {
            **(place_of := dict(zip(RESPONSE, place, strict=True))),
            STEPS: every[place],
            WRONG_STEPS: wrong[place],
            "simulated": simulated[place]
            or results.has_synthetic_problems
            or results.simulated_cells[Cell(place_of["model"], place_of["setting"])],
        }
        for place in every
    ]
    return pl.DataFrame(counts) if counts else None
