"""What a reader notes is what the next run reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.explore.app.conftest import Open
from tests.explore.app.studies import copy_results, make_sources, write_problems
from tests.stages.analyze.conftest import Folders

from omibench.params.review import CalibrationParams, ReviewParams
from omibench.review.folder import append_decisions, read_review
from omibench.review.outcomes import ReviewRule, apply_decisions
from omibench.review.tasks.drafts import write_tasks
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from review.builders import GOOD, decide, make_task


class Desk:
    """A reader of the explorer, and the review that notes go to."""

    def __init__(self, made: Folders, folder: Path, open_client: Open) -> None:
        self.results = copy_results(made.freeze.parent, folder / "results")
        write_problems(self.results)
        self.review = folder / "review"
        self.client = open_client(make_sources(self.results, made.study, review=self.review))
        self.id = self.client.get("/api/items").json()["items"][0]["id"]

    def send(self, kind: str, **values: Any) -> Any:
        """Post a note."""
        note = {"id": self.id, "kind": kind, "person": "ann", "comment": "see $x$\r\n<b>"}
        return self.client.post("/api/notes", json=note | values)


@pytest.fixture
def desk(made_results: Folders, tmp_path: Path, open_client: Open) -> Desk:
    return Desk(made_results, tmp_path, open_client)


@pytest.mark.parametrize(
    ("kind", "defect"), [("gold_is_wrong", "wrong_answer"), ("unreadable_picture", "unreadable")]
)
def test_a_note_on_an_item_drops_it_from_the_next_dataset(
    desk: Desk, kind: str, defect: str
) -> None:
    assert desk.client.get("/api/study").json()["notes"]
    answer = desk.send(kind)
    assert answer.status_code == 201
    record = read_review(desk.review)
    (decision,) = record.decisions
    assert decision.id == answer.json()["id"]
    assert (decision.task, decision.person, decision.role) == (
        f"item:{desk.id}",
        "ann",
        "annotator",
    )
    assert decision.fields["defects"] == [defect]
    assert decision.comment == "see $x$\n<b>"
    problems = read_jsonl(desk.results / "rationale" / "problems.jsonl", Problem)
    rule = ReviewRule(reviewers=0)
    settled = apply_decisions(problems, record.tasks, record.decisions, rule)
    assert list(settled.dropped) == [desk.id]
    assert not settled.stale
    assert (desk.review / record.tasks[0].pictures[0].file).is_file()


def test_a_note_on_a_verdict_is_a_label_that_contradicts_it(desk: Desk) -> None:
    item = desk.client.get(f"/api/items/{desk.id}?cells=sim-weak/cot").json()
    main = desk.client.get("/api/study").json()["main_rules"]
    verdicts = item["columns"][0]["samples"][0]["verdicts"]
    word = next(v["verdict"] for v in verdicts if v["rules"] == main)
    assert desk.send("verdict_is_wrong", cell="sim-weak/cot").status_code == 201
    record = read_review(desk.review)
    assert record.decisions[0].task == f"rating:sim-weak/cot/{desk.id}#0"
    assert record.decisions[0].fields["label"] == ("wrong" if word >= 0.5 else "right")
    assert record.tasks[0].response is not None
    assert record.tasks[0].response.model == "sim-weak"


def test_the_same_task_takes_many_notes_and_others_stay(desk: Desk) -> None:
    answer = desk.send("gold_is_wrong")
    assert answer.status_code == 201, answer.text
    assert desk.send("unreadable_picture").status_code == 201
    assert desk.send("verdict_is_wrong", cell="sim-strong/direct").status_code == 201
    record = read_review(desk.review)
    assert len(record.tasks) == 2
    assert len(record.decisions) == 3
    assert not record.errors


def test_who_is_no_annotator_notes_nothing(desk: Desk) -> None:
    desk.review.mkdir()
    people = "- {name: ann, roles: [auditor]}\n- {name: ben, roles: [annotator]}\n"
    (desk.review / "reviewers.yaml").write_text(people)
    assert "not an annotator" in desk.send("gold_is_wrong").json()["message"]
    assert "is not in reviewers.yaml" in desk.send("gold_is_wrong", person="bem").json()["message"]
    assert desk.send("gold_is_wrong", person="ben").status_code == 201
    tasks = desk.review / "tasks.jsonl"
    tasks.write_text(tasks.read_text().replace('"people":{}', '"people":{"annotator":["cas"]}'))
    assert "waits only for cas" in desk.send("gold_is_wrong", person="ben").json()["message"]
    assert len(read_review(desk.review).decisions) == 1


def test_who_has_audited_a_task_is_no_annotator_of_it(desk: Desk) -> None:
    answer = desk.send("gold_is_wrong")
    assert answer.status_code == 201, answer.text
    record = read_review(desk.review)
    audit = record.decisions[0].model_copy(update={"id": "a", "person": "ben", "role": "auditor"})
    append_decisions(desk.review, [("test", audit)])
    assert "has audited" in desk.send("gold_is_wrong", person="ben").json()["message"]
    assert len(read_review(desk.review).decisions) == 2


def test_who_has_not_passed_the_calibration_notes_nothing(
    made_results: Folders, tmp_path: Path, open_client: Open
) -> None:
    desk = Desk(made_results, tmp_path, open_client)
    rule = ReviewParams(calibration=CalibrationParams(items=2))
    study = made_results.study.model_copy(update={"review": rule})
    desk.client = open_client(make_sources(desk.results, study, review=desk.review))
    desk.review.mkdir()
    golds = (GOOD, {"valid": "invalid", "quality": 1})
    tasks = [
        make_task(f"p{n}", id=f"item:p{n}@first", purpose="calibration", gold=gold)
        for n, gold in enumerate(golds)
    ]
    write_tasks(desk.review, tasks)
    answer = desk.send("gold_is_wrong")
    assert answer.status_code == 400
    assert "'ann' has not passed the calibration of 'item' tasks" in answer.json()["message"]
    # The labels of responses have no calibration tasks here, and need none.
    assert desk.send("verdict_is_wrong", cell="sim-weak/cot").status_code == 201
    made = [decide(n, "ann", "annotator", task, task.gold) for n, task in enumerate(tasks)]
    append_decisions(desk.review, [("test", decision) for decision in made])
    answer = desk.send("gold_is_wrong")
    assert answer.status_code == 201, answer.text
    assert "has not passed" in desk.send("gold_is_wrong", person="ben").json()["message"]


@pytest.mark.parametrize(
    ("values", "status", "message"),
    [
        ({"kind": "other"}, 400, "gold_is_wrong"),
        ({"person": " "}, 400, "give your name"),
        ({"id": "../x"}, 404, "' not found"),
        ({"kind": "verdict_is_wrong"}, 400, "MODEL/SETTING"),
        ({"kind": "verdict_is_wrong", "cell": "../../etc/x"}, 400, "MODEL/SETTING"),
        ({"kind": "verdict_is_wrong", "cell": "sim-weak/cot", "index": 7}, 404, "response 7 of"),
        ({"kind": "verdict_is_wrong", "cell": "sim-weak/cot", "rules": "x"}, 400, "no verdicts"),
        ({"index": -1}, 400, "index: "),
        ({"comment": "x" * 20_000}, 400, "comment: String should have at most 10000 characters"),
        ({"comment": "x" * 70_000}, 413, "KiB are not accepted"),
        ({"comment": ["x"]}, 400, "comment: Input should be a valid string"),
    ],
)
def test_a_note_that_says_nothing_is_one_line(
    desk: Desk, values: dict[str, Any], status: int, message: str
) -> None:
    answer = desk.send(**({"kind": "gold_is_wrong"} | values))
    assert answer.status_code == status
    assert message in answer.json()["message"]
    assert not (desk.review / "decisions.jsonl").exists()


def test_another_site_notes_nothing(desk: Desk) -> None:
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        desk.client.headers = headers
        assert desk.send("gold_is_wrong").status_code == 403
    desk.client.headers = {}
    form = desk.client.post("/api/notes", data={"id": desk.id})
    assert form.status_code == 415
    assert not desk.review.exists()


def test_without_a_review_nothing_is_written(client: Any) -> None:
    answer = client.post("/api/notes", json={"id": "x", "kind": "gold_is_wrong", "person": "a"})
    assert answer.status_code == 400
    assert "--review" in answer.json()["message"]
