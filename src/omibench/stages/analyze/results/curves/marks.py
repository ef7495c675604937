"""What rationales are worth: marks of their quality, and of how they follow the reference."""

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
    """Tabulate the mean marks that judges give the rationales of each cell.

    Args:
        analysis: The study's results.

    Returns:
        A row per cell and mark, whose name is the `metric` (five dimensions and an overall mark of
        quality, and alignment with the reference): from 1 to 5, over problems, each the mean of its
        samples. `instrument` is the judge's, `judge` who was asked, `judge_failed` judgements that
        hold no mark, `calibrated` whether people's marks certify the judge. None where nobody
        marked rationales.
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
