"""What decisions make of a task (OMIBench, A.4)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from omibench.review.kinds import KINDS
from omibench.review.state import TaskState, compute_state
from omibench.schemas.review import ReviewDecision, ReviewTask
from review import builders
from review.builders import GOOD, make_task

ITEM = KINDS["item"]
TASK = make_task()


def decide(number: int, person: str, role: Any, task: ReviewTask = TASK, **fields: Any) -> Any:
    return builders.decide(number, person, role, task, GOOD | fields)


def fold(*decisions: ReviewDecision, reviewers: int | None = None) -> TaskState:
    return compute_state(TASK, ITEM, decisions, reviewers)


def test_a_task_waits_for_an_annotator_then_for_an_auditor() -> None:
    assert fold().status == "open"
    assert fold(decide(1, "ann", "annotator")).status == "audit"
    assert fold(decide(1, "ann", "annotator"), reviewers=1).status == "settled"
    state = fold(decide(1, "ann", "annotator"), decide(2, "bob", "auditor", quality=5))
    assert (state.status, state.fields) == ("settled", GOOD)


def test_nobody_audits_their_own_decision() -> None:
    state = fold(decide(1, "ann", "annotator"), decide(2, "ann", "auditor"))
    assert state.status == "audit"


def test_opposing_flags_and_ratings_two_apart_escalate() -> None:
    first = decide(1, "ann", "annotator")
    flags = fold(first, decide(2, "bob", "auditor", valid="invalid"))
    assert (flags.status, flags.differences) == ("escalated", ("valid",))
    ratings = fold(first, decide(2, "bob", "auditor", quality=2))
    assert (ratings.status, ratings.differences) == ("escalated", ("quality",))
    assert fold(first, decide(2, "bob", "auditor", quality=3)).status == "settled"


def test_an_answer_that_one_reader_alone_corrects_goes_to_a_senior() -> None:
    first = decide(1, "ann", "annotator", answer="2 m")
    assert fold(first, decide(2, "bob", "auditor")).differences == ("answer",)
    assert fold(first, decide(2, "bob", "auditor", answer="3 m")).status == "escalated"
    assert fold(first, decide(2, "bob", "auditor", answer=" 2  m\n")).status == "settled"


def test_corrections_in_different_words_go_to_a_senior() -> None:
    first = decide(1, "ann", "annotator", question="Why, then?")
    plain = decide(1, "ann", "annotator")
    assert fold(plain, decide(2, "bob", "auditor", question="Why?!")).differences == ("question",)
    assert fold(first, decide(2, "bob", "auditor")).differences == ("question",)
    assert fold(first, decide(2, "bob", "auditor", question="Why,  then?\n")).fields == first.fields


def test_a_text_that_changes_after_the_audit_is_not_settled_unread() -> None:
    first, audit = decide(1, "ann", "annotator"), decide(2, "bob", "auditor")
    assert fold(first, audit).status == "settled"
    changed = fold(first, audit, decide(3, "ann", "annotator", question="How?"))
    assert (changed.status, changed.differences) == ("escalated", ("question",))


def test_the_senior_binds_and_a_later_objection_opens_another_round() -> None:
    first, second = decide(1, "ann", "annotator"), decide(2, "bob", "auditor", valid="invalid")
    senior = decide(3, "eve", "senior", valid="invalid")
    state = fold(first, second, senior)
    assert (state.status, state.settled_by, state.rounds) == ("settled", "senior", 1)
    assert state.fields is not None
    assert state.fields["valid"] == "invalid"
    assert fold(first, second, senior, decide(4, "bob", "auditor", valid="invalid")).rounds == 1
    assert fold(first, second, decide(3, "bob", "auditor", quality=1)).rounds == 1
    again = fold(first, second, senior, decide(4, "ann", "annotator", quality=1))
    assert (again.status, again.rounds) == ("escalated", 2)


def test_a_lone_senior_settles_only_where_one_reader_is_enough() -> None:
    senior = decide(1, "eve", "senior")
    assert fold(senior).status == "open"
    assert fold(senior, reviewers=1).status == "settled"
    sample = TASK.model_copy(update={"purpose": "sample", "of": "item:p0"})
    assert compute_state(sample, ITEM, [senior]).status == "settled"
    agreed = fold(senior, decide(2, "ann", "annotator"), decide(3, "bob", "auditor"))
    assert (agreed.status, agreed.settled_by) == ("settled", "auditor")


def test_nobody_settles_a_disagreement_of_their_own() -> None:
    first, second = decide(1, "ann", "annotator"), decide(2, "bob", "auditor", valid="invalid")
    assert fold(first, second, decide(3, "bob", "senior", valid="invalid")).status == "escalated"
    assert fold(first, second, decide(3, "eve", "senior", valid="invalid")).status == "settled"


def test_a_decision_on_other_content_is_stale() -> None:
    state = fold(decide(1, "ann", "annotator", make_task(content={"question": "Why not?"})))
    assert state.status == "open"
    assert [decision.id for decision in state.stale] == ["d1"]


roles = st.sampled_from(["annotator", "auditor", "senior"])
events = st.lists(
    st.tuples(st.sampled_from("abc"), roles, st.sampled_from(["valid", "invalid"])), max_size=8
)


@given(events, st.randoms())
def test_the_order_of_lines_changes_nothing(drawn: list[Any], random: Any) -> None:
    decisions = [decide(i, who, role, valid=v) for i, (who, role, v) in enumerate(drawn)]
    shuffled = random.sample(decisions, len(decisions))
    assert fold(*decisions) == fold(*shuffled)
    state = fold(*decisions)
    assert (state.status == "settled") == (state.fields is not None)
