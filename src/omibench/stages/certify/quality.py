"""Quality of a judge measured by labels, in total and by answer type."""

from __future__ import annotations

import polars as pl

from omibench.results.grouped import estimate_accuracy
from omibench.schemas.certificate import ALL_TYPES, JudgeQuality
from omibench.statistics.agreement import judge_quality
from omibench.statistics.intervals import Estimate


def quality_by_kind(
    labelled: pl.DataFrame, judged: pl.DataFrame, confidence: float
) -> dict[str, JudgeQuality]:
    """Return the judge's quality by answer type, and for `all`.

    `labelled` has `label`, `by_judge`, `cluster` and `answer_type`; `judged`, with everything that
    the judge scored, has `id`, `verdict`, `cluster` and `answer_type`, and optionally `outcome`.
    """
    kinds = [ALL_TYPES, *sorted(labelled["answer_type"].unique())]
    return {
        kind: _measure_quality(
            labelled if kind == ALL_TYPES else labelled.filter(answer_type=kind),
            judged if kind == ALL_TYPES else judged.filter(answer_type=kind),
            confidence,
        )
        for kind in kinds
    }


def _measure_quality(
    labelled: pl.DataFrame, judged: pl.DataFrame, confidence: float
) -> JudgeQuality:
    if "outcome" in judged.columns:
        judged = judged.filter(judged["outcome"] == "scored")
    accuracy: Estimate = estimate_accuracy(judged, confidence)
    return judge_quality(
        labelled["label"].to_list(),
        labelled["by_judge"].to_list(),
        labelled["cluster"].to_list(),
        accuracy,
        confidence,
    )
