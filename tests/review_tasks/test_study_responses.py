"""Tasks on the responses and the frozen problems of a study."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.stages.analyze.conftest import Folders, make_study

from omibench.errors import MissingInputError, ParamsError
from omibench.params.study import Study
from omibench.review.kinds import KINDS
from omibench.review.tasks.drafts import TaskDraft
from omibench.review.tasks.request import DRAWS, TaskRequest
from omibench.review.tasks.responses import (
    draft_study_baseline,
    draft_study_disagreements,
    draft_study_ratings,
    draft_study_steps,
)
from omibench.schemas.tables import ResponseRow, read_parquet

SUBSET = {"size": 8, "familiarisation": 4}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return make_study(tmp_path_factory.mktemp("made"), people_subset=SUBSET)


def make_request(folders: Folders, kind: str, study: Study | None = None, **values: Any) -> Any:
    results = folders.freeze.parent
    return TaskRequest(kind, study or folders.study, results, results, **values)


def list_ids(drafts: list[TaskDraft]) -> list[str]:
    return [draft.task.id for draft in drafts]


def check_parts(drafts: list[TaskDraft]) -> None:
    for draft in drafts:
        task = draft.task
        assert set(task.content) <= {part.name for part in KINDS[task.kind].parts}
        assert draft.files.keys() == {picture.sha256 for picture in task.pictures}
        assert all(path.is_file() for path in draft.files.values())


def test_numbers_are_those_of_the_paper() -> None:
    assert DRAWS == {"steps": 100, "disagreement": 100, "rating": 200}


def test_wrong_responses_are_drawn_of_each_model(made: Folders) -> None:
    drafts = draft_study_steps(make_request(made, "steps", draw=5))
    check_parts(drafts)
    tasks = [draft.task for draft in drafts]
    assert len(tasks) == 15
    assert {task.strata["model"] for task in tasks} == {"sim-strong", "sim-middle", "sim-weak"}
    results = made.load()
    verdicts = {
        (r["model"], r["setting"], r["id"], r["index"]): r["verdict"]
        for r in results.select_verdicts("gptscore").iter_rows(named=True)
    }
    for task in tasks:
        response = task.response
        assert response is not None
        place = (response.model, response.setting, response.id, response.index)
        assert task.id == "steps:{}/{}/{}#{}".format(*place)
        assert verdicts[place] < 1
        assert task.problem == response.id
    first = tasks[0].response
    assert first is not None
    rows = read_parquet(made.infer / f"{first.model}/{first.setting}.parquet", ResponseRow)
    text = rows.filter(id=first.id, index=first.index)["text"].item()
    assert first.sha256 == hashlib.sha256(text.encode()).hexdigest()
    content = tasks[0].content
    assert content["steps"]
    types = content["error_types"]
    assert isinstance(types, list)
    assert {"visual_perception", "cross_image", "logical", "instruction", "other"} == {
        entry["value"] for entry in types if isinstance(entry, dict)
    }


def test_a_larger_draw_holds_a_smaller_one_and_the_tasks_that_there_are(made: Folders) -> None:
    few = draft_study_steps(make_request(made, "steps", draw=2))
    many = draft_study_steps(make_request(made, "steps", draw=6))
    assert set(list_ids(few)) < set(list_ids(many))
    present = [draft.task for draft in many]
    again = draft_study_steps(make_request(made, "steps", draw=2, present=present))
    assert set(list_ids(again)) == set(list_ids(many))
    limited = draft_study_steps(make_request(made, "steps", draw=6, limit=4))
    assert len(limited) == 4
    assert set(list_ids(limited)) < set(list_ids(many))


def test_ratings_show_no_verdict(made: Folders) -> None:
    request = make_request(made, "rating", draw=7, models=["sim-weak"], settings=["cot"])
    drafts = draft_study_ratings(request)
    check_parts(drafts)
    assert len(drafts) == 7
    assert {draft.task.strata["setting"] for draft in drafts} == {"cot"}
    assert not any("facts" in draft.task.content for draft in drafts)
    assert all(draft.task.simulated for draft in drafts)


def test_disagreements_say_who_said_what(made: Folders) -> None:
    drafts = draft_study_disagreements(make_request(made, "disagreement", draw=3))
    check_parts(drafts)
    assert drafts
    for draft in drafts:
        facts = draft.task.content["facts"]
        assert isinstance(facts, dict)
        assert {facts["scorer says"], facts["judge says"]} == {"right", "wrong"}
    one = draft_study_disagreements(
        make_request(made, "disagreement", draw=3, models=["sim-middle"])
    )
    assert {draft.task.strata["model"] for draft in one} == {"sim-middle"}


def test_nothing_to_read_is_one_line(made: Folders) -> None:
    with pytest.raises(MissingInputError, match="no responses for 'rating' tasks"):
        draft_study_ratings(make_request(made, "rating", models=["judge"]))


def test_people_solve_what_the_subset_draws_and_see_no_gold(made: Folders) -> None:
    drafts = draft_study_baseline(make_request(made, "baseline"))
    check_parts(drafts)
    purposes = [draft.task.purpose for draft in drafts]
    assert purposes == ["familiarisation"] * 4 + ["work"] * 8
    assert len(set(list_ids(drafts))) == 12
    subjects = [draft.task.strata["subject"] for draft in drafts if draft.task.purpose == "work"]
    assert sorted(subjects) == sorted(["biology", "chemistry", "mathematics", "physics"] * 2)


def test_too_few_problems_for_people_are_one_line(made: Folders, tmp_path: Path) -> None:
    study = made.study.model_copy(
        update={"analyze": made.study.analyze.model_copy(update={"people_subset": None})}
    )
    request = replace(make_request(made, "baseline", study), scratch=tmp_path)
    with pytest.raises(ParamsError, match="draws 52 problems and 10 for familiarisation"):
        draft_study_baseline(request)
