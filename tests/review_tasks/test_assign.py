"""From a study's files to tasks.jsonl, and who is asked: by role and subject, evenly, by seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import MissingInputError, ParamsError, UntrustedError
from omibench.graph.provenance import note_made
from omibench.params.study import Study, parse_study
from omibench.review.kinds import KINDS
from omibench.review.people import Reviewer
from omibench.review.tasks.assign import (
    MAKERS,
    Assignment,
    assign_tasks,
    count_load,
    describe_assignment,
    draw_people,
)
from omibench.review.tasks.drafts import read_present_tasks
from omibench.review.tasks.request import AssignOptions
from omibench.schemas.review import ReviewTask
from omibench.schemas.tables import write_jsonl
from review.builders import decide, make_task, write_lines
from review_tasks.makers import make_people, make_problem

GOOD = {"usable": "usable", "pictures": "right"}


def make_study(**blocks: Any) -> Study:
    return parse_study({"study": {"name": "s", "seed": 5}} | blocks, "test")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    write_problems(folder, 6)
    return folder


@pytest.fixture
def review(tmp_path: Path) -> Path:
    folder = tmp_path / "review"
    folder.mkdir()
    people = [p.model_dump(exclude_none=True) for p in make_people()]
    (folder / "reviewers.yaml").write_text(yaml.safe_dump(people), "utf-8")
    return folder


def write_problems(results: Path, count: int, stage: str = "rationale", **values: Any) -> None:
    folder = results / stage
    write_jsonl(
        folder / "problems.jsonl", [make_problem(k, folder, **values) for k in range(count)]
    )


def run(kind: str, results: Path, review: Path, study: Study | None = None, **more: Any) -> Any:
    return assign_tasks(kind, study or make_study(), results, review, AssignOptions(**more))


def test_every_kind_has_a_maker() -> None:
    assert set(MAKERS) == set(KINDS)


def test_tasks_with_people_and_pictures(results: Path, review: Path) -> None:
    done = run("item", results, review)
    tasks = read_present_tasks(review)
    assert [task.id for task in tasks] == [f"item:ipho-{k}" for k in range(6)]
    for task in tasks:
        assert task.people["annotator"] != task.people["auditor"]
        assert all((review / picture.file).is_file() for picture in task.pictures)
    assert describe_assignment(done)[0] == "item: 6 new, 0 changed, 0 unchanged"
    assert describe_assignment(done)[1] == "  annotator: ann 3, bob 3"


def test_a_second_run_changes_nothing(results: Path, review: Path) -> None:
    run("item", results, review)
    before = (review / "tasks.jsonl").read_bytes()
    done: Assignment = run("item", results, review)
    assert (review / "tasks.jsonl").read_bytes() == before
    assert describe_assignment(done) == ["item: 0 new, 0 changed, 6 unchanged"]


def test_whoever_left_is_asked_no_more(results: Path, review: Path) -> None:
    run("item", results, review)
    people = [p.model_dump(exclude_none=True) for p in make_people() if p.name != "cy"]
    (review / "reviewers.yaml").write_text(yaml.safe_dump(people), "utf-8")
    before = read_present_tasks(review)
    lines = describe_assignment(run("item", results, review))
    count = sum("cy" in task.people["auditor"] for task in before)
    assert count
    assert lines[1].startswith(
        f"  {count} tasks were assigned to people who are not in reviewers.yaml"
    )
    for old, task in zip(before, read_present_tasks(review), strict=True):
        assert task.people["annotator"] == old.people["annotator"]
        assert task.people.get("auditor") == (
            None if old.people["auditor"] == ["cy"] else old.people["auditor"]
        )
    assert len(describe_assignment(run("item", results, review))) == 1


def test_a_limit_takes_more_each_time(results: Path, review: Path) -> None:
    assert len(run("item", results, review, limit=2, only=["bob"]).changes.new) == 2
    first = read_present_tasks(review)
    assert {task.people["annotator"][0] for task in first} == {"bob"}
    assert len(run("item", results, review, limit=3).changes.new) == 3
    assert read_present_tasks(review)[:2] == first
    other = run("item", results, review, limit=3)
    assert len(other.changes.new) == 1


def test_a_changed_problem_is_asked_again(results: Path, review: Path) -> None:
    run("label", results, review)
    task = read_present_tasks(review)[0]
    write_lines(review / "decisions.jsonl", decide(1, "ann", "annotator", task, {}))
    decisions = (review / "decisions.jsonl").read_bytes()
    write_problems(results, 5, answer=["B"])
    done = run("label", results, review)
    assert describe_assignment(done) == [
        "label: 0 new, 5 changed, 0 unchanged",
        "  1 decisions are on changed content and must be made again",
        "  1 tasks no longer match anything in the study: label:ipho-5",
    ]
    changed = read_present_tasks(review)[0]
    assert changed.people == task.people
    assert changed.content_hash != task.content_hash
    assert (review / "decisions.jsonl").read_bytes() == decisions


def test_later_kinds_see_what_earlier_ones_settled(results: Path, review: Path) -> None:
    study = make_study(review={"reviewers": 1})
    run("difficulty", results, review, study)
    kept, dropped, *_ = read_present_tasks(review)
    rationale = run("rationale", results, review, study)
    written = next(t for t in rationale.changes.tasks if t.id == "rationale:ipho-0")
    fields = {"candidate": "none", "solution": "Anew."}
    write_lines(
        review / "decisions.jsonl",
        decide(1, "ann", "annotator", kept, {"curation": "keep"}),
        decide(2, "ann", "annotator", dropped, {"curation": "trivial"}),
        decide(3, "ann", "annotator", written, fields),
    )
    run("item", results, review, study)
    items = {t.problem: t for t in read_present_tasks(review) if t.kind == "item"}
    assert items["ipho-0"].content["solution"] == "Anew."
    assert "ipho-1" not in items
    assert items["ipho-2"].content["solution"] == "Rod 2 is measured."


def test_the_decisions_file_counts_before(results: Path, review: Path, tmp_path: Path) -> None:
    entry = {
        "problem": "ipho-0", "decision": "edit", "reviewer": "Ada", "date": "2026-03-01",
        "reason": "Read it.", "edit": {"answer": ["B"]},
    }  # fmt: skip
    other = {**entry, "problem": "later", "decision": "drop"} | {"edit": None}
    file = tmp_path / "review.yaml"
    file.write_text(yaml.safe_dump([entry, other]), "utf-8")
    run("item", results, review, make_study(review={"decisions": str(file)}))
    assert read_present_tasks(review)[0].content["answer"] == ["B"]


def test_the_last_stage_counts_and_a_file_may_be_named(
    results: Path, review: Path, tmp_path: Path
) -> None:
    write_problems(results, 2, "ocr")
    assert len(run("item", results, review).changes.new) == 6
    named = results / "ocr/problems.jsonl"
    assert len(run("difficulty", results, review, problems=named).changes.new) == 2
    few = named.with_name("doubtful.jsonl")
    few.write_text(named.read_text("utf-8").splitlines(keepends=True)[0], "utf-8")
    changes = run("item", results, review, problems=few).changes
    assert (len(changes.new), changes.kept, len(read_present_tasks(review))) == (0, 1, 8)
    with pytest.raises(MissingInputError, match=r"problems\.jsonl not found"):
        run("item", tmp_path / "nothing", review)


def test_without_people_tasks_are_open(results: Path, tmp_path: Path) -> None:
    done = run("item", results, tmp_path / "open")
    assert "open to everyone" in describe_assignment(done)[-1]
    assert not read_present_tasks(tmp_path / "open")[0].people
    with pytest.raises(MissingInputError, match=r"--to ann: .*reviewers\.yaml not found"):
        run("item", results, tmp_path / "open", only=["ann"])


def test_who_has_not_passed_the_calibration_is_given_nothing(results: Path, review: Path) -> None:
    study = make_study(review={"calibration": {"kinds": ["item"]}})
    with pytest.raises(
        MissingInputError, match="no annotator has passed the calibration of 'item'"
    ):
        run("item", results, review, study)
    assert run("difficulty", results, review, study).changes.new
    (review / "reviewers.yaml").write_text("- {name: eve, roles: [senior]}", "utf-8")
    with pytest.raises(MissingInputError, match=r"no one in reviewers\.yaml can be its annotator"):
        run("item", results, review)


def test_people_for_whom_a_program_stands_in_are_marked(results: Path, review: Path) -> None:
    people = [p.model_dump(exclude_none=True) | {"simulated": True} for p in make_people()]
    (review / "reviewers.yaml").write_text(yaml.safe_dump(people), "utf-8")
    lines = describe_assignment(run("item", results, review))
    assert lines[1] == "  annotator: ann (simulated) 3, bob (simulated) 3"


def test_an_unknown_kind_and_pages_without_papers_are_one_line(results: Path, review: Path) -> None:
    with pytest.raises(ParamsError, match=r"'pages'.*'page'"):
        run("pages", results, review)
    with pytest.raises(MissingInputError, match=r"`ocr\.sources` is not set"):
        run("page", results, review)


def test_files_that_their_stage_has_not_written_are_refused(
    results: Path, review: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(results.parent)
    file = Path("results/rationale/problems.jsonl")
    note_made(file.as_posix())
    run("item", Path("results"), review)
    file.write_text(file.read_text("utf-8").replace("Rod 1", "Rod one"), "utf-8")
    with pytest.raises(UntrustedError, match=r"problems\.jsonl"):
        run("item", Path("results"), review)


# Who is asked: by role and subject, never the same person twice, evenly, by seed.


TASKS = [make_task(f"p{k}", strata={"subject": "physics"}) for k in range(40)]


def draw(
    people: list[Reviewer], tasks: list[ReviewTask] = TASKS, seed: int = 1, **options: object
) -> list[ReviewTask]:
    load = count_load(options.pop("present", []))  # type: ignore[arg-type]
    return draw_people(tasks, people, load, seed, **options)  # type: ignore[arg-type]


def test_nobody_audits_what_they_annotate_and_work_is_even() -> None:
    drawn = draw(make_people())
    for task in drawn:
        assert set(task.people) == {"annotator", "auditor"}
        assert task.people["annotator"] != task.people["auditor"]
    load = count_load(drawn)
    assert load["annotator", "ann"] == load["annotator", "bob"] == 20
    assert load["auditor", "cy"] >= 20
    assert not load["senior", "eve"], "escalated tasks go to every senior"


def test_the_seed_decides() -> None:
    assert draw(make_people()) == draw(make_people())
    assert draw(make_people()) != draw(make_people(), seed=2)


def test_whoever_has_less_already_is_asked_first() -> None:
    present = [make_task(f"q{k}", people={"annotator": ["ann"]}) for k in range(30)]
    counts = count_load(draw(make_people(), TASKS[:10], present=present))
    assert counts["annotator", "bob"] == 10


def test_the_only_auditor_annotates_nothing() -> None:
    people = [make_people()[0], make_people()[1]]
    for task in draw(people):
        assert task.people == {"annotator": ["ann"], "auditor": ["bob"]}


def test_named_annotators_alone_are_given_tasks() -> None:
    assert {task.people["annotator"][0] for task in draw(make_people(), only=["bob"])} == {"bob"}
    with pytest.raises(MissingInputError, match=r"has the roles auditor in .*, not annotator"):
        draw(make_people(), only=["cy"])
    with pytest.raises(MissingInputError, match=r"'anne'.*'ann'"):
        draw(make_people(), only=["anne"])


def test_subjects_are_respected() -> None:
    people = [*make_people(), Reviewer(name="di", roles=["annotator"], subjects=["biology"])]
    assert not count_load(draw(people))["annotator", "di"]
    people = [Reviewer(name="di", roles=["annotator"], subjects=["biology"])]
    with pytest.raises(
        MissingInputError, match=r"item:p0: no one .* its annotator \(subject physics\)"
    ):
        draw(people)


def test_a_task_without_a_subject_is_for_everybody_of_the_role() -> None:
    people = [Reviewer(name="di", roles=["annotator"], subjects=["biology"]), make_people()[2]]
    (task,) = draw(people, [make_task()])
    assert task.people["annotator"] == ["di"]


def test_a_kind_for_two_people_needs_two() -> None:
    bob = make_people()[1]
    with pytest.raises(MissingInputError, match="its auditor who does not annotate it"):
        draw([bob])


def test_a_rationale_needs_no_auditor() -> None:
    tasks = [make_task(kind="rationale", content={"question": "Why?"})]
    (task,) = draw([make_people()[0]], tasks)
    assert task.people == {"annotator": ["ann"]}


def test_everybody_of_a_group_is_measured(tmp_path: Path) -> None:
    tasks = [make_task(kind="baseline", content={"question": "Why?"})]
    (task,) = draw(make_people(), tasks)
    assert task.people == {"annotator": ["ann"]}
    ungrouped = [p.model_copy(update={"group": ""}) for p in make_people()]
    (task,) = draw(ungrouped, tasks)
    assert task.people == {"annotator": ["ann", "bob"]}


roles = st.lists(st.sampled_from(["annotator", "auditor", "senior"]), min_size=1, unique=True)


@given(st.lists(roles, min_size=1, max_size=5), st.integers(0, 5))
def test_whoever_is_drawn_has_the_role_and_no_other_on_the_task(
    people: list[list[str]], seed: int
) -> None:
    reviewers = [Reviewer(name=f"r{k}", roles=r) for k, r in enumerate(people)]  # type: ignore[arg-type]
    by_name = {reviewer.name: reviewer for reviewer in reviewers}
    try:
        drawn = draw(reviewers, TASKS[:6], seed=seed)
    except MissingInputError:
        return
    for task in drawn:
        assert max(Counter(n for names in task.people.values() for n in names).values()) == 1
        for role, names in task.people.items():
            assert all(role in by_name[name].roles for name in names)
