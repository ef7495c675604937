"""A share of a week's settled work, drawn for seniors (OMIBench, A.4.3)."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omibench.errors import ParamsError
from omibench.review.people import Reviewer
from omibench.review.sampling.strata import draw_stratified
from omibench.review.sampling.weekly import Period, SamplePlan, draw_samples, read_period, read_week
from omibench.schemas.review import ReviewDecision, ReviewTask
from review.builders import GOOD, START, decide, make_task

WEEK = Period("2026-W02", START, START + timedelta(days=7))
LEVELS = ("hard", "easy", "easy", "easy")
SENIORS = [Reviewer(name=name, roles=["senior"]) for name in ("eve", "sam")]


def settle_items(number: int) -> tuple[list[ReviewTask], list[ReviewDecision]]:
    """Settled items, three of four of them easy."""
    tasks = [
        make_task(
            f"p{i}", strata={"type": "choice", "difficulty": "hard" if i % 4 == 0 else "easy"}
        )
        for i in range(number)
    ]
    roles = (("ann", "annotator"), ("bob", "auditor"))
    decisions = [
        decide(2 * i + j, who, role, task)
        for i, task in enumerate(tasks)
        for j, (who, role) in enumerate(roles)
    ]
    return tasks, decisions


def test_a_twentieth_is_drawn_in_proportion_to_strata() -> None:
    tasks, decisions = settle_items(160)
    draw = draw_samples(tasks, decisions, SamplePlan(WEEK), SENIORS)
    assert draw.counts["item"].eligible == 160
    assert Counter(task.strata["difficulty"] for task in draw.tasks) == {"easy": 6, "hard": 2}
    assert {task.purpose for task in draw.tasks} == {"sample"}
    assert all(task.id == f"{task.of}@2026-W02" for task in draw.tasks)
    assert Counter(task.people["senior"][0] for task in draw.tasks) == {"eve": 4, "sam": 4}


def test_the_draw_depends_on_the_seed_alone() -> None:
    tasks, decisions = settle_items(160)
    plan = SamplePlan(WEEK)
    draw = draw_samples(tasks, decisions, plan)
    assert draw_samples(tasks[::-1], decisions[::-1], plan).tasks == draw.tasks[::-1]
    other = draw_samples(tasks, decisions, SamplePlan(WEEK, seed=1))
    assert {task.id for task in other.tasks} != {task.id for task in draw.tasks}


def test_drawing_again_adds_what_is_missing() -> None:
    tasks, decisions = settle_items(160)
    plan = SamplePlan(WEEK)
    half = draw_samples(tasks[:80], decisions[:160], plan)
    assert len(half.tasks) == 4
    more = draw_samples([*tasks, *half.tasks], decisions, plan)
    assert (len(more.tasks), more.counts["item"].earlier) == (4, 4)
    assert not {task.id for task in more.tasks} & {task.id for task in half.tasks}
    assert not draw_samples([*tasks, *half.tasks, *more.tasks], decisions, plan).tasks


def test_few_tasks_give_one_and_other_weeks_none() -> None:
    tasks, decisions = settle_items(3)
    assert len(draw_samples(tasks, decisions, SamplePlan(WEEK)).tasks) == 1
    later = SamplePlan(Period("later", WEEK.end, WEEK.end + timedelta(days=7)))
    assert draw_samples(tasks, decisions, later).counts["item"].eligible == 0


def test_what_is_not_settled_is_not_in_the_population() -> None:
    tasks, decisions = settle_items(10)
    draw = draw_samples(tasks, decisions[:-1], SamplePlan(WEEK, share=1.0))
    assert (draw.counts["item"].eligible, len(draw.tasks)) == (9, 9)


def test_a_senior_is_not_asked_about_their_own_decision() -> None:
    (task,), decisions = settle_items(1)
    differing = decide(5, "bob", "auditor", task, GOOD | {"valid": "invalid"})
    history = [*decisions[:1], differing, decide(6, "eve", "senior", task)]
    (sample,) = draw_samples([task], history, SamplePlan(WEEK), SENIORS).tasks
    assert sample.people == {"senior": ["sam"]}
    (sample,) = draw_samples([task], history, SamplePlan(WEEK), SENIORS[:1]).tasks
    assert sample.people == {"senior": ["eve"]}


strata = st.dictionaries(
    st.text(max_size=3), st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), max_size=40
)


@settings(max_examples=40)
@given(strata=strata, size=st.integers(0, 50), seed=st.integers(0, 3))
def test_every_stratum_has_its_share_to_within_one(
    strata: dict[str, tuple[str, ...]], size: int, seed: int
) -> None:
    drawn = draw_stratified(strata, size, seed)
    assert len(drawn) == len(set(drawn)) == min(size, len(strata))
    sizes, shares = Counter(strata.values()), Counter(strata[name] for name in drawn)
    for stratum, members in sizes.items():
        assert abs(shares[stratum] - len(drawn) * members / len(strata)) < 1


def test_weeks_and_dates() -> None:
    week = read_week("2026-W47")
    assert (week.start.isoformat(), week.end.isoformat()) == (
        "2026-11-16T00:00:00+00:00",
        "2026-11-23T00:00:00+00:00",
    )
    days = read_period("2026-11-16", "2026-11-22")
    assert (days.start, days.end, days.name) == (week.start, week.end, "2026-11-16_2026-11-22")
    for text in ("2026-47", "2026-W54", "W1", "2026-W47@x"):
        with pytest.raises(ParamsError, match="write it as 2026-W47"):
            read_week(text)
    with pytest.raises(ParamsError, match="--since 'yesterday' is not a date"):
        read_period("yesterday", "2026-11-22")
    with pytest.raises(ParamsError, match="is before --since"):
        read_period("2026-11-22", "2026-11-16")
