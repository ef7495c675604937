"""Accuracies over all problems of cells that answered a random sample of them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from omibench.errors import FileFormatError
from omibench.params.study_params import Limit
from omibench.results.grouped import average_samples, estimate_accuracy
from omibench.results.statistics.sampled import estimate_from_sample
from omibench.results.study_files import StudyFiles
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.result import frame_rows, result, write_estimate

KEY: Final = "analyze.full_results"
_LOG = logging.getLogger("omibench")


@result("sampled", "Accuracy over all problems, from a sample and the answers of other models")
def tabulate_sampled(analysis: Analysis) -> pl.DataFrame | None:
    """Estimate accuracies over all problems in a study with `study.limit: {sample: N}`.

    A problem is as hard as other models found it: those of `analyze.full_results` that answered all
    problems, by the same scorer and without the model itself
    (`statistics.sampled.estimate_from_sample`).

    Args:
        analysis: The study's results.

    Returns:
        One row per cell that was asked the whole sample, by the main scorer: `estimate` over all
        problems, `n` in the sample, `of` all, `n_eff`, `plain`, `plain_low` and `plain_high` of the
        sample alone, and the number of `others`. None without such a study or folder.

    Raises:
        FileFormatError: The folder is of another dataset, or no cell in it answered all problems.
        UntrustedError: A file in the folder was edited or exchanged.
    """
    folder, limit = analysis.study.analyze.full_results, analysis.study.study.limit
    if folder is None or analysis.results.partial is None:
        return None
    if limit is None or limit.sample is None:
        _LOG.warning("%s: is not used, since study.limit is not a random `sample`", KEY)
        return None
    full = _read_full(analysis, Path(folder))
    rows = _estimate_cells(analysis, limit, full)
    return frame_rows(rows)


def _read_full(analysis: Analysis, folder: Path) -> pl.DataFrame:
    """Read the mean verdict of each problem in the cells that answered all."""
    results, files = analysis.results, StudyFiles(folder)
    mine, theirs = results.manifest, files.manifest
    hashes = ("questions_sha256", "answers_sha256")
    if any(getattr(mine, name) != getattr(theirs, name) for name in hashes):
        raise FileFormatError(
            f"{KEY}: {folder} is of other problems or gold answers than this study; give the "
            "results of a study of the same frozen dataset"
        )
    found = []
    for cell in files.scored_cells:
        responses = files.read_responses(cell, with_texts=False)
        verdicts = files.read_verdicts(cell, responses).filter(
            pl.col("counts") & (pl.col("rules") == results.main_rules)
        )
        if verdicts["id"].n_unique() == len(results.answers):
            means = average_samples(verdicts.with_columns(cluster="id"), ["model", "setting"])
            found.append(means.with_columns(simulated=pl.lit(responses["simulated"].any())))
    if not found:
        raise FileFormatError(
            f"{KEY}: no cell of {folder} has verdicts of {results.main_rules} on all "
            f"{len(results.answers):,} problems; give the results of a study without a limit"
        )
    return pl.concat(found)


def _estimate_cells(analysis: Analysis, limit: Limit, full: pl.DataFrame) -> list[dict[str, Any]]:
    results, level = analysis.results, analysis.confidence
    ids, clusters = (analysis.items[name].to_list() for name in ("id", "cluster"))
    sample = limit.select(ids)
    rows = []
    for cell in results.cells:
        mine = results.select_verdicts(results.main_rules, cell)
        others = full.filter(pl.col("model") != cell.model)
        if {*mine["id"]} != sample or others.is_empty():
            continue
        own = dict(average_samples(mine, []).select("id", "verdict").rows())
        hard = dict(others.group_by("id").agg(pl.col("verdict").mean()).rows())
        estimate = estimate_from_sample(
            np.array([own.get(id, np.nan) for id in ids]),
            np.array([hard[id] for id in ids]),
            clusters,
            level,
        )
        plain = estimate_accuracy(mine, level)
        simulated = mine["simulated"].any() or others["simulated"].any()
        rows.append(
            {
                **cell._asdict(), "rules": results.main_rules,
                "metric": "accuracy", **write_estimate(estimate), "n": estimate.n,
                "clusters": mine["cluster"].n_unique(),
                "simulated": simulated or results.has_synthetic_problems,
                "of": len(ids), "n_eff": estimate.n_eff, "plain": plain.mean,
                "plain_low": plain.lo, "plain_high": plain.hi,
                "others": others["model"].n_unique(),
            }
        )  # fmt: skip
    return rows
