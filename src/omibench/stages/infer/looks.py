"""Looks at the verdicts of all cells while they are asked: who is behind is asked no more."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from omibench.errors import ParamsError
from omibench.results.statistics.sequential import compare_with_leader, find_levels, share_alpha
from omibench.schemas.adaptive import (
    Look,
    Pair,
    ProblemOrder,
    StopRecord,
    list_compared,
    list_open,
    locate_verdicts,
)
from omibench.schemas.problem import Question
from omibench.schemas.tables import VerdictRow, read_parquet

if TYPE_CHECKING:
    from omibench.params.stages.infer import Adaptive

KEY = "infer.adaptive"


def order_problems(questions: Sequence[Question], adaptive: Adaptive, seed: int) -> ProblemOrder:
    """Return the order in which all cells answer the problems.

    Whole stems are permuted by a hash of the seed, and spread evenly within each stratum, so that
    every part has about the mix of the whole. Each look ends with a whole stem.

    Args:
        questions: The problems to evaluate.
        adaptive: The attributes of strata, and the share of problems at each look.
        seed: The study's seed.

    Raises:
        ParamsError: A look would add no problem.
    """
    stems: dict[str, list[Question]] = {}
    for question in questions:
        stems.setdefault(question.group or question.id, []).append(question)
    strata: dict[tuple[str, ...], list[str]] = {}
    for stem in sorted(stems, key=lambda stem: _hash(seed, stem)):
        stratum = tuple(_describe(stems[stem][0], name) for name in adaptive.order)
        strata.setdefault(stratum, []).append(stem)
    places = {
        stem: (number + int(_hash(seed, *stratum)[:8], 16) / 16**8) / len(names)
        for stratum, names in strata.items()
        for number, stem in enumerate(names)
    }
    ordered = sorted(stems, key=lambda stem: (places[stem], _hash(seed, stem)))
    ends = list(accumulate(len(stems[stem]) for stem in ordered))
    # A share such as 0.3 of 10 is a little more than 3 in floating point.
    wanted = (share * len(questions) - 1e-9 for share in adaptive.looks)
    looks = [ends[bisect_left(ends, number)] for number in wanted] if ends else []
    if len({*looks}) < len(adaptive.looks):
        raise ParamsError(
            f"{KEY}.looks: {len(adaptive.looks)} looks at {len(questions)} problems of "
            f"{len(stems)} stems: some look would add no problem; use fewer looks"
        )
    ids = [question.id for stem in ordered for question in stems[stem]]
    groups = [stem for stem in ordered for _ in stems[stem]]
    return ProblemOrder(
        seed=seed, strata=[*adaptive.order], looks=looks, ids=ids, groups=groups,
        sha256=hashlib.sha256(json.dumps([ids, looks]).encode()).hexdigest(),
    )  # fmt: skip


def _describe(question: Question, name: str) -> str:
    return str(len(question.images) if name == "n_images" else getattr(question, name))


def _hash(seed: int, *names: str) -> str:
    return hashlib.sha256("\0".join((str(seed), *names)).encode()).hexdigest()


def hold_look(
    order: ProblemOrder,
    earlier: Sequence[Look],
    cells: Sequence[Pair],
    values: Mapping[Pair, Mapping[str, float]],
    adaptive: Adaptive,
) -> Look:
    """Compare the cells that are still open, each with the leader.

    Args:
        order: The order of the problems.
        earlier: The records of all earlier looks.
        cells: All cells of the study.
        values: Mean verdict by problem, in [0, 1], of each cell in the comparison.
        adaptive: Level, spending and the models to keep.

    Returns:
        The record of the look.

    Raises:
        MissingExtraError: If scipy is not installed.
    """
    number = len(earlier) + 1
    size, total = order.looks[number - 1], len(order.ids)
    alpha = share_alpha(adaptive.alpha, len(cells))
    fractions = tuple(count / total for count in order.looks[:number])
    level = find_levels(fractions, alpha, adaptive.spending)[-1]
    record = Look(
        look=number, problems=size, of=total, order=order.sha256, scorer=adaptive.scorer,
        level=level, open=list_open(earlier, cells),
    )  # fmt: skip
    compared = list_compared(earlier, cells, adaptive.keep)
    if not compared:
        return record
    table = np.array(
        [[values[cell].get(id, np.nan) for cell in compared] for id in order.ids[:size]]
    )
    keep = [number for number, (model, _) in enumerate(compared) if model in adaptive.keep]
    result = compare_with_leader(table, order.groups[:size], level, keep)
    return record.model_copy(
        update={
            "leader": compared[result.leader],
            "stopped": [
                StopRecord(
                    cell=compared[stop.candidate], behind=compared[result.leader],
                    difference=stop.difference, p=stop.p,
                )
                for stop in result.stops
            ],
        }
    )  # fmt: skip


def read_values(folder: Path, look: int, cell: Pair, scorer: str) -> dict[str, float]:
    """Read the mean verdict of each problem that a cell has answered up to a look.

    Args:
        folder: Folder of the looks.
        look: The look, counted from 1.
        cell: The cell.
        scorer: The scorer that compares.

    Raises:
        FileFormatError: A file is broken.
        MissingInputError: A file is missing.
    """
    parts = range(1, look + 1)
    rows = pl.concat(
        read_parquet(locate_verdicts(folder, part, cell), VerdictRow) for part in parts
    ).filter(pl.col("rules") == scorer)
    return dict(rows.group_by("id").agg(pl.col("verdict").mean()).iter_rows())
