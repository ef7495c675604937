"""Tasks go to Label Studio, and what people decide there comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from omibench.errors import FileFormatError
from omibench.review.folder import ReviewRecord
from omibench.review.importing import import_decisions
from omibench.review.kinds import KINDS, Kind
from omibench.review.label_studio.configuration import write_configuration
from omibench.review.label_studio.export import export_tasks
from omibench.review.label_studio.importing import read_export, read_users
from omibench.review.people import Reviewer
from omibench.schemas.review import ReviewTask, TaskPicture
from review.builders import GOOD, make_task, write_lines

HOSTILE = '</View><Text name="x"/>&"\'<script>alert(1)</script>'
CANDIDATES = [{"id": "c1", "text": "First."}, {"id": "c2", "text": "Second."}]
ANN = Reviewer(name="ann", roles=["annotator"], email="Ann@example.org")


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def fill_content(kind: Kind) -> dict[str, Any]:
    """Something in every part of a kind."""
    values: dict[str, Any] = {
        "candidates": CANDIDATES,
        "steps": ["one", "two"],
        "choices": [{"label": "A", "text": "x"}, {"label": "B", "image": 0}],
        "facts": {"language": "en"},
        "answer": ["A"],
    }
    return {part.name: values.get(part.style, f"{part.name} {HOSTILE}") for part in kind.parts} | {
        part.name: ["first", "second"] for part in kind.parts if part.name in _LISTS
    }


_LISTS = {"subfields", "error_types"}


def test_controls_are_the_fields_of_the_kind(kind: Kind) -> None:
    root = ElementTree.fromstring(write_configuration(kind))
    controls = {e.get("name") for e in root.iter() if e.get("toName")}
    expected = {f"{f.name}_{{{{index}}}}" if f.type == "steps" else f.name for f in kind.fields}
    assert controls == expected
    names = [e.get("name") for e in root.iter() if e.get("name")]
    assert len(set(names)) == len(names)
    objects = {e.get("name") for e in root.iter() if e.tag in ("Text", "Image")}
    assert {e.get("toName") for e in root.iter() if e.get("toName")} <= objects


def test_every_value_of_the_configuration_is_in_the_data(kind: Kind) -> None:
    root = ElementTree.fromstring(write_configuration(kind))
    (document,) = export_tasks(kind, [make_task("p1", kind.name, fill_content(kind))])
    for element in root.iter():
        for name in ("value", "valueList", "on"):
            key = (element.get(name) or "").partition("[")[0]
            if key.startswith("$"):
                assert key[1:] in document["data"], key
    values = [e.get("value") for e in root.iter("Choice")]
    assert all(values)


def test_hostile_text_stays_text(kind: Kind) -> None:
    content = fill_content(kind)
    (document,) = export_tasks(kind, [make_task(HOSTILE, kind.name, content)])
    shown = document["data"].get("part_question", HOSTILE)
    assert HOSTILE in shown
    assert "<script>" not in write_configuration(kind)
    for name, options in document["data"].items():
        if name.startswith("options_"):
            assert all("<" not in option["html"] for option in options)


def test_hidden_parts_gold_and_people_stay_here(kind: Kind) -> None:
    task = make_task("p1", kind.name, fill_content(kind)).model_copy(
        update={"gold": {"valid": "SECRET"}, "people": {"annotator": ["SECRET"]}}
    )
    for role in ("annotator", "auditor"):
        text = json.dumps(export_tasks(kind, [task], role))  # type: ignore[arg-type]
        assert "SECRET" not in text
        hidden = {part.name for part in kind.parts} - {
            part.name
            for part in kind.list_visible_parts(role)  # type: ignore[arg-type]
        }
        for name in hidden:
            assert f"{name} <" not in text
            assert f'"part_{name}"' not in text
    baseline = json.dumps(export_tasks(KINDS["baseline"], [task]))
    assert "answer <" not in baseline


def test_pictures_are_addresses() -> None:
    picture = TaskPicture(sha256="a" * 64, suffix="png")
    page = TaskPicture(sha256="b" * 64, suffix="png", part="page")
    task = make_task("p1", "page").model_copy(update={"pictures": [picture, page]})
    (document,) = export_tasks(KINDS["page"], [task], pictures="/files/?d=review/")
    assert document["data"]["part_images"] == [{"url": f"/files/?d=review/pictures/{'a' * 64}.png"}]
    assert document["data"]["part_pages"] == [{"url": f"/files/?d=review/pictures/{'b' * 64}.png"}]


def test_candidates_are_predictions() -> None:
    task = make_task("p1", "rationale", {"question": "Why?", "candidates": CANDIDATES})
    (document,) = export_tasks(KINDS["rationale"], [task])
    first, second = document["predictions"]
    assert (first["model_version"], second["model_version"]) == ("c1", "c2")
    values = {result["from_name"]: result["value"] for result in second["result"]}
    assert values == {"solution": {"text": ["Second."]}, "candidate": {"choices": ["c2"]}}


def annotate(task: ReviewTask, values: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A task as Label Studio exports it once somebody has filled in the controls."""
    (document,) = export_tasks(KINDS[task.kind], [task])
    annotation = {
        "id": 7,
        "completed_by": {"id": 1, "email": "ann@example.org"},
        "result": [
            {"id": "x", "from_name": name, "to_name": "task", "type": "t", "value": value}
            for name, value in values.items()
        ],
        "was_cancelled": False,
        "lead_time": 12.5,
        "created_at": "2026-11-20T10:00:00.000000Z",
        "updated_at": "2026-11-20T10:05:00.000000Z",
    }
    return {"id": 3, "data": document["data"], "annotations": [annotation | changes]}


