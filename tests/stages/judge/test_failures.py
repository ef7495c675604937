"""A draw of failures is in proportion, in the order given, and never more than there are."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.judges.case import JudgeCase
from omibench.params.stages.judge import ErrorDraw
from omibench.schemas.tables import ResponseRow
from omibench.stages.judge.material import Material
from omibench.stages.judge.stage import apportion, draw_failures


@given(
    st.integers(1, 500),
    st.dictionaries(st.text(max_size=3), st.integers(1, 400), min_size=1, max_size=8),
)
def test_parts_add_up_and_differ_from_proportion_by_less_than_one(
    total: int, sizes: dict[str, int]
) -> None:
    parts, every = apportion(total, sizes), sum(sizes.values())
    assert sum(parts.values()) == min(total, every)
    assert all(0 <= parts[name] <= size for name, size in sizes.items())
    if total < every:
        assert all(abs(parts[name] - total * size / every) < 1 for name, size in sizes.items())


def make_failure(number: int) -> Material:
    row = ResponseRow(id=f"p-{number}", index=0, key="k", outcome="answered", text="x")
    return Material(row, JudgeCase(row.id, "?", ["1"], "x"), None, "ab"[number % 4 == 0])


FAILURES = [make_failure(number) for number in range(40)]


def test_a_draw_is_by_stratum_and_in_order() -> None:
    drawn = draw_failures(FAILURES, ErrorDraw(per_model=8, by="subject"))
    assert Counter(m.stratum for m in drawn) == {"a": 6, "b": 2}
    assert [m.row.id for m in drawn] == [m.row.id for m in FAILURES if m in drawn]


def test_a_draw_keeps_its_members_when_failures_join() -> None:
    """So that another model's draw, or that of a larger study, holds the same problems."""
    draw = ErrorDraw(per_model=10, seed=3)
    few = {m.row.id for m in draw_failures(FAILURES[:30], draw)}
    many = {m.row.id for m in draw_failures(FAILURES, draw)}
    assert many & {m.row.id for m in FAILURES[:30]} <= few
    assert len(few) == len(many) == 10
    assert many != {m.row.id for m in draw_failures(FAILURES, ErrorDraw(per_model=10, seed=4))}
