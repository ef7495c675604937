"""What reviewers decide is done, and what they disagree on is escalated."""

from __future__ import annotations

import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.review import Decision, Edit, apply
from omibench.review.apply import rejections
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Choice, Problem
from omibench.schemas.tables import write_parquet


def problem(number: int, **fields: Any) -> Problem:
    sound: dict[str, Any] = {
        "id": f"physics-{number}", "question": "How far?", "source": "physics",
        "source_sha256": "0" * 64, "number": str(number), "pages": [1], "answer": ["1 m"],
        "solution": "It rolls.", "warnings": ["rationale: SIMULATED (sim)", "page_needs_ocr: 2"],
    }  # fmt: skip
    return Problem(**(sound | fields))


def decide(decision: str, by: str = "Ada", on: str = "physics-1", **more: Any) -> Decision:
    edit = Edit(**more.pop("edit")) if "edit" in more else None
    day = datetime.date(2026, 3, 1)
    return Decision(
        problem=on, decision=decision, reviewer=by, date=day, reason="Read it.", edit=edit, **more
    )


PROBLEMS = [problem(9), problem(1), problem(10)]


def test_decisions_are_done_and_the_rest_stays() -> None:
    new = {"answer": ["12 cm"], "subject": "physics", "topic": "waves"}
    left = apply(
        [decide("drop", on="physics-9"), decide("edit", edit=new), decide("keep", on="physics-10")],
        PROBLEMS,
    )
    assert [p.id for p in left] == ["physics-1", "physics-10"]
    assert (left[0].answer, left[0].topic, left[0].question) == (["12 cm"], "waves", "How far?")
    assert left[1] == PROBLEMS[2]
    assert apply([], PROBLEMS) == PROBLEMS


def test_choices_can_be_edited() -> None:
    choices = [Choice(label="A", text="1 m"), Choice(label="B", text="2 m")]
    (left,) = apply([decide("edit", edit={"choices": choices, "answer": ["B"]})], [problem(1)])
    assert left.choices == choices
    assert left.answer_type == "mcq"


def test_a_rewritten_rationale_is_no_longer_the_models() -> None:
    (left,) = apply([decide("edit", edit={"solution": "By Newton's law ..."})], [problem(1)])
    assert list(map(str, left.warnings)) == ["page_needs_ocr: 2"]
    (other,) = apply([decide("edit", edit={"topic": "waves"})], [problem(1)])
    assert other.warnings == problem(1).warnings


def test_an_edit_must_leave_a_consistent_problem() -> None:
    with pytest.raises(FileFormatError, match=r"physics-1: the edit by Ada .*\[IMAGE3\] is shown"):
        apply([decide("edit", edit={"question": "See [IMAGE3]."})], PROBLEMS)


def test_a_decision_on_a_rejected_problem_says_why_it_was_rejected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    why = {"reason": "answer_missing", "evidence": "no key gives an answer"}
    reject = Reject(
        id="physics-11", **why, reasons=["answer_missing", "too_few_images"],
        evidences=["no key gives an answer", "1 distinct"], stage="filter", source="p", number="11",
        question="?",
    )  # fmt: skip
    (tmp_path / "filter").mkdir()
    write_parquet(tmp_path / "filter/rejects.parquet", [reject], Reject)
    told = partial(rejections, tmp_path / "rationale/problems.jsonl")
    with pytest.raises(
        MissingInputError,
        match=r"which the filter rejected: answer_missing \(no key gives an answer\), "
        r"too_few_images \(1 distinct\); fix",
    ):
        apply([decide("keep", on="physics-11")], PROBLEMS, told)
    assert apply([decide("drop", on="physics-11")], PROBLEMS, told) == PROBLEMS
    assert "rejected already: answer_missing" in caplog.text
    with pytest.raises(MissingInputError, match="not among the 3"):
        apply([decide("keep", on="physics-12")], PROBLEMS, told)
    (tmp_path / "filter/rejects.parquet").write_text("broken")
    with pytest.raises(MissingInputError, match="not among the 3"):
        apply([decide("keep", on="physics-11")], PROBLEMS, told)


def test_an_unknown_problem_is_an_error_with_the_nearest_id() -> None:
    with pytest.raises(MissingInputError, match=r"'physics-11'.* did you mean 'physics-1"):
        apply([decide("keep", on="physics-11")], PROBLEMS)
    with pytest.raises(MissingInputError, match=r"'zzz', which is not among the 3 problems$"):
        apply([decide("keep", on="zzz")], PROBLEMS)


@pytest.mark.parametrize(
    ("first", "second", "conflict"),
    [
        (decide("keep"), decide("drop", by="Bo"), "drop after keep"),
        (decide("drop"), decide("keep", by="Bo"), "keep after drop"),
        (decide("edit", edit={"topic": "waves"}), decide("drop", by="Bo"), "drop after edit"),
        (decide("keep"), decide("edit", by="Bo", edit={"topic": "waves"}), "edit after keep"),
        (
            decide("edit", edit={"topic": "waves", "answer": ["1"]}),
            decide("edit", by="Bo", edit={"topic": "optics"}),
            "`topic` is set to 'optics' after 'waves'",
        ),
    ],
)
def test_reviewers_who_contradict_each_other_are_escalated(
    first: Decision, second: Decision, conflict: str
) -> None:
    with pytest.raises(FileFormatError, match=rf"Bo .* contradicts Ada .*{conflict}; escalate"):
        apply([first, second], PROBLEMS)


@pytest.mark.parametrize(
    "agreed",
    [
        [decide("drop"), decide("drop", by="Bo")],
        [decide("edit", edit={"topic": "waves"}), decide("keep", by="Bo")],
        [
            decide("edit", edit={"topic": "waves"}),
            decide("edit", by="Bo", edit={"topic": "waves", "answer": ["2 m"]}),
        ],
        [decide("keep"), decide("drop"), decide("drop", by="Bo")],
    ],
)
def test_reviewers_who_agree(agreed: list[Decision]) -> None:
    left = apply(agreed, [problem(1)])
    assert len(left) == (0 if agreed[-1].decision == "drop" else 1)
    if left:
        assert left[0].topic == "waves"


def test_a_binding_decision_settles_a_disagreement() -> None:
    quarrel = [decide("keep"), decide("drop", by="Bo")]
    senior = decide("edit", by="Cy", edit={"answer": ["2 m"]}, binding=True)
    (left,) = apply([*quarrel, senior], [problem(1)])
    assert left.answer == ["2 m"]
    with pytest.raises(FileFormatError, match="contradicts Cy"):
        apply([*quarrel, senior, decide("drop", by="Di")], [problem(1)])


def test_a_later_decision_of_one_reviewer_replaces_the_earlier() -> None:
    changed = [decide("drop"), decide("edit", edit={"topic": "waves"})]
    (left,) = apply(changed, [problem(1)])
    assert left.topic == "waves"
