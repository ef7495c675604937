"""A cell of two runs, problem by problem: both verdicts, and the differing components."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from omibench.run_comparison.problems import ProblemChanges
from omibench.run_comparison.report import COMPONENTS, Component
from omibench.run_comparison.run_files import SAMPLE, CellRun

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_SEEN_BY_SCORER = ("text", "outcome", "finish_reason", "published_verdict")
"""Columns of a response that a scorer may read."""
BITS: dict[Component, int] = {name: 1 << i for i, name in enumerate(COMPONENTS)}


class CellPair(NamedTuple):
    """A cell of both runs, over the problems with a verdict in both.

    The arrays have one entry per problem of `ids`.
    """

    a: CellRun
    b: CellRun
    ids: list[str]
    value_a: NDArray[np.float64]
    """Mean verdict over the samples that count."""
    value_b: NDArray[np.float64]
    differs: NDArray[np.int64]
    """Bit mask (`BITS`) of the differing components."""
    asked_with_data: NDArray[np.bool_]
    """Whether the response differs only because the problem was edited."""
    all_a: dict[str, float]
    """Mean verdict of every problem of run A, common or not."""
    all_b: dict[str, float]
    other_requests: int
    """Samples of common problems with different requests, or in only one run."""
    other_replies: int
    """Samples with the same request and different responses."""


def pair_cell(a: CellRun, b: CellRun, problems: ProblemChanges) -> CellPair:
    """Join a cell of two runs, and find the differing components of each problem."""
    import numpy as np
    import polars as pl

    means = [run.select(run.scoring).group_by("id").agg(pl.col("verdict").mean()) for run in (a, b)]
    joined = means[0].join(means[1], on="id", suffix="_b").sort("id")
    joined = joined.filter(pl.col("id").is_in(sorted(problems.common)))
    ids: list[str] = joined["id"].to_list()
    samples = _join_samples(a.responses, b.responses, ids)
    replied = set(samples.filter("other_reply")["id"])
    requests = samples.filter("other_request")
    asked_with_data = _find_asked_with_data(ids, set(requests["id"]), problems)
    flags: dict[Component, set[str]] = {
        "data": set(problems.data),
        "gold": set(problems.gold),
        "responses": replied - asked_with_data,
    }
    flags |= _find_scoring_changes(a, b, ids, samples, problems)
    value_a, value_b = joined["verdict"].to_numpy(), joined["verdict_b"].to_numpy()
    differs = np.array(
        [sum(BITS[part] for part, names in flags.items() if name in names) for name in ids],
        dtype=np.int64,
    )
    # No stored cause: code or packages differ behind the same version.
    differs[(differs == 0) & (value_a != value_b)] = BITS[
        "judge" if a.scoring.is_judged and b.scoring.is_judged else "rules"
    ]
    return CellPair(
        a, b, ids, value_a, value_b, differs,
        np.array([name in asked_with_data for name in ids], dtype=bool),
        dict(means[0].iter_rows()), dict(means[1].iter_rows()),
        requests.height,
        samples.filter(pl.col("other_reply") & ~pl.col("other_request")).height,
    )  # fmt: skip


def _join_samples(a: pl.DataFrame, b: pl.DataFrame, ids: list[str]) -> pl.DataFrame:
    """Return (id, index, other_request, other_reply) of the samples of problems in either run."""
    import polars as pl

    columns = [*SAMPLE, "key", *_SEEN_BY_SCORER]
    frames = [frame.select(columns).filter(pl.col("id").is_in(ids)) for frame in (a, b)]
    return (
        frames[0]
        .join(frames[1], on=SAMPLE, how="full", suffix="_b", coalesce=True)
        .select(
            *SAMPLE,
            other_request=pl.col("key").ne_missing(pl.col("key_b")),
            other_reply=pl.any_horizontal(
                pl.col(name).ne_missing(pl.col(f"{name}_b")) for name in _SEEN_BY_SCORER
            ),
        )
    )


def _find_asked_with_data(
    ids: list[str], requested: set[str], problems: ProblemChanges
) -> set[str]:
    """Return the edited problems of a cell in which all other requests are unchanged."""
    edited = problems.edited & set(ids)
    as_before = set(ids) - edited
    return set(edited) if as_before and not requested & as_before else set()


def _find_scoring_changes(
    a: CellRun, b: CellRun, ids: list[str], samples: pl.DataFrame, problems: ProblemChanges
) -> dict[Component, set[str]]:
    """Return the problems with different extraction, comparison or judgement."""
    everything = set(ids)
    if not (a.scoring.is_judged or b.scoring.is_judged):
        if a.scoring[:2] == b.scoring[:2]:
            return {}
        return {"rules": everything, "extraction": _find_other_extractions(a, b, ids)}
    if a.scoring.is_judged != b.scoring.is_judged or a.scoring.rules != b.scoring.rules:
        return {"rules": everything}
    changes: dict[Component, set[str]] = {}
    if a.scoring != b.scoring or _is_other_judge(a, b, samples, problems):
        changes["judge"] = everything
    if _list_extractors(a) != _list_extractors(b):
        changes["extraction"] = _find_other_extractions(a, b, ids)
    return changes


def _find_other_extractions(a: CellRun, b: CellRun, ids: list[str]) -> set[str]:
    """Return the problems in whose responses the runs extract different answers."""
    import polars as pl

    columns = [*SAMPLE, "extracted"]
    frames = [run.select(run.scoring).select(columns) for run in (a, b)]
    joined = frames[0].join(frames[1], on=SAMPLE, how="full", suffix="_b", coalesce=True)
    differing = joined.filter(pl.col("extracted").ne_missing(pl.col("extracted_b")))
    return set(differing["id"]) & set(ids)


def _is_other_judge(
    a: CellRun, b: CellRun, samples: pl.DataFrame, problems: ProblemChanges
) -> bool:
    """Return whether a judge of the same name and prompt judged the same case under another key."""
    import polars as pl

    same = samples.filter(~pl.col("other_reply") & ~pl.col("other_request")).filter(
        ~pl.col("id").is_in(sorted(problems.gold | problems.data))
    )
    frames = [run.select(run.scoring).select(*SAMPLE, "judge_key").drop_nulls() for run in (a, b)]
    joined = frames[0].join(frames[1], on=SAMPLE, suffix="_b").join(same, on=SAMPLE, how="semi")
    return bool((joined["judge_key"] != joined["judge_key_b"]).any())


def _list_extractors(run: CellRun) -> set[str]:
    """Return the models that extracted answers, with the first characters of prompt hashes."""
    methods = run.select(run.scoring)["method"]
    return set(methods.str.extract(r"^(extracted by [^,>]+)").str.strip_chars().drop_nulls())
