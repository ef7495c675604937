"""What a review gives back to a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omibench.files.outputs import write_csv
from omibench.review.exports import LABEL_COLUMNS, PEOPLE_COLUMNS, list_answers, list_labels
from omibench.review.people import Reviewer
from omibench.schemas.problem import Answer
from omibench.schemas.review import ReviewDecision, ReviewedResponse, ReviewTask
from omibench.stages.analyze.user_files import read_people
from omibench.stages.certify.labels import read_labels
from review.builders import decide, make_task

ANN = Reviewer(name="ann", roles=["annotator"], group="expert")


def ask(name: str, **values: Any) -> ReviewTask:
    return make_task(name, "baseline", {"question": name}, **values)


FIRST, SECOND, WARM_UP = ask("p1"), ask("p2"), ask("p3", purpose="familiarisation")
ANSWERS = [
    decide(1, "ann", "annotator", FIRST, {"answer": "A"}, seconds=60),
    decide(2, "ann", "annotator", FIRST, {"answer": "=B"}, seconds=90),
    decide(3, "bot", "annotator", FIRST, {"answer": "12 m"}, simulated=True),
    decide(4, "ann", "annotator", SECOND, {"answer": None}),
    decide(5, "ann", "annotator", WARM_UP, {"answer": "C"}),
    decide(6, "bot", "annotator", SECOND, {"answer": "C"}, content_hash="f" * 64),
]


def test_answers_of_people_are_those_that_count(tmp_path: Path) -> None:
    rows = list_answers([FIRST, SECOND, WARM_UP], ANSWERS, [ANN])
    assert [tuple(row.values()) for row in rows] == [
        ("ann", "expert", "p1", "=B", 90.0, False),
        ("bot", "", "p1", "12 m", None, True),
        ("ann", "expert", "p2", "", None, False),
    ]
    write_csv(tmp_path / "people.csv", rows, PEOPLE_COLUMNS)
    golds = {n: Answer(id=n, answer=["A"], answer_type="open") for n in ("p1", "p2")}
    people = read_people(tmp_path / "people.csv", golds)
    assert [(p.person, p.answer, p.seconds, p.simulated) for p in people] == [
        ("ann", "=B", 90.0, False),
        ("bot", "12 m", None, True),
        ("ann", "", None, False),
    ]


def respond(kind: str, name: str = "p1", index: int = 0, steps: int = 0) -> ReviewTask:
    content = {"steps": [f"step {i}" for i in range(steps)], "error_types": ["perceptual"]}
    response = ReviewedResponse(model="m/x", setting="cot", id=name, index=index, sha256="a" * 64)
    return make_task(
        name, kind, content if steps else {}, id=f"{kind}:{name}#{index}", response=response
    )


def agree(number: int, task: ReviewTask, **fields: Any) -> list[ReviewDecision]:
    return [
        decide(10 * number, "ann", "annotator", task, fields),
        decide(10 * number + 1, "bob", "auditor", task, fields, simulated=number > 3),
    ]


def test_what_people_settled_on_responses_is_one_row_each(tmp_path: Path) -> None:
    rated, sourced, stepped = respond("rating"), respond("disagreement"), respond("steps", steps=3)
    right, open_task = respond("steps", "p2", 1, steps=1), respond("rating", "p3")
    decisions = [
        *agree(1, rated, label="wrong", overall=2, clarity=4),
        *agree(2, sourced, source="rule_match_error", label="right"),
        *agree(
            3,
            stepped,
            validation="wrong",
            steps=["right", "wrong", "no_step"],
            error_type="perceptual",
        ),
        *agree(4, right, validation="right", steps=["no_step"]),
        decide(60, "ann", "annotator", open_task, {"label": "right"}),
    ]
    rows = list_labels([rated, sourced, stepped, right, open_task], decisions)
    write_csv(tmp_path / "labels.csv", rows, LABEL_COLUMNS)
    merged, fine = read_labels(tmp_path / "labels.csv")
    assert merged.response_name == "p1 (m/x, cot, sample 0)"
    assert merged.labels == {
        "label": 0.0, "error_type": "perceptual", "source": "rule_match_error",
        "clarity": 4.0, "overall": 2.0, "steps": 2, "wrong_steps": 1,
    }  # fmt: skip
    assert (merged.response_sha256, merged.simulated) == ("a" * 64, False)
    assert fine.labels == {"label": 1.0, "error_type": "no_error"}
    assert (fine.id, fine.index, fine.simulated) == ("p2", 1, True)


def test_without_anything_settled_the_files_have_their_headings(tmp_path: Path) -> None:
    write_csv(tmp_path / "labels.csv", list_labels([], []), LABEL_COLUMNS)
    assert (tmp_path / "labels.csv").read_text("utf-8").startswith("id,model,setting,index,")
