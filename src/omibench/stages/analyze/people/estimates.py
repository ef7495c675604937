"""Accuracies of persons and groups, and differences between models and groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from omibench.results.grouped import estimate_groups
from omibench.statistics.intervals import clustered_median
from omibench.statistics.paired import paired_difference
from omibench.statistics.people import FEW_PEOPLE, estimate_crossed_mean, estimate_crossed_share

if TYPE_CHECKING:
    from omibench.stages.analyze.inputs.people_answers import PersonAnswer

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
PERSON, GROUP, EVERYBODY, MODEL = "person", "group", "everybody", "model"
BY_PROBLEMS, BY_BOTH = "problems", "people and problems"
_PLACE = ("rules", "slice", "value")


def add_kinds(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Repeat people's answers for each respondent they count towards.

    Args:
        verdicts: Rows with `person` and `group`.

    Returns:
        The rows with `kind` and `respondent`: the person, the group if it has a name, and everybody
        unless one group is everybody.
    """
    parts = [
        verdicts.with_columns(kind=pl.lit(PERSON), respondent=pl.col("person")),
        verdicts.filter(pl.col("group") != "").with_columns(
            kind=pl.lit(GROUP), respondent=pl.col("group")
        ),
    ]
    groups, people = verdicts["group"].n_unique(), verdicts["person"].n_unique()
    if groups > 1 or (people > 1 and (verdicts["group"] == "").all()):
        parts.append(verdicts.with_columns(kind=pl.lit(EVERYBODY), respondent=pl.lit("")))
    return pl.concat(parts)


def estimate_people(
    answers: pl.DataFrame, confidence: float, column: str = "verdict"
) -> pl.DataFrame:
    """Estimate the accuracy of each person, of each group and of everybody.

    Args:
        answers: People's verdicts with `kind`, `respondent`, `slice` and `value`.
        confidence: The two-sided level, in (0, 1).
        column: The column of the values, in [0, 1].

    Returns:
        One row per scorer, slice, value and respondent. `low` and `high` of a person, and of a
        group of one, generalise to other such problems (`variance`: "problems"); those of a group
        to other such people as well ("people and problems"), and `problems_low` and `problems_high`
        keep the people fixed. `few_people` marks intervals of groups too small to reach their
        nominal level.
    """
    keys = ["kind", "respondent", *_PLACE]
    values = answers.filter(pl.col(column).is_not_null())
    rows = estimate_groups(values, keys, confidence, column).drop("n_eff")
    counts = values.group_by(keys, maintain_order=True).agg(
        pl.col("person").n_unique().cast(pl.Int64).alias("people"),
        pl.col("id").n_unique().cast(pl.Int64).alias("problems"),
        pl.col("simulated").any(),
    )
    rows = rows.join(counts, on=keys, maintain_order="left").with_columns(
        problems_low="low",
        problems_high="high",
        variance=pl.lit(BY_PROBLEMS),
        few_people=pl.lit(value=False),
    )
    crossed = [
        dict(zip(keys, place, strict=True)) | _estimate_both(part, confidence, column)
        for place, part in values.group_by(keys, maintain_order=True)
        if part["person"].n_unique() > 1 and part["cluster"].n_unique() > 1
    ]
    if not crossed:
        return rows
    return rows.update(pl.DataFrame(crossed), on=keys, how="left")


def _estimate_both(part: pl.DataFrame, confidence: float, column: str) -> dict[str, Any]:
    estimate = estimate_crossed_share(
        part[column].to_list(), part["person"].to_list(), part["cluster"].to_list(), confidence
    )
    return {
        "low": estimate.lo,
        "high": estimate.hi,
        "variance": BY_BOTH,
        "few_people": estimate.people < FEW_PEOPLE,
    }


