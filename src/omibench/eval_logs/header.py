"""Header of a log: study, dataset, model, and the mean verdict of each scorer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from omibench import __version__
from omibench.eval_logs.cell_rows import CellRows, Values
from omibench.eval_logs.sample import write_usage
from omibench.schemas.tables import FrozenManifest
from omibench.stages.analyze.claims import SIMULATED

FORMAT_VERSION: Final = 2
"""Version of Inspect's log format."""
GOLD_IS_PARTS: Final = {"gold": "parts"}
"""Marks a target of several texts as one answer in parts; other logs mean alternatives."""


def name_model(rows: CellRows) -> str:
    """Return the model name of a cell in its log; simulated responses are marked."""
    return f"simulated/{rows.cell.model}" if rows.simulated_responses else rows.cell.model


def write_spec(rows: CellRows, manifest: FrozenManifest) -> Values:
    """Return the evaluated task as an `EvalSpec`.

    Args:
        rows: The cell.
        manifest: Dataset of the cell.

    Returns:
        JSON-compatible values; equal results have equal ids.
    """
    cell = rows.cell
    ids = rows.responses["id"].unique(maintain_order=True).to_list()
    marked = rows.simulated_responses or rows.simulated_verdicts
    return {
        "eval_id": _make_id("eval", *cell, *rows.responses["key"]),
        "run_id": _make_id("run", manifest.questions_sha256, manifest.answers_sha256),
        "task_id": _make_id("task", cell.setting, manifest.questions_sha256),
        "created": rows.written.isoformat(timespec="seconds"),
        "task": f"{manifest.name}-{cell.setting}",
        "task_version": manifest.version,
        "task_args": {"setting": cell.setting},
        "tags": [SIMULATED] if marked else [],
        "dataset": {
            "name": manifest.name,
            "samples": len(ids),
            "sample_ids": ids,
            "shuffled": False,
        },
        "model": name_model(rows),
        "config": {"epochs": _count_samples(rows)},
        "packages": {"omibench": __version__},
        "metadata": {
            "omibench": GOLD_IS_PARTS,
            "questions_sha256": manifest.questions_sha256,
            "answers_sha256": manifest.answers_sha256,
            "licence": manifest.licence,
            "synthetic": manifest.synthetic,
            "simulated_responses": rows.simulated_responses,
            "simulated_verdicts": rows.simulated_verdicts,
        },
    }


def write_header(rows: CellRows, spec: Values) -> Values:
    """Return a log without its samples as an `EvalLog`.

    Args:
        rows: The cell.
        spec: Output of `write_spec`.
    """
    responses = rows.responses.height
    usage = write_usage(rows.responses.select(
        "input_tokens", "output_tokens", "reasoning_tokens", "cost_usd"
    ).to_dicts())  # fmt: skip
    return {
        **write_start(spec),
        "status": "success",
        "results": {
            "total_samples": responses,
            "completed_samples": responses,
            "scores": _write_scores(rows),
        },
        "stats": {
            # The start of a cell is unknown: without times no duration is shown.
            "started_at": "",
            "completed_at": "",
            "model_usage": {spec["model"]: usage} if usage else {},
        },
    }


def write_start(spec: Values) -> Values:
    """Return the part of a log before its first sample.

    Args:
        spec: Output of `write_spec`.
    """
    return {"version": FORMAT_VERSION, "eval": spec, "plan": {"name": "omibench", "steps": []}}


def _write_scores(rows: CellRows) -> list[Values]:
    # A problem counts once, however many samples it has.
    scores = (
        rows.verdicts.filter("counts")
        .group_by("rules", "id", maintain_order=True)
        .agg(pl.col("verdict").mean(), scored=pl.len())
        .group_by("rules")
        .agg("verdict", pl.col("scored").sum())
        .sort("rules")
    )
    return [_write_score(rules, means, n, rows) for rules, means, n in scores.iter_rows()]


def _write_score(rules: str, verdicts: Sequence[float], scored: int, rows: CellRows) -> Values:
    accuracy = {"name": "accuracy", "value": math.fsum(verdicts) / len(verdicts), "params": {}}
    score: dict[str, Any] = {
        "name": rules,
        "scorer": rules,
        "scored_samples": scored,
        "unscored_samples": rows.responses.height - scored,
        "params": {},
        "metrics": {"accuracy": accuracy},
    }
    if _count_samples(rows) == 1:
        return score
    # Only the chosen sample of a problem has a score, so every reducer returns it.
    reducer = "mode" if rows.aggregate == "majority" else "mean"
    return score | {"reducer": reducer, "metadata": {"aggregate": rows.aggregate}}


def _count_samples(rows: CellRows) -> int:
    highest = rows.responses["index"].max()
    return highest + 1 if isinstance(highest, int) else 1


def _make_id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]
