"""Scores of many groups at once, against the same numbers computed group by group."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest

from omibench.results.grouped import estimate_accuracy
from omibench.stages.analyze.tables.groups import CELL, Failures, score_groups

SAMPLES = 3


def make_verdicts(**columns: object) -> pl.DataFrame:
    """Verdicts of one cell under one scorer, as frames of results have them."""
    frame = pl.DataFrame(columns)
    n = frame.height
    fixed = {"model": "m", "setting": "s", "rules": "r"}
    cell = {name: [value] * n for name, value in fixed.items()}
    optional = {name: pl.Series(name, [None] * n, dtype=pl.Float64)
                for name in ("credit", "ratio", "strict") if name not in frame.columns}  # fmt: skip
    if "cluster" not in frame.columns:
        frame = frame.with_columns(cluster="id")
    return frame.with_columns(**{k: pl.Series(k, v) for k, v in cell.items()}, **optional)


def draw_verdicts() -> pl.DataFrame:
    """Several samples of items in clusters, of two cells under two scorers."""
    rng = Random(5)
    rows = []
    for model in "ab":
        for rules in ("robust", "omibench"):
            for item in range(20):
                for _ in range(SAMPLES):
                    right = float(rng.random() < 0.4)
                    given = rules == "omibench" and rng.random() < 0.8
                    rows.append(
                        (model, "s", rules, f"i{item}", f"c{item // 3}", f"v{item % 4}", right,
                         0.5 * right if given else None, right if given else None,
                         right if given else None, rng.random() < 0.2)
                    )  # fmt: skip
    names = (*CELL, "id", "cluster", "part", "verdict", "credit", "ratio", "strict", "failed")
    return pl.DataFrame(rows, schema=dict(zip(names, _TYPES, strict=True)), orient="row")


_TYPES = [*[pl.String] * 6, *[pl.Float64] * 4, pl.Boolean]


@pytest.mark.parametrize("attribute", [None, "part"])
def test_each_group_is_what_it_is_alone(attribute: str | None) -> None:
    verdicts = draw_verdicts()
    by = [*CELL, *([attribute] if attribute else [])]
    groups = score_groups(verdicts, attribute, 0.9)
    parts = verdicts.partition_by(by, as_dict=True)
    assert set(groups) == set(parts)
    for place, part in parts.items():
        found = groups[place]
        alone = estimate_accuracy(part, 0.9)
        assert found.acc == pytest.approx(alone)
        assert found.responses == part.height
        assert found.failures is not None
        assert found.failures.failed == part["failed"].sum()
        assert found.failures.as_wrong == pytest.approx(alone.mean)
        upper = part.with_columns(
            verdict=pl.max_horizontal("verdict", pl.col("failed").cast(float))
        )
        assert found.failures.as_right == pytest.approx(estimate_accuracy(upper, 0.9).mean)
        if part["credit"].null_count() == part.height:
            assert (found.credit, found.ratio, found.strict) == (None, None, None)
            continue
        credit = part.with_columns(verdict=pl.coalesce("credit", "verdict"))
        assert found.credit == pytest.approx(estimate_accuracy(credit, 0.9).mean)
        strict = part.with_columns(verdict=pl.coalesce("strict", 0.0))
        assert found.strict == pytest.approx(estimate_accuracy(strict, 0.9))


def test_bounds_average_the_samples_of_a_problem_first() -> None:
    rows = make_verdicts(id=["a", "a", "b"], verdict=[0.0, 1.0, 0.5], failed=[True, False, False])
    place = ("m", "s", "r")
    assert score_groups(rows, None, 0.95)[place].failures == Failures(1, 0.5, 0.75)
    unknown = rows.with_columns(failed=pl.lit(None, pl.Boolean))
    assert score_groups(unknown, None, 0.95)[place].failures is None
