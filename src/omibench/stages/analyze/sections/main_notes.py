"""Notes on models and cells in the main table: size, gain, printed tables."""

from __future__ import annotations

import re
from itertools import groupby

from omibench.params.cell import Cell
from omibench.params.models.registry import Model
from omibench.results.load import Results
from omibench.stages.analyze.tables.accuracy import Score
from omibench.stages.analyze.words import format_points


def describe_size(model: Model) -> str:
    """Return the size: '8 B', '235 B, 22 B active'; empty if unknown."""
    total, active = model.parameters_b, model.active_parameters_b
    parts = [f"{total:g} B" if total else "", f"{active:g} B active" if active else ""]
    return ", ".join(filter(None, parts))


def describe_gain(
    results: Results, cell: Cell, score: Score | None, base_score: Score | None
) -> str:
    """Return a fine-tuned model's gain over its base under the same setting, in points.

    Empty if the study does not have both on the same number of problems (OMIBench, table 9).
    """
    base = results.study.models[cell.model].base
    if base is None or score is None or base_score is None or score.acc.n != base_score.acc.n:
        return ""
    return f"{format_points(score.acc.mean - base_score.acc.mean, 2)} from {results.label(base)}"


def describe_places(results: Results, cell: Cell) -> str:
    """Return the printed tables and figures of the cell: 'table 2, 10, figure 5c'."""
    names = results.study.infer.list_printed_places(cell.model, cell.setting)
    kinds = groupby(sorted(names, key=_place), key=lambda name: name.partition(" ")[0])
    return ", ".join(
        ", ".join([first, *(name.removeprefix(f"{kind} ") for name in later_names)])
        for kind, (first, *later_names) in kinds
    )


def _place(name: str) -> tuple[object, ...]:
    """Return a key that sorts tables before figures, each by number."""
    kind, _, number = name.partition(" ")
    parts = re.split(r"(\d+)", number)
    return kind != "table", kind, [(part.zfill(9) if part.isdigit() else part) for part in parts]
