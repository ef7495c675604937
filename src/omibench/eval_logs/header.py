"""Header of a log: study, dataset, model, and the mean verdict of each scorer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any, Final

from omibench import __version__
from omibench.eval_logs.cell_files import CellFiles, FrozenItems, Values
from omibench.eval_logs.sample import write_usage
from omibench.stages.analyze.claims import SIMULATED

FORMAT_VERSION: Final = 2
"""Version of Inspect's log format."""
GOLD_IS_PARTS: Final = {"gold": "parts"}
"""Marks a target of several texts as one answer in parts; other logs mean alternatives."""


def name_model(files: CellFiles) -> str:
    """Return the model name of a cell in its log; simulated responses are marked."""
    return f"simulated/{files.cell.model}" if files.simulated_responses else files.cell.model


def write_spec(files: CellFiles, items: FrozenItems) -> Values:
    """Return the evaluated task as an `EvalSpec`.

    Args:
        files: Files of the cell.
        items: Dataset of the cell.

    Returns:
        JSON-compatible values; equal results have equal ids.
    """
    manifest = items.manifest
    cell = files.cell
    ids = files.responses["id"].unique(maintain_order=True).to_list()
    marked = files.simulated_responses or files.simulated_verdicts
    return {
        "eval_id": _make_id("eval", *cell, *files.responses["key"]),
        "run_id": _make_id("run", manifest.questions_sha256, manifest.answers_sha256),
        "task_id": _make_id("task", cell.setting, manifest.questions_sha256),
        "created": files.written.isoformat(timespec="seconds"),
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
        "model": name_model(files),
        "config": {"epochs": _count_samples(files)},
        "packages": {"omibench": __version__},
        "metadata": {
            "omibench": GOLD_IS_PARTS,
            "questions_sha256": manifest.questions_sha256,
            "answers_sha256": manifest.answers_sha256,
            "licence": manifest.licence,
            "synthetic": manifest.synthetic,
            "simulated_responses": files.simulated_responses,
            "simulated_verdicts": files.simulated_verdicts,
        },
    }


def write_header(files: CellFiles, spec: Values) -> Values:
    """Return a log without its samples as an `EvalLog`.

    Args:
        files: Files of the cell.
        spec: Output of `write_spec`.
    """
    responses = files.responses.height
    usage = write_usage(files.responses.select(
        "input_tokens", "output_tokens", "reasoning_tokens", "cost_usd"
    ).to_dicts())  # fmt: skip
    return {
        **write_start(spec),
        "status": "success",
        "results": {
            "total_samples": responses,
            "completed_samples": responses,
            "scores": _write_scores(files),
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


def _write_scores(files: CellFiles) -> list[Values]:
    by_rules: dict[str, list[float]] = {}
    for rules, verdict in files.verdicts.select("rules", "verdict").iter_rows():
        by_rules.setdefault(rules, []).append(verdict)
    return [_write_score(rules, by_rules[rules], files) for rules in sorted(by_rules)]


def _write_score(rules: str, verdicts: Sequence[float], files: CellFiles) -> Values:
    samples = _count_samples(files)
    accuracy = {"name": "accuracy", "value": math.fsum(verdicts) / len(verdicts), "params": {}}
    score: dict[str, Any] = {
        "name": rules,
        "scorer": rules,
        "scored_samples": len(verdicts),
        "unscored_samples": files.responses.height - len(verdicts),
        "params": {},
        "metrics": {"accuracy": accuracy},
    }
    return score | ({"reducer": "mean"} if samples > 1 else {})


def _count_samples(files: CellFiles) -> int:
    highest = files.responses["index"].max()
    return highest + 1 if isinstance(highest, int) else 1


def _make_id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]
