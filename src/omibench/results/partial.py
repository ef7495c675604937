"""Partial runs: the evaluated part of a dataset, which every output of the study must state."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import polars as pl

from omibench.params.cell import Cell
from omibench.params.presentation import is_selected
from omibench.params.setting import Setting
from omibench.params.stage_params import ResultsParams
from omibench.schemas.example import Example
from omibench.schemas.problem import Question

PARTIAL = "PARTIAL RUN"


class Partial(NamedTuple):
    """The number of evaluated problems, of all, and the selection."""

    problems: int
    of: int
    selection: str

    def __str__(self) -> str:
        return f"{self.problems:,} of {self.of:,} problems ({self.selection})"


def find_partial(
    study: ResultsParams,
    questions: Collection[Question],
    responses: pl.DataFrame,
    examples: Iterable[Example],
) -> Partial | None:
    """Return the evaluated part if it is not all of the frozen `questions`; else None.

    The part is given by its `limit`, or by its cells, if one was run manually for part of the
    problems of its setting. Recorded responses can always cover a part.
    """
    limit, total = study.study.limit, len(questions)
    if limit and (asked_problems := len(limit.select([q.id for q in questions]))) < total:
        return Partial(asked_problems, total, str(limit))
    aside = {example.id for example in examples if example.take == "sampled"}
    counts = _counts(responses)
    asked_counts = {
        name: _count_asked(study.settings[name], questions, aside)
        for name in dict.fromkeys(cell.setting for cell in counts)
    }
    smaller_counts = [
        count
        for cell, count in counts.items()
        if not study.models[cell.model].is_recorded and count < asked_counts[cell.setting]
    ]
    return Partial(min(smaller_counts), total, "selected manually") if smaller_counts else None


def _counts(responses: pl.DataFrame) -> dict[Cell, int]:
    counts = responses.group_by("model", "setting").agg(pl.col("id").n_unique())
    return {Cell(model, setting): count for model, setting, count in counts.iter_rows()}


def _count_asked(setting: Setting, questions: Iterable[Question], aside: Collection[str]) -> int:
    """Count the problems of a setting: those of its `where` that are not set aside as examples."""
    shows_sampled = setting.examples is not None and setting.examples.take == "sampled"
    return sum(
        is_selected(question, setting.where) and not (shows_sampled and question.id in aside)
        for question in questions
    )
