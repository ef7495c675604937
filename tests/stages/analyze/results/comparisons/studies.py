"""Small studies whose verdicts are set, for the tests of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.stages.analyze.results.curves.made import SIMULATED, write_study

from omibench.schemas.problem import Answer
from omibench.schemas.tables import ResponseRow, VerdictRow
from omibench.stages.analyze.analysis import Analysis

Verdicts = Mapping[tuple[str, str], Mapping[str, Sequence[float | None]]]
"""Model and setting -> item -> the verdict of each sample, None for a refusal."""


def make_items(count: int, **attributes: list[Any]) -> list[Answer]:
    """Items p0, p1, ... of two subjects in turn, two to a stem, with attributes by place."""
    return [
        Answer(
            id=f"p{i}", answer=["1"], answer_type="open", n_images=2 + i % 3,
            subject=("physics", "biology")[i % 2], group=f"stem{i // 2}",
            attributes={name: values[i] for name, values in attributes.items() if values[i]},
        )
        for i in range(count)
    ]  # fmt: skip


def draw_verdicts(
    cells: Mapping[tuple[str, str], float], items: list[Answer], samples: int = 1
) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Verdicts of cells with so high a chance of being right."""
    return {
        cell: {
            item.id: np.random.default_rng([place, number])
            .binomial(1, share, samples)
            .astype(float)
            .tolist()
            for number, item in enumerate(items)
        }
        for place, (cell, share) in enumerate(cells.items())
    }


def write_analysis(
    folder: Path, items: list[Answer], verdicts: Verdicts, samples: int = 1, **analyze: Any
) -> Analysis:
    """Write a study of these verdicts and open it."""
    models = list(dict.fromkeys(model for model, _ in verdicts))
    settings = list(dict.fromkeys(setting for _, setting in verdicts))
    study = {
        "models": dict.fromkeys(models, SIMULATED),
        "settings": {s: {"decoding": {"samples": samples}} for s in settings},
        "infer": {"models": models, "settings": settings},
        "score": {"scorers": ["mathreal"], "grader": models[0]},
        "analyze": analyze,
    }
    drawn = [
        (
            model,
            setting,
            ResponseRow(
                id=i, index=n, key=f"{i}-{n}", outcome="answered", text="1",
                simulated=model.startswith("sim"),
            ),
            [
                VerdictRow(
                    id=i, index=n, key=f"{i}-{n}", rules="mathreal", version=1, extracted="1",
                    method="boxed", verdict=v or 0.0, strict=None if v is None else float(v == 1),
                    outcome="refused" if v is None else "scored",
                )
            ],
        )
        for (model, setting), by_item in verdicts.items()
        for i, values in by_item.items()
        for n, v in enumerate(values)
    ]  # fmt: skip
    return write_study(folder, study, items, drawn)
