"""Where a whole review stands."""

from __future__ import annotations

import json

from omibench.review.folder import compute_head
from omibench.review.progress import describe_progress, dump_progress, measure_people
from omibench.review.report import KindProgress, summarize_review
from review.builders import GOOD, decide, make_task

PEOPLE = {"annotator": ["ann"], "auditor": ["bob"], "senior": ["eve"]}
OPEN, AUDITED, ESCALATED, SETTLED, CHANGED = TASKS = [
    make_task(name, people=PEOPLE) for name in ("open", "audit", "split", "done", "changed")
]
OLD = "f" * 64
DECISIONS = [
    decide(1, "ann", "annotator", AUDITED, seconds=30),
    decide(2, "ann", "annotator", ESCALATED, seconds=50),
    decide(3, "bob", "auditor", ESCALATED, GOOD | {"valid": "invalid"}),
    decide(4, "ann", "annotator", SETTLED, content_hash=OLD),
    decide(5, "ann", "annotator", SETTLED, seconds=90),
    decide(6, "bob", "auditor", SETTLED, simulated=True),
    decide(7, "ann", "annotator", CHANGED, content_hash=OLD),
    decide(8, "ann", "annotator", make_task("gone")),
]


def test_a_review_is_counted_by_kind() -> None:
    report = summarize_review(TASKS, DECISIONS)
    assert report.kinds == (KindProgress("item", 2, 1, 1, 1, people=2),)
    assert (report.kinds[0].tasks, report.open_tasks) == (5, 4)
    assert report.stale == ("item:changed",)
    assert (report.superseded, report.orphans, report.decisions) == (1, 1, 8)
    assert report.escalations == ("item:split",)
    assert report.head == compute_head(DECISIONS)
    assert (report.people, report.simulated) == (("ann", "bob"), ("bob",))


def test_the_number_of_reviewers_is_the_study_s_own() -> None:
    assert summarize_review(TASKS, DECISIONS, reviewers=1).kinds[0].settled == 2


def test_samples_and_calibrations_are_no_progress() -> None:
    sample = make_task("done", id="item:done@week", purpose="sample", of="item:done")
    assert summarize_review([*TASKS, sample], DECISIONS).kinds[0].tasks == 5


def test_people_have_done_waiting_and_stale_tasks() -> None:
    ann, bob, eve = measure_people(TASKS, DECISIONS)
    assert (ann.person, ann.done, ann.waiting, ann.stale, ann.seconds) == ("ann", 3, 2, 1, 50)
    assert (bob.person, bob.done, bob.waiting, bob.simulated) == ("bob", 2, 1, True)
    assert (eve.person, eve.done, eve.waiting, eve.seconds) == ("eve", 0, 1, None)


def test_progress_is_a_table_and_a_document() -> None:
    report, people = summarize_review(TASKS, DECISIONS), measure_people(TASKS, DECISIONS)
    text = describe_progress(report, people)
    assert "bob (SIMULATED)" in text
    assert "escalated (1): item:split" in text
    assert "stale, to decide again (1): item:changed" in text
    document = json.loads(dump_progress(report, people))
    assert document["kinds"][0]["settled"] == 1
    assert document["by_person"][0]["person"] == "ann"
