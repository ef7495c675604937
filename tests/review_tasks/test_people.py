"""Who is asked: by role and subject, never the same person twice, evenly, by seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import MissingInputError
from omibench.review.people import Reviewer
from omibench.review.tasks.assign import count_load, draw_people
from omibench.schemas.review import ReviewTask
from review.builders import make_task
from review_tasks.makers import make_people

TASKS = [make_task(f"p{k}", strata={"subject": "physics"}) for k in range(40)]


def draw(
    people: list[Reviewer], tasks: list[ReviewTask] = TASKS, seed: int = 1, **options: object
) -> list[ReviewTask]:
    load = count_load(options.pop("present", []))  # type: ignore[arg-type]
    return draw_people(tasks, people, load, seed, **options)  # type: ignore[arg-type]


def test_nobody_audits_what_they_annotate_and_work_is_even() -> None:
    drawn = draw(make_people())
    for task in drawn:
        assert set(task.people) == {"annotator", "auditor"}
        assert task.people["annotator"] != task.people["auditor"]
    load = count_load(drawn)
    assert load["annotator", "ann"] == load["annotator", "bob"] == 20
    assert load["auditor", "cy"] >= 20
    assert not load["senior", "eve"], "escalated tasks go to every senior"


def test_the_seed_decides() -> None:
    assert draw(make_people()) == draw(make_people())
    assert draw(make_people()) != draw(make_people(), seed=2)


def test_whoever_has_less_already_is_asked_first() -> None:
    present = [make_task(f"q{k}", people={"annotator": ["ann"]}) for k in range(30)]
    counts = count_load(draw(make_people(), TASKS[:10], present=present))
    assert counts["annotator", "bob"] == 10


def test_the_only_auditor_annotates_nothing() -> None:
    people = [make_people()[0], make_people()[1]]
    for task in draw(people):
        assert task.people == {"annotator": ["ann"], "auditor": ["bob"]}


def test_named_annotators_alone_are_given_tasks() -> None:
    assert {task.people["annotator"][0] for task in draw(make_people(), only=["bob"])} == {"bob"}
    with pytest.raises(MissingInputError, match=r"has the roles auditor in .*, not annotator"):
        draw(make_people(), only=["cy"])
    with pytest.raises(MissingInputError, match=r"'anne'.*'ann'"):
        draw(make_people(), only=["anne"])


def test_subjects_are_respected() -> None:
    people = [*make_people(), Reviewer(name="di", roles=["annotator"], subjects=["biology"])]
    assert not count_load(draw(people))["annotator", "di"]
    people = [Reviewer(name="di", roles=["annotator"], subjects=["biology"])]
    with pytest.raises(
        MissingInputError, match=r"item:p0: no one .* its annotator \(subject physics\)"
    ):
        draw(people)


def test_a_task_without_a_subject_is_for_everybody_of_the_role() -> None:
    people = [Reviewer(name="di", roles=["annotator"], subjects=["biology"]), make_people()[2]]
    (task,) = draw(people, [make_task()])
    assert task.people["annotator"] == ["di"]


def test_a_kind_for_two_people_needs_two() -> None:
    bob = make_people()[1]
    with pytest.raises(MissingInputError, match="its auditor who does not annotate it"):
        draw([bob])


def test_a_rationale_needs_no_auditor() -> None:
    tasks = [make_task(kind="rationale", content={"question": "Why?"})]
    (task,) = draw([make_people()[0]], tasks)
    assert task.people == {"annotator": ["ann"]}


def test_everybody_of_a_group_is_measured(tmp_path: Path) -> None:
    tasks = [make_task(kind="baseline", content={"question": "Why?"})]
    (task,) = draw(make_people(), tasks)
    assert task.people == {"annotator": ["ann"]}
    ungrouped = [p.model_copy(update={"group": ""}) for p in make_people()]
    (task,) = draw(ungrouped, tasks)
    assert task.people == {"annotator": ["ann", "bob"]}


roles = st.lists(st.sampled_from(["annotator", "auditor", "senior"]), min_size=1, unique=True)


@given(st.lists(roles, min_size=1, max_size=5), st.integers(0, 5))
def test_whoever_is_drawn_has_the_role_and_no_other_on_the_task(
    people: list[list[str]], seed: int
) -> None:
    reviewers = [Reviewer(name=f"r{k}", roles=r) for k, r in enumerate(people)]  # type: ignore[arg-type]
    by_name = {reviewer.name: reviewer for reviewer in reviewers}
    try:
        drawn = draw(reviewers, TASKS[:6], seed=seed)
    except MissingInputError:
        return
    for task in drawn:
        assert max(Counter(n for names in task.people.values() for n in names).values()) == 1
        for role, names in task.people.items():
            assert all(role in by_name[name].roles for name in names)
