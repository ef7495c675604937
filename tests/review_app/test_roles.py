"""Who may do what: never the same person twice, and only who is asked."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.review.app.tasks import choose_role, find_awaited, fit_kind, is_asked, may_decide
from omibench.review.kinds import KINDS
from omibench.review.people import Reviewer
from omibench.review.state import compute_state
from review.builders import decide
from review_app.builders import BAD, GOOD, make_task

ALL = ["annotator", "auditor", "senior"]
TASK = make_task(1)
FIRST = decide(1, "ann", "annotator", TASK, GOOD)
AUDIT = decide(2, "bob", "auditor", TASK, GOOD)
OBJECTION = decide(2, "bob", "auditor", TASK, BAD)
SENIOR = decide(3, "eve", "senior", TASK, BAD)


def judge(person: Reviewer, *decisions: Any, **values: Any) -> tuple[str | None, bool]:
    """The role that a person has, and whether they may decide."""
    task = make_task(1, **values)
    kind = fit_kind(KINDS["item"], task)
    state = compute_state(task, kind, decisions)
    role = choose_role(task, kind, state, person)
    return role, role is not None and may_decide(task, kind, state, person, role)


def be(name: str, *roles: Any, **values: Any) -> Reviewer:
    return Reviewer(name=name, roles=list(roles) or ALL, **values)


@pytest.mark.parametrize(
    ("person", "decisions", "role", "may"),
    [
        (be("ann"), [], "annotator", True),
        (be("bob", "auditor"), [], "auditor", False),
        (be("eve", "senior"), [], "senior", False),
        # Who annotated neither audits nor settles, and may correct themselves.
        (be("ann"), [FIRST], "annotator", True),
        (be("ann"), [FIRST, OBJECTION], "annotator", True),
        (be("abe", "annotator"), [FIRST], "annotator", False),
        (be("bob"), [FIRST], "auditor", True),
        (be("bob"), [FIRST, OBJECTION], "auditor", True),
        (be("cleo"), [FIRST, OBJECTION], "senior", True),
        (be("cleo"), [FIRST, AUDIT], "annotator", False),
        (be("eve", "senior"), [FIRST, AUDIT], "senior", True),
        (be("eve", "senior"), [FIRST, OBJECTION, SENIOR], "senior", True),
        (be("abe", "annotator"), [FIRST, OBJECTION], "annotator", False),
    ],
)
def test_a_person_has_one_role_in_a_task(
    person: Reviewer, decisions: list[Any], role: str, may: bool
) -> None:
    assert judge(person, *decisions) == (role, may)


def test_only_who_is_named_is_asked() -> None:
    people = {"annotator": ["ann"], "auditor": ["bob"]}
    assert judge(be("ann"), people=people) == ("annotator", True)
    assert judge(be("abe", "annotator", "auditor"), people=people) == (None, False)
    assert judge(be("bob"), FIRST, people=people) == ("auditor", True)
    assert judge(be("cleo", "auditor"), FIRST, people=people) == (None, False)


def test_a_subject_is_for_those_who_know_it() -> None:
    strata = {"subject": "physics"}
    assert judge(be("ann", "annotator", subjects=["physics"]), strata=strata)[1]
    assert judge(be("ann", "annotator", subjects=["biology"]), strata=strata) == (None, False)
    assert judge(be("ann", "annotator", subjects=["biology"]))[1]


def test_each_person_does_a_calibration() -> None:
    for person in (be("bob", "auditor"), be("ann", "annotator")):
        assert judge(person, FIRST, purpose="calibration")[0] == "annotator"
    assert judge(be("abe", "annotator"), FIRST, purpose="calibration") == ("annotator", True)
    people = {"annotator": ["ann"]}
    assert judge(be("abe"), purpose="calibration", people=people) == (None, False)


def test_a_sample_waits_for_a_senior() -> None:
    task = make_task(1, purpose="sample")
    state = compute_state(task, KINDS["item"], [])
    assert find_awaited(task, KINDS["item"], state) == "senior"
    assert judge(be("ann", "annotator"), purpose="sample") == ("annotator", False)
    assert is_asked(task, "senior", be("eve", "senior"))
