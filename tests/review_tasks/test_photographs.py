"""A folder of photographs becomes tasks, those that the screening discards left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import MissingInputError
from omibench.params.study import parse_study
from omibench.review.kinds import find_kind
from omibench.review.outcomes import ReviewRule, apply_decisions
from omibench.review.tasks.photographs import draft_photographs, draft_study_photographs
from omibench.review.tasks.request import TaskRequest
from omibench.schemas.problem import Problem
from omibench.schemas.tables import write_jsonl
from omibench.stages.ocr.sources.manifest import list_photographs
from review.builders import decide
from review_tasks.makers import make_problem
from small_freeze import make_picture

FIELDS = {
    "question": "[IMAGE0] How long?", "table": "0", "stage": "High", "answer": "B",
    "question_type": "MultipleChoice", "category": "Plane Geometry", "description": "A rod.",
    "clean_image": "none",
}  # fmt: skip
CONDITION_NAMES = [field.name for field in find_kind("photo_conditions").fields]
YES = {"single_question": "yes", "complete": "yes", "figure_needed": "yes"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("0002.png", "0001.png", "clean/0001.png", "notes.txt"):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make_picture(len(name)))
    return tmp_path / "photos"


def test_each_photograph_is_a_task_and_has_its_clean_picture_beside_it(folder: Path) -> None:
    files = list_photographs(folder)
    assert [file.name for file in files] == ["0001.png", "0002.png"]
    first, second = draft_photographs("photo_fields", files, folder / "clean")
    assert [picture.label for picture in first.task.pictures] == ["Photograph", "Clean picture"]
    assert [picture.label for picture in second.task.pictures] == ["Photograph"]
    (only, _) = draft_photographs("photo_conditions", files, folder / "clean")
    assert len(only.task.pictures) == 1
    assert only.task.id == "photo_conditions:0001"
    (folder / "clean/0001.png").unlink()
    (first, _) = draft_photographs("photo_fields", files, folder / "clean")
    assert len(first.task.pictures) == 1


def test_wrong_folders_are_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="is not a folder of photographs"):
        list_photographs(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingInputError, match="has no pictures"):
        list_photographs(tmp_path / "empty")
    (folder / "0001.jpg").write_bytes(make_picture(1))
    with pytest.raises(MissingInputError, match=r"0001\.jpg and 0001\.png would be one problem"):
        list_photographs(folder)


def test_what_the_screening_discards_gets_no_other_task(folder: Path, tmp_path: Path) -> None:
    study = parse_study({"study": {"name": "s"}}, "test")

    def make_request(kind: str, **values: object) -> TaskRequest:
        return TaskRequest(kind, study, tmp_path, tmp_path, **values)  # type: ignore[arg-type]

    first, second = draft_study_photographs(make_request("photo_screening", photographs=folder))
    decisions = [
        decide(k, person, role, draft.task, YES | answers)
        for k, (person, role, draft, answers) in enumerate([
            ("ann", "annotator", first, {}),
            ("bob", "auditor", first, {}),
            ("ann", "annotator", second, {"complete": "no"}),
            ("bob", "auditor", second, {"complete": "no"}),
        ])
    ]  # fmt: skip
    request = make_request(
        "photo_conditions",
        photographs=folder,
        present=[first.task, second.task],
        decisions=decisions,
    )
    assert [draft.task.problem for draft in draft_study_photographs(request)] == ["0001"]
    with pytest.raises(MissingInputError, match="pass their folder with --photographs"):
        draft_study_photographs(make_request("photo_fields"))


def test_problems_that_are_a_photograph_each_are_taken_without_a_folder(tmp_path: Path) -> None:
    place = tmp_path / "rationale"
    problems = [make_problem(1, place), make_problem(2, place, images=[], question="Why?")]
    write_jsonl(place / "problems.jsonl", problems)
    study = parse_study({"study": {"name": "s"}}, "test")
    (draft,) = draft_study_photographs(TaskRequest("photo_fields", study, tmp_path, tmp_path))
    task = draft.task
    assert (task.id, task.problem) == ("photo_fields:ipho-1", "ipho-1")
    assert task.content["answer"] == ["A"]
    settled = apply_decisions(
        problems,
        [task],
        [decide(1, "ann", "annotator", task, FIELDS), decide(2, "bob", "auditor", task, FIELDS)],
        ReviewRule(kinds=()),
    )
    assert settled.problems[0].attributes["category"] == "Plane Geometry"
    assert settled.problems[0].answer == ["B"]
    write_jsonl(place / "problems.jsonl", problems[1:])
    with pytest.raises(MissingInputError, match="import problems that are one photograph each"):
        draft_study_photographs(TaskRequest("photo_fields", study, tmp_path, tmp_path))


@pytest.fixture
def pair(tmp_path: Path) -> list[Problem]:
    """A photograph and its clean picture, written as `rationale` leaves them."""
    place = tmp_path / "rationale"
    fields = {"group": "q", "question": "[IMAGE0]\nHow lorg?", "choices": None, "answer": None}
    real = make_problem(1, place, photograph="real", **fields)
    clean = make_problem(2, place, photograph="clean", **fields)
    write_jsonl(place / "problems.jsonl", [real, clean])
    return [real, clean]


def test_a_clean_picture_is_shown_beside_its_photograph_and_takes_its_question(
    pair: list[Problem], tmp_path: Path
) -> None:
    study = parse_study({"study": {"name": "s"}}, "test")
    (fields,) = draft_study_photographs(TaskRequest("photo_fields", study, tmp_path, tmp_path))
    assert [picture.label for picture in fields.task.pictures] == ["", "Clean picture"]
    (conditions,) = draft_study_photographs(
        TaskRequest("photo_conditions", study, tmp_path, tmp_path)
    )
    assert len(conditions.task.pictures) == 1
    grades = dict.fromkeys(CONDITION_NAMES, 0) | {"blur": 2, "rotation": "180°"}
    answers = FIELDS | {"question": "[IMAGE0] How long?", "clean_image": "fits"}
    decisions = [
        decide(k, person, role, draft.task, values)
        for k, (person, role, draft, values) in enumerate([
            ("ann", "annotator", fields, answers),
            ("bob", "auditor", fields, answers),
            ("ann", "annotator", conditions, grades),
            ("bob", "auditor", conditions, grades),
        ])
    ]  # fmt: skip
    tasks = [fields.task, conditions.task]
    real, clean = apply_decisions(pair, tasks, decisions, ReviewRule(kinds=())).problems
    for problem in (real, clean):
        assert problem.question == "[IMAGE0] How long?"
        assert problem.answer == ["B"]
        assert problem.images[0].caption == "A rod."
        assert problem.attributes["category"] == "Plane Geometry"
    assert real.attributes["noise"] == ["blur", "rotation"]
    assert real.attributes["noise groups"] == [
        "image quality degradation", "image perspective variation",
    ]  # fmt: skip
    assert "noise" not in clean.attributes
    assert "blur" not in clean.attributes


@pytest.mark.parametrize("answer", ["wrong", "none"])
def test_a_clean_picture_of_another_figure_is_dropped(
    answer: str, pair: list[Problem], tmp_path: Path
) -> None:
    study = parse_study({"study": {"name": "s"}}, "test")
    (draft,) = draft_study_photographs(TaskRequest("photo_fields", study, tmp_path, tmp_path))
    values = FIELDS | {"clean_image": answer}
    decisions = [
        decide(1, "ann", "annotator", draft.task, values),
        decide(2, "bob", "auditor", draft.task, values),
    ]
    review = apply_decisions(pair, [draft.task], decisions, ReviewRule(kinds=()))
    assert [problem.id for problem in review.problems] == [pair[0].id]
    assert review.dropped == {pair[1].id: f"photo_fields of {pair[0].id}, clean_image: {answer}"}
