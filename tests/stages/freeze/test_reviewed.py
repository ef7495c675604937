"""A dataset is frozen as its review has settled it, or not at all."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import FileFormatError, MissingInputError, OmibenchError, ParamsError
from omibench.params.study import Study, parse_study
from omibench.review.contents import hash_content, list_pictures, make_content
from omibench.review.kinds import find_kind
from omibench.schemas.problem import Answer, Problem
from omibench.schemas.review import ReviewDecision, ReviewTask
from omibench.schemas.tables import FrozenManifest, read_jsonl
from review.builders import GOOD, decide, write_lines

Make = Callable[..., Problem]
Freeze = Callable[..., FrozenManifest]
BAD = GOOD | {"valid": "invalid"}
KEEP = "{reviewer: A, date: 2026-01-01, reason: read, decision: keep, problem: physics-1}"


def ask(problem: Problem, kind: str = "item") -> ReviewTask:
    content = make_content(kind, problem) or {}
    return ReviewTask(
        id=f"{kind}:{problem.id}",
        kind=kind,
        problem=problem.id,
        content=content,
        content_hash=hash_content(find_kind(kind), content, list_pictures(problem)),
    )


def agree(task: ReviewTask, fields: Any = None, number: int = 0, **values: Any) -> list[Any]:
    """An annotator's decision and the auditor's, which is the same."""
    return [
        decide(number + 1, "ann", "annotator", task, fields, **values),
        decide(number + 2, "bob", "auditor", task, fields, **values),
    ]


def review(
    path: Path, tasks: list[ReviewTask], events: list[ReviewDecision], /, **block: Any
) -> Study:
    write_lines(path / "review/tasks.jsonl", *tasks)
    people = "".join(f"- {{name: {name}, roles: [annotator]}}\n" for name in ("ann", "bob", "eve"))
    (path / "review/reviewers.yaml").write_text(people, "utf-8")
    if events:
        write_lines(path / "review/decisions.jsonl", *events)
    return parse_study({"review": {"folder": str(path / "review"), **block}}, "test")


def test_settled_tasks_are_obeyed(make: Make, freeze: Freeze, tmp_path: Path) -> None:
    good, bad = make(), make(id="physics-2")
    edited = GOOD | {"answer": "12 cm", "solution": "It rolls."}
    study = review(
        tmp_path,
        [ask(good), ask(bad)],
        [*agree(ask(good), edited), *agree(ask(bad), BAD, 2, simulated=True)],
    )
    manifest = freeze(good, bad, study=study)
    (answer,) = read_jsonl(tmp_path / "out/answers.jsonl", Answer)
    assert (answer.answer, answer.solution) == (["12 cm"], "It rolls.")
    counts = manifest.review
    assert counts is not None
    assert (counts.problems, counts.dropped, counts.people, counts.simulated_people) == (1, 1, 2, 2)
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "People reviewed 1 of the 1 problems" in card
    assert "**SIMULATED**: 2 of 2 reviewers are simulated" in card
    assert "ann" not in (tmp_path / "out/manifest.json").read_text("utf-8").split('"review"')[1]


def test_without_a_folder_the_manifest_says_nothing_of_it(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    freeze(make(), study=parse_study({}, "test"))
    assert '"review"' not in (tmp_path / "out/manifest.json").read_text("utf-8")


def test_each_thing_that_is_not_settled_is_a_line(
    make: Make, freeze: Freeze, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    problems = [make(id=f"p{i}") for i in range(4)]
    first, split, old, _ = tasks = [ask(problem) for problem in problems]
    decisions = [
        decide(1, "ann", "annotator", first),
        decide(2, "ann", "annotator", split),
        decide(3, "bob", "auditor", split, BAD),
        decide(4, "ann", "annotator", old, content_hash="f" * 64),
    ]
    with pytest.raises(MissingInputError) as error:
        freeze(*problems, study=review(tmp_path, tasks[:3], decisions))
    under, escalated, stale = error.value.lines
    assert (
        "2 tasks are under-reviewed (review.reviewers: 2): p0 (item: audit), p3 (item: no" in under
    )
    assert "1 tasks are escalated: item:p1; a senior reviewer must" in escalated
    assert "1 tasks were decided on content that has changed: item:p2;" in stale
    assert not (tmp_path / "out").exists()
    with caplog.at_level(logging.WARNING):
        study = review(tmp_path, tasks[:3], decisions, reviewers=0)
        manifest = freeze(*problems, study=study)
    assert manifest.review is not None
    assert (manifest.review.unsettled, manifest.problems) == (2, 4)
    assert [line.split(":")[0] for line in caplog.messages] == ["freeze"] * 2


@pytest.mark.parametrize(("reviewers", "is_enough"), [(0, True), (1, True), (2, False)])
def test_how_many_people_must_decide_is_the_study_s_own_rule(
    make: Make, freeze: Freeze, tmp_path: Path, reviewers: int, is_enough: bool
) -> None:
    task = ask(make())
    study = review(tmp_path, [task], [decide(1, "ann", "annotator", task)], reviewers=reviewers)
    if is_enough:
        assert freeze(make(), study=study).problems == 1
        return
    with pytest.raises(MissingInputError, match=r"physics-1 \(item: audit\)"):
        freeze(make(), study=study)


def test_decisions_in_yaml_come_first_and_count_as_reviews(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    yaml = tmp_path / "review.yaml"
    yaml.write_text(f"- {KEEP}\n- {KEEP.replace(': A', ': B')}\n", "utf-8")
    study = review(tmp_path, [], [], decisions=str(yaml))
    assert freeze(make(), study=study).problems == 1
    yaml.write_text(f"- {KEEP}\n", "utf-8")
    with pytest.raises(MissingInputError, match=r"physics-1 \(item: no task\)"):
        freeze(make(), study=study)
    edit = KEEP.replace("decision: keep", "decision: edit, edit: {answer: [b]}")
    yaml.write_text(f"- {edit}\n", "utf-8")
    before, after = ask(make()), ask(make(answer=["b"]))
    for task, is_stale in ((before, True), (after, False)):
        study = review(tmp_path, [task], agree(task), decisions=str(yaml))
        if is_stale:
            with pytest.raises(MissingInputError, match="decided on content that has changed"):
                freeze(make(), study=study, to="stale")
        else:
            freeze(make(), study=study, to="fresh")


@pytest.mark.parametrize(
    ("block", "line", "kind"),
    [
        ({"kinds": ["items"]}, "unknown kind of task 'items'; did you mean 'item'?", ParamsError),
        ({"kinds": ["rating"]}, "review.kinds: 'rating' does not apply to datasets", ParamsError),
        ({"folder": "none"}, "none: tasks.jsonl not found", MissingInputError),
    ],
)
def test_a_wrong_block_is_one_line(
    make: Make, freeze: Freeze, tmp_path: Path, block: Any, line: str, kind: type[OmibenchError]
) -> None:
    with pytest.raises(kind) as error:
        freeze(make(), study=review(tmp_path, [], [], **block))
    assert line in str(error.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"valid": ["invalid"]}, "valid: must be one of valid, invalid"),
        ({"quality": "x"}, "quality: must be an integer from 1 to 5"),
        ({"evil": 1}, "evil: is not a field of 'item' tasks"),
        ({"question": "x" * 200_001}, "question: has 200,001 characters"),
    ],
)
def test_a_decision_that_no_form_takes_refuses_a_freeze(
    make: Make, freeze: Freeze, tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    task = ask(make())
    study = review(tmp_path, [task], agree(task, GOOD | fields))
    with pytest.raises(FileFormatError, match=message):
        freeze(make(), study=study)


def test_people_who_are_in_no_list_are_named(
    make: Make, freeze: Freeze, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task = ask(make())
    study = review(tmp_path, [task], agree(task))
    (tmp_path / "review/reviewers.yaml").write_text("- {name: ann, roles: [annotator]}\n", "utf-8")
    with caplog.at_level(logging.WARNING):
        freeze(make(), study=study)
    assert "not in reviewers.yaml count: bob;" in caplog.text


def test_a_bad_line_refuses_a_freeze(make: Make, freeze: Freeze, tmp_path: Path) -> None:
    study = review(tmp_path, [ask(make())], [])
    write_lines(tmp_path / "review/decisions.jsonl", "{", "{")
    with pytest.raises(FileFormatError, match=r"line 1: .*\(and 1 more bad line\)"):
        freeze(make(), study=study)
