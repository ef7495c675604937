"""Training losses of the models that the study tuned."""

from __future__ import annotations

import polars as pl

from omibench.schemas.tables import read_jsonl
from omibench.schemas.tuning import LossRow
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import frame_rows, result


@result("tuning-loss", "Training loss of tuned models", source="OMIBench, 6.4 and table 9")
def tabulate_losses(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the training loss of each model of `tune` by step.

    Args:
        analysis: The study's results.

    Returns:
        One row per model and logged step, with the metric `cross-entropy`: its mean per token of
        the answers since the row before, in nats; `step`, `epoch` and `lr`. None without a model.
    """
    study = analysis.study
    rows = [
        {
            "model": name, "metric": "cross-entropy",
            "estimate": row.loss, "step": row.step, "epoch": row.epoch, "lr": row.lr,
            "simulated": False,
        }
        for name in study.tune
        for path in [analysis.folder / "tune" / name / "loss.jsonl"]
        for row in (read_jsonl(path, LossRow) if path.is_file() else ())
    ]  # fmt: skip
    return frame_rows(rows)
