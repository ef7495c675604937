"""Invented reviewers of the sample: complete, marked, and the same whenever they are played."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from omibench.models.simulated.answers import load_oracle
from omibench.params.review import DECISIONS, REVIEWERS, TASKS, CalibrationParams
from omibench.review.calibration import measure_calibration
from omibench.review.check import check_fields
from omibench.review.folder import ReviewRecord, read_review
from omibench.review.imports import import_files
from omibench.review.kinds import find_kind
from omibench.review.report import compute_states

KINDS = {"item", "rationale", "translation", "label", "disagreement", "steps"}


@pytest.fixture(scope="module")
def readers(sample: Path) -> Iterator[ModuleType]:
    """Who they are and how they decide; the folder is on Python's path as when a script runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(sample))
        patch.delitem(sys.modules, "readers", raising=False)
        yield import_module("readers")


@pytest.fixture(scope="module")
def review(sample: Path) -> ReviewRecord:
    record = read_review(sample / "review")
    assert record.errors == ()
    return record


def test_playing_them_again_gives_the_same_decisions(
    readers: ModuleType, review: ReviewRecord, sample: Path
) -> None:
    oracle = load_oracle(str(sample / "oracle.jsonl"))
    assert tuple(readers.play(review.tasks, oracle)) == review.decisions


def test_the_record_is_what_an_import_of_it_writes(sample: Path, tmp_path: Path) -> None:
    for name in (TASKS, REVIEWERS):
        shutil.copy(sample / "review" / name, tmp_path)
    record = sample / "review" / DECISIONS
    assert import_files(tmp_path, [record]).errors == ()
    assert (tmp_path / DECISIONS).read_bytes() == record.read_bytes()


def test_everybody_and_everything_is_marked(review: ReviewRecord) -> None:
    assert all(person.simulated for person in review.reviewers)
    assert all(decision.simulated for decision in review.decisions)
    names = {person.name for person in review.reviewers}
    assert {decision.person for decision in review.decisions} <= names


def test_each_decision_holds_what_its_kind_asks_for(review: ReviewRecord) -> None:
    tasks = {task.id: task for task in review.tasks}
    assert {task.kind for task in review.tasks} >= KINDS
    for decision in review.decisions:
        kind = find_kind(decision.kind)
        assert check_fields(kind, tasks[decision.task], decision.fields) == decision.fields


def test_all_is_settled_after_disagreements_and_one_stale_decision(review: ReviewRecord) -> None:
    states = compute_states(review.tasks, review.decisions)
    work = [state for state in states.values() if state.task.purpose == "work"]
    assert {state.status for state in work} == {"settled"}
    assert sum(len(state.stale) for state in work) == 1
    by_senior = [state for state in work if state.settled_by == "senior"]
    assert 0 < len(by_senior) < len(work) / 5


def test_who_fails_the_test_is_given_no_work(review: ReviewRecord) -> None:
    rule = CalibrationParams(items=10)
    results = measure_calibration(review.tasks, review.decisions, rule)
    statuses = {result.person: result.status for result in results}
    (failed,) = [name for name, status in statuses.items() if status == "failed"]
    assert list(statuses.values()).count("passed") == 3
    work = [task for task in review.tasks if task.purpose == "work"]
    asked = {name for task in work for names in task.people.values() for name in names}
    assert failed not in asked
    assert asked < set(statuses)


def test_a_week_of_work_is_sampled_and_judged_again(review: ReviewRecord) -> None:
    samples = {task.id: task for task in review.tasks if task.purpose == "sample"}
    assert {task.kind for task in samples.values()} == KINDS
    judged = {d.task: d.role for d in review.decisions if d.task in samples}
    assert judged == dict.fromkeys(samples, "senior")
