"""The quality of rationales and their alignment with the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omibench.schemas.marks import MARKS_BY_INSTRUMENT
from omibench.stages.analyze.results.curves.points import frame_cells
from omibench.stages.analyze.results.result import result

if TYPE_CHECKING:
    import polars as pl

    from omibench.stages.analyze.analysis import Analysis

INSTRUMENTS = {mark: name for name, marks in MARKS_BY_INSTRUMENT.items() for mark in marks}


@result(
    "rationale-marks",
    "Quality of rationales and their alignment with the reference, by model",
    source="OMIBench, B.2",
)
def tabulate_marks(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the judges' mean marks for the rationales of each cell.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell and mark, which is the `metric` (five dimensions of quality, an overall
        mark, and alignment with the reference): from 1 to 5, averaged over samples and then
        problems. `instrument` is the judge's instrument, `judge` its model, `judge_failed` the
        number of judgements without a mark, `calibrated` whether a certificate from human marks
        exists. None if no rationales were marked.
    """
    import polars as pl

    rows = [
        {
            "model": mark.cell.model, "setting": mark.cell.setting, "metric": mark.mark,
            "estimate": mark.mean.mean, "low": mark.mean.lo, "high": mark.mean.hi,
            "n": mark.mean.n, "clusters": mark.clusters, "instrument": INSTRUMENTS[mark.mark],
            "judge": mark.judge, "judge_failed": mark.failed,
            "calibrated": mark.certificate is not None, "simulated": mark.simulated,
        }
        for mark in analysis.reasoning.marks
    ]  # fmt: skip
    if not rows:
        return None
    labels = frame_cells(analysis).select("model", "setting", "label", "setting_label")
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.join(labels, on=["model", "setting"], how="left", maintain_order="left")
