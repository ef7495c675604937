"""What the main table says of models and cells beside their numbers: size, gain, printed where."""

from __future__ import annotations

import re
from itertools import groupby

from omibench.params.cell import Cell
from omibench.params.models.registry import Model
from omibench.results.load import Results
from omibench.stages.analyze.tables.accuracy import Score
from omibench.stages.analyze.words import format_points


def describe_size(model: Model) -> str:
    """'8 B', '235 B, 22 B active'; empty where the maker does not say."""
    whole, active = model.parameters_b, model.active_parameters_b
    parts = [f"{whole:g} B" if whole else "", f"{active:g} B active" if active else ""]
    return ", ".join(filter(None, parts))


def describe_gain(results: Results, cell: Cell, mine: Score | None, bases: Score | None) -> str:
    """A fine-tuned model's accuracy minus that of its base under the same setting, in points.

    Empty where the study does not know both on as many problems (OMIBench, table 9).
    """
    base = results.study.models[cell.model].base
    if base is None or mine is None or bases is None or mine.acc.n != bases.acc.n:
        return ""
    return f"{format_points(mine.acc.mean - bases.acc.mean, 2)} from {results.label(base)}"


def describe_places(results: Results, cell: Cell) -> str:
    """'table 2, 10, figure 5c': where a paper prints the cell, as the study's file says."""
    names = results.study.infer.printed_in(cell.model, cell.setting)
    kinds = groupby(sorted(names, key=_place), key=lambda name: name.partition(" ")[0])
    return ", ".join(
        ", ".join([first, *(name.removeprefix(f"{kind} ") for name in more)])
        for kind, (first, *more) in kinds
    )


def _place(name: str) -> tuple[object, ...]:
    """Tables before figures, each by its number and not by its digits."""
    kind, _, rest = name.partition(" ")
    parts = re.split(r"(\d+)", rest)
    return kind != "table", kind, [(part.zfill(9) if part.isdigit() else part) for part in parts]
