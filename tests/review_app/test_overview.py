"""What a person has to do, and how far everything is."""

from __future__ import annotations

from pathlib import Path

from omibench.review.app.overview import list_tasks, measure_kinds, measure_people
from omibench.review.app.pages import Workload
from review.builders import decide, write_lines
from review_app.builders import BAD, GOOD, make_service, make_task, open_browser, write_tasks


def test_a_person_sees_what_is_done_and_what_waits(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann, bob = open_browser(service, "ann"), open_browser(service, "bob")
    ann.decide("item:p1", **GOOD)
    ann.decide("item:p2", **GOOD)
    bob.decide("item:p2", **BAD)
    workloads, lines, hidden = list_tasks(service, service.content.people["ann"])
    assert workloads == [Workload("Item", "annotator", done=2, total=3, next_task="item:p3")]
    assert [(line.id, line.status) for line in lines] == [
        ("item:p3", "open"),
        ("item:p2", "done"),  # the annotator does not learn that it was contested
        ("item:p1", "done"),
    ]
    assert hidden == 0
    workloads, _, _ = list_tasks(service, service.content.people["bob"])
    assert workloads == [Workload("Item", "auditor", done=1, total=2, next_task="item:p1")]


def test_what_another_program_exported_counts_as_an_annotators(tmp_path: Path) -> None:
    make_service(tmp_path).close()
    write_lines(tmp_path / "decisions.jsonl", decide(1, "ann", "imported", make_task(1)))
    service = make_service(tmp_path)
    workloads, _, _ = list_tasks(service, service.content.people["ann"])
    assert [(work.role, work.done, work.total) for work in workloads] == [("annotator", 1, 3)]
    assert open_browser(service, "bob").open("item:p1")["may_decide"]


def test_a_long_list_says_how_many_more_there_are(tmp_path: Path) -> None:
    service = make_service(tmp_path, [make_task(n) for n in range(203)])
    _, lines, hidden = list_tasks(service, service.content.people["ann"])
    assert (len(lines), hidden) == (200, 3)


def test_progress_counts_tasks_stale_ones_and_people(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    ann, eve = open_browser(service, "ann"), open_browser(service, "eve")
    ann.decide("item:p1", **GOOD)
    ann.open("item:p2")
    ann.send("item:p2", seconds=15.0)
    changed = make_task(1, content={"question": "Why not?", "answer": ["A"]})
    write_tasks(tmp_path, [changed, make_task(2), make_task(3)])
    assert len(service.content.tasks) == 3
    (kind,), head = measure_kinds(service)
    assert (kind.counts, kind.stale, kind.total) == ({"open": 2, "audit": 1}, 1, 3)
    people = {person.name: person for person in measure_people(service)}
    assert (people["ann"].decided, people["ann"].median_seconds) == (2, 10.0)
    assert (people["bob"].decided, people["bob"].median_seconds) == (0, None)
    assert [person.name for person in measure_people(service, "bob")] == ["bob"]
    assert head in eve.client.get("/progress").text
    assert head not in ann.client.get("/progress").text
    assert "eve" not in ann.client.get("/progress").text