ITEM = {"valid": {"choices": ["valid"]}, "quality": {"rating": 4}}


def read(tmp_path: Path, task: ReviewTask, *entries: Any, users: Any = None) -> Any:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(list(entries)), encoding="utf-8")
    return read_export(path, ReviewRecord(tmp_path, (task,), (), (ANN,)), users)


def test_an_annotation_is_an_imported_decision(tmp_path: Path) -> None:
    task = make_task()
    outcome = read(tmp_path, task, annotate(task, ITEM))
    ((place, decision),) = outcome.decisions
    assert place.endswith("export.json, task 1, annotation 1")
    assert (decision.person, decision.role, decision.task) == ("ann", "imported", task.id)
    assert decision.fields == {**dict.fromkeys(KINDS["item"].by_name), **GOOD}
    assert (decision.seconds, decision.time.isoformat()) == (12.5, "2026-11-20T10:05:00+00:00")


def test_importing_again_changes_nothing(tmp_path: Path) -> None:
    task = make_task()
    write_lines(tmp_path / "tasks.jsonl", task)
    review = ReviewRecord(tmp_path, (task,), (), (ANN,))
    for added in (1, 0):
        outcome = read(tmp_path, task, annotate(task, ITEM))
        assert import_decisions(review, outcome.decisions).added == added


def test_steps_flags_and_texts_come_back(tmp_path: Path) -> None:
    content = {"question": "Why?", "steps": ["one", "two"], "error_types": ["slip"]}
    task = make_task("p1", "steps", content)
    values = {
        "validation": {"choices": ["wrong"]},
        "steps_1": {"choices": ["wrong"]},
        "steps_0": {"choices": ["right"]},
        "error_type": {"choices": ["slip"]},
    }
    ((_, decision),) = read(tmp_path, task, annotate(task, values)).decisions
    assert decision.fields == {
        "validation": "wrong",
        "steps": ["right", "wrong"],
        "error_type": "slip",
    }
    task = make_task("p1", "rationale", {"question": "Why?", "candidates": CANDIDATES})
    checks = ("concepts", "computation", "completeness", "final_answer", "clarity")
    values = {name: {"choices": ["true"]} for name in checks} | {
        "clarity": {"choices": ["false"]},
        "candidate": {"choices": ["c2"]},
        "action": {"choices": [KINDS["rationale"].by_name["action"].values[0]]},
        "solution": {"text": ["Second."]},
    }
    ((_, decision),) = read(tmp_path, task, annotate(task, values)).decisions
    assert (decision.fields["clarity"], decision.fields["concepts"]) == (False, True)
    assert decision.fields["solution"] is None  # it is the candidate as it was


def test_another_hash_is_stale(tmp_path: Path) -> None:
    old, new = make_task(), make_task(content={"question": "Why not?"})
    write_lines(tmp_path / "tasks.jsonl", new)
    outcome = read(tmp_path, new, annotate(old, ITEM))
    imported = import_decisions(ReviewRecord(tmp_path, (new,), (), (ANN,)), outcome.decisions)
    assert (imported.added, imported.stale) == (1, (new.id,))


def test_a_number_needs_the_list_of_users(tmp_path: Path) -> None:
    task = make_task()
    entry = annotate(task, ITEM, completed_by=5)
    assert "--users FILE" in read(tmp_path, task, entry).errors[0]
    users = tmp_path / "users.json"
    users.write_text('[{"id": 5, "email": "ann@example.org", "avatar": null}]', encoding="utf-8")
    outcome = read(tmp_path, task, entry, users=read_users(users))
    assert outcome.decisions[0][1].person == "ann"


def test_skipped_and_bad_annotations_leave_the_others(tmp_path: Path) -> None:
    task = make_task()
    bad = [
        annotate(task, ITEM, completed_by={"id": 2, "email": "eve@example.org"}),
        annotate(task, ITEM | {"quality": {"rating": 9}}),
        annotate(task, {"valid": {"choices": ["valid"]}}),
        annotate(task, ITEM | {"colour": {"choices": ["red"]}}),
        annotate(task, ITEM, created_at="yesterday"),
        annotate(task, ITEM, result={"no": "list"}),
        {"data": {"text": "not ours"}, "annotations": [{}]},
        {"data": "no object"},
        "no task",
        {"data": {"omibench": {"task": "x"}}, "annotations": [{}]},
    ]
    skipped = annotate(task, {}, was_cancelled=True)
    outcome = read(tmp_path, task, *bad, skipped, annotate(task, ITEM))
    assert (len(outcome.decisions), outcome.skipped, len(outcome.errors)) == (1, 1, len(bad))
    for number, words in enumerate(
        (
            "address 'eve@example.org' is not in reviewers.yaml",
            "quality: must be an integer from 1 to 5 (got 9)",
            "quality: is missing",
            "colour: is not a field of 'item' tasks",
            "created_at",
            "result",
            "data.omibench is missing",
            "data",
            "task 9",
            "data.omibench: kind",
        )
    ):
        assert words in outcome.errors[number]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "not a list of tasks"),
        ("[", "export.json"),
        ("[" * 5000 + "]" * 5000, "export.json"),
    ],
)
def test_a_file_that_is_no_export_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=words):
        read_export(path, ReviewRecord(tmp_path))