def compare_with_people(
    models: pl.DataFrame, answers: pl.DataFrame, confidence: float
) -> pl.DataFrame:
    """Estimate the difference between each cell and each group, over the same problems.

    Args:
        models: Rows with `model`, `setting`, `rules`, `id`, `verdict`, one per item and cell.
        answers: People's verdicts with `kind` and `respondent`, over the whole.
        confidence: The two-sided level, in (0, 1).

    Returns:
        One row per cell, scorer and group (or everybody; a person only if there are neither): the
        mean difference of a cell's and a person's values by problem, with an interval that
        generalises to other such people and problems, or for one person to other problems.
    """
    kinds = set(answers["kind"]) - {PERSON} or {PERSON}
    people = answers.filter(pl.col("kind").is_in(list(kinds)))
    cells = models.partition_by("model", "setting", "rules", as_dict=True)
    rows = []
    for (kind, respondent, rules), part in people.group_by(
        "kind", "respondent", "rules", maintain_order=True
    ):
        group = _encode_group(part)
        for cell, verdicts in cells.items():
            if cell[2] != rules:
                continue
            comparison = _estimate_difference(group, verdicts, confidence)
            if comparison:
                rows.append(
                    dict(zip(("model", "setting", "rules"), cell, strict=True))
                    | {"kind": kind, "baseline": respondent}
                    | comparison
                )
    return pl.DataFrame(rows)


class _Group(NamedTuple):
    """The answers of a group as numbers of problems, persons and clusters."""

    places: dict[str, int]
    problem: Codes
    person: Codes
    cluster: Codes
    verdict: Floats


def _encode_group(part: pl.DataFrame) -> _Group:
    places = {id: place for place, id in enumerate(part["id"].unique(maintain_order=True))}
    person, cluster = (
        np.unique(part[name].to_numpy(), return_inverse=True)[1] for name in ("person", "cluster")
    )
    problem = np.asarray([places[id] for id in part["id"]])
    return _Group(places, problem, person, cluster, part["verdict"].to_numpy())


def _estimate_difference(
    group: _Group, verdicts: pl.DataFrame, confidence: float
) -> dict[str, Any] | None:
    """Return a cell minus the group by answer; None if they share no problem."""
    by_problem = np.full(len(group.places), np.nan)
    for id, verdict in verdicts.select("id", "verdict").iter_rows():
        if id in group.places:
            by_problem[group.places[id]] = verdict
    deltas = by_problem[group.problem] - group.verdict
    common = ~np.isnan(deltas)
    if not common.any():
        return None
    deltas, person, cluster = deltas[common], group.person[common], group.cluster[common]
    counts = {
        "n": len(deltas),
        "people": len(np.unique(person)),
        "clusters": len(np.unique(cluster)),
        "problems": len(np.unique(group.problem[common])),
    }
    if counts["people"] > 1 and counts["clusters"] > 1:
        both = estimate_crossed_mean(deltas, person, cluster, confidence)
        bounds = {
            "estimate": both.mean,
            "low": both.lo,
            "high": both.hi,
            "variance": BY_BOTH,
            "few_people": both.people < FEW_PEOPLE,
        }
    else:
        alone = paired_difference(
            deltas.tolist(), [0.0] * len(deltas), cluster.tolist(), confidence
        )
        bounds = {
            "estimate": alone.value,
            "low": alone.lo,
            "high": alone.hi,
            "variance": BY_PROBLEMS,
            "few_people": False,
        }
    return counts | bounds


def tabulate_seconds(
    answers: Sequence[PersonAnswer], clusters: dict[str, str], confidence: float
) -> pl.DataFrame | None:
    """Tabulate the median time of an answer by person, by group and of everybody.

    Args:
        answers: People's answers.
        clusters: Shared stem of each problem, or the problem itself.
        confidence: The two-sided level, in (0, 1).

    Returns:
        One row per respondent, in seconds; None if no answer has a time.
    """
    times = pl.DataFrame(
        [
            (row.person, row.group, row.problem, row.seconds, row.simulated)
            for row in answers
            if row.seconds is not None
        ],
        schema={
            "person": pl.String, "group": pl.String, "id": pl.String, "seconds": pl.Float64,
            "simulated": pl.Boolean,
        },
        orient="row",
    )  # fmt: skip
    if times.is_empty():
        return None
    rows = []
    for (kind, respondent), part in add_kinds(times).group_by(
        "kind", "respondent", maintain_order=True
    ):
        groups = [clusters[id] for id in part["id"]]
        median = clustered_median(part["seconds"].to_list(), groups, confidence)
        rows.append(
            {
                "kind": kind, "respondent": respondent, "metric": "median seconds",
                "estimate": median.mean, "low": median.lo, "high": median.hi, "n": median.n,
                "clusters": len(set(groups)), "people": part["person"].n_unique(),
                "problems": part["id"].n_unique(), "variance": BY_PROBLEMS,
                "simulated": part["simulated"].any(),
            }
        )  # fmt: skip
    return pl.DataFrame(rows)
