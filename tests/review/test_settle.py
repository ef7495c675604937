"""What a whole review makes of problems."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.errors import FileFormatError
from omibench.review.contents import hash_content, make_content
from omibench.review.kinds import KINDS
from omibench.review.outcomes import (
    ReviewIndex,
    ReviewOutcome,
    ReviewRule,
    apply_decisions,
    apply_earlier_kinds,
)
from omibench.schemas.problem import Figure, Problem
from omibench.schemas.review import ReviewDecision, ReviewTask, TaskPicture
from review import builders
from review.builders import GOOD, decide, make_task

BAD = GOOD | {"valid": "invalid"}
PAGE = {"usable": "usable", "pictures": "right"}


def make_problem(name: str, question: str = "How far?") -> Problem:
    plain = {"choices": None, "answer": ["1 m"], "solution": None}
    return builders.make_problem(name, question=question, **plain)


def ask(problem: Problem, kind: str = "item") -> ReviewTask:
    return make_task(problem.id, kind, make_content(kind, problem))


PROBLEMS = [make_problem(name) for name in ("good", "bad", "split", "audit", "changed", "new")]
GOOD_TASK, BAD_TASK, SPLIT_TASK, AUDIT_TASK, OLD_TASK = TASKS = [
    *map(ask, PROBLEMS[:4]),
    ask(make_problem("changed", "How long?")),
]
DECISIONS = [
    decide(1, "ann", "annotator", GOOD_TASK),
    decide(2, "bob", "auditor", GOOD_TASK, simulated=True),
    decide(3, "ann", "annotator", BAD_TASK, BAD),
    decide(4, "bob", "auditor", BAD_TASK, BAD),
    decide(5, "ann", "annotator", SPLIT_TASK),
    decide(6, "bob", "auditor", SPLIT_TASK, BAD),
    decide(7, "ann", "annotator", AUDIT_TASK),
    decide(8, "ann", "annotator", OLD_TASK),
]


def settle(*more: ReviewDecision, reviewers: int = 2, **values: Any) -> ReviewOutcome:
    rule = ReviewRule(reviewers, values.pop("kinds", ("item",)))
    return apply_decisions(PROBLEMS, TASKS, [*DECISIONS, *more], rule, **values)


def test_settled_tasks_are_obeyed_and_the_others_are_listed() -> None:
    review = settle()
    assert [p.id for p in review.problems] == ["good", "split", "audit", "changed", "new"]
    assert review.dropped == {"bad": "item, valid: invalid"}
    assert review.settled == {"good", "bad"}
    assert (review.people, review.simulated) == ({"ann", "bob"}, {"bob"})
    assert review.lacking == ["audit (item: audit)", "new (item: no task)"]
    assert (review.escalated, review.stale) == (["item:split"], ["item:changed"])


def test_the_rule_is_the_study_s_own() -> None:
    assert settle(reviewers=1).lacking == ["new (item: no task)"]
    review = settle(reviewers=0)
    assert (review.lacking, review.escalated) == ([], ["item:split"])
    assert settle(reviewers=0).settled == {"good", "bad", "audit"}
    assert "good (page: no task)" in settle(kinds=("page",)).lacking
    assert not [line for line in settle(kinds=("translation",)).lacking if "translation" in line]
    assert settle(decided_elsewhere={"audit", "new"}).lacking == []


def test_each_kind_is_about_what_the_kinds_before_it_left() -> None:
    (problem,) = problems = [make_problem("p")]
    page = ask(problem, "page")
    corrected = [
        decide(1, "ann", "annotator", page, PAGE | {"question": "How long?"}),
        decide(2, "bob", "auditor", page, PAGE | {"question": "How long?"}),
    ]
    before, after = ask(problem), ask(make_problem("p", "How long?"))
    rule = ReviewRule(1)
    stale = apply_decisions(
        problems, [page, before], [*corrected, decide(3, "ann", "annotator", before)], rule
    )
    assert (stale.stale, stale.problems[0].question) == (["item:p"], "How long?")
    fresh = apply_decisions(
        problems, [page, after], [*corrected, decide(3, "ann", "annotator", after)], rule
    )
    assert (fresh.stale, fresh.lacking) == ([], [])
    left = apply_earlier_kinds(problem, "item", ReviewIndex([page], corrected), rule)
    assert left is not None
    assert left.question == "How long?"
    assert apply_earlier_kinds(problem, "page", ReviewIndex([page], corrected), rule) == problem


def test_a_dropped_problem_needs_no_more() -> None:
    (problem,) = problems = [make_problem("p")]
    tasks = [ask(problem, "difficulty"), ask(problem)]
    trivial = decide(1, "ann", "annotator", tasks[0], {"curation": "trivial"})
    review = apply_decisions(problems, tasks, [trivial], ReviewRule(1, ("page", "item")))
    assert (review.problems, review.lacking) == ([], [])
    index = ReviewIndex(tasks, [trivial])
    assert apply_earlier_kinds(problem, "item", index, ReviewRule(1)) is None


def test_a_photograph_is_decided_on_as_long_as_it_is_the_same() -> None:
    taken, clean = [TaskPicture(sha256=letter * 64, suffix="png") for letter in "ab"]
    figure = Figure(file="a.png", sha256="a" * 64)
    problem = make_problem("p").model_copy(update={"images": [figure]})
    content: dict[str, Any] = {"question": "How far?", "facts": {"file": "p.png"}}
    kind = KINDS["photo_fields"]
    task = ReviewTask(
        id="photo_fields:p",
        kind=kind.name,
        problem="p",
        content=content,
        content_hash=hash_content(kind, content, [taken, clean]),
        pictures=[taken, clean],
    )
    decision = decide(1, "ann", "annotator", task, {"question": "How long?", "stage": "High"})

    def settle_photograph(**changes: Any) -> ReviewOutcome:
        changed = problem.model_copy(update=changes)
        return apply_decisions([changed], [task], [decision], ReviewRule(1, ()))

    review = settle_photograph()
    assert (review.stale, review.problems[0].attributes) == ([], {"stage": "High"})
    other = figure.model_copy(update={"sha256": "c" * 64})
    assert settle_photograph(images=[other]).stale == ["photo_fields:p"]
    assert settle_photograph(question="How?").stale == ["photo_fields:p"]


def test_an_edit_that_does_not_fit_is_to_be_decided_again() -> None:
    (problem,) = problems = [make_problem("p")]
    task = ask(problem)
    decision = decide(1, "ann", "annotator", task, GOOD | {"question": "See [IMAGE3]."})
    with pytest.raises(FileFormatError, match=r"item:p: .*IMAGE3.*; decide the task again"):
        apply_decisions(problems, [task], [decision], ReviewRule(1))


def test_samples_settle_nothing() -> None:
    (problem,) = problems = [make_problem("p")]
    sample = ask(problem).model_copy(update={"id": "item:p@w", "purpose": "sample"})
    decision = decide(1, "eve", "senior", sample, BAD)
    assert apply_decisions(problems, [sample], [decision], ReviewRule(1)).dropped == {}
