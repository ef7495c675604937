"""Files of a review: a bad line is named and the rest is taken; decisions.jsonl only grows."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError, MissingInputError, OutputError
from omibench.review import folder
from omibench.review import folder as record
from omibench.review.folder import (
    EMPTY_HEAD,
    append_decisions,
    compute_head,
    extend_head,
    format_event,
    read_decisions,
    read_record,
    read_review,
    read_tasks,
)
from omibench.review.imports import ImportOutcome, import_files
from omibench.review.people import find_reviewer, read_reviewers
from omibench.schemas.review import ReviewDecision
from review.builders import GOOD, decide, make_task, write_lines

TASK = make_task()
FIRST, SECOND = decide(1, "ann", "annotator", TASK), decide(2, "bob", "auditor", TASK)


def test_a_bad_line_is_named_and_the_rest_is_taken(tmp_path: Path) -> None:
    naive = FIRST.model_dump_json().replace("2026-01-05T09:01:00Z", "2026-01-05T09:01:00")
    late = SECOND.model_dump_json().replace('"auditor"', '"boss"')
    path = write_lines(tmp_path / "d.jsonl", FIRST, naive, "{", "", late, '{"id": "x"}', SECOND)
    lines = read_decisions(path)
    assert lines.rows == (FIRST, SECOND)
    assert lines.places == (f"{path}, line 1", f"{path}, line 7")
    for error, (number, words) in zip(
        lines.errors,
        [(2, "time: "), (3, "is not JSON"), (5, "(got 'boss')"), (6, "Field required")],
        strict=True,
    ):
        assert error.startswith(f"{path}, line {number}: ")
        assert words in error
    with pytest.raises(FileFormatError, match=r"line 2: time: .* \(and 3 more bad lines\)"):
        lines.require_whole()


def test_hostile_lines_are_bad_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "LINE_BYTES", 600)
    path = write_lines(
        tmp_path / "d.jsonl",
        "[" * 250 + "]" * 250,
        "9" * 5_000,
        '{"id": 1, "id": 2}',
        '"\\ud800"',
        FIRST,
    )
    lines = read_decisions(path)
    assert lines.rows == (FIRST,)
    assert [error.split(": ")[1][:12] for error in lines.errors] == [
        "is nested mo",
        "is longer th",
        "is not JSON",
        "contains hal",
    ]


def test_a_task_that_stands_twice_is_a_bad_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "tasks.jsonl", TASK, make_task("p2"), make_task(simulated=True))
    lines = read_tasks(path)
    assert [task.id for task in lines.rows] == ["item:p1", "item:p2"]
    assert lines.errors == (f"{path}, line 3: the task 'item:p1' is already at {path}, line 1",)


def test_a_folder_without_decisions_or_people_is_a_review(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"tasks\.jsonl not found"):
        read_review(tmp_path)
    write_lines(tmp_path / "tasks.jsonl", TASK)
    record = read_review(tmp_path)
    assert (record.tasks, record.decisions, record.reviewers) == ((TASK,), (), ())
    write_lines(tmp_path / "decisions.jsonl", FIRST, "{")
    (tmp_path / "reviewers.yaml").write_text("[{name: ann, roles: [senior]}]", encoding="utf-8")
    record = read_review(tmp_path)
    assert record.decisions == (FIRST,)
    assert [reviewer.name for reviewer in record.reviewers] == ["ann"]
    assert len(record.errors) == 1


@given(st.binary(max_size=200))
def test_whatever_a_file_holds_its_lines_are_rows_or_errors(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "hostile.jsonl"
    path.write_bytes(content)
    lines = read_decisions(path)
    filled = [line for line in content.split(b"\n") if line.strip()]
    assert len(lines.rows) + len(lines.errors) == len(filled)


# decisions.jsonl only grows, and has a head hash.


ONE, TWO, THREE = [decide(i, "ann", "annotator", TASK) for i in range(3)]
ANNOTATED = decide(1, "ann", "annotator", TASK)
AUDITED = decide(2, "bob", "auditor", TASK, seconds=12)


def test_an_event_is_recorded_once(tmp_path: Path) -> None:
    growth = append_decisions(tmp_path, [("f, line 1", ONE), ("f, line 2", ONE)])
    assert (growth.added, growth.repeated) == ((ONE,), 1)
    before = (tmp_path / "decisions.jsonl").read_bytes()
    assert append_decisions(tmp_path, [("f, line 1", ONE)]).repeated == 1
    assert (tmp_path / "decisions.jsonl").read_bytes() == before
    append_decisions(tmp_path, [("f, line 1", TWO)])
    assert read_record(tmp_path).rows == (ONE, TWO)
    assert (tmp_path / "decisions.jsonl").read_bytes().startswith(before)


def test_an_event_never_changes(tmp_path: Path) -> None:
    append_decisions(tmp_path, [("f, line 1", ONE)])
    changed = ONE.model_copy(update={"comment": "No."})
    growth = append_decisions(tmp_path, [("g, line 7", changed), ("g, line 8", TWO)])
    assert growth.added == (TWO,)
    (line,) = growth.errors
    assert line.startswith("g, line 7: the id 'd0' belongs to another decision (on item:p1 by ann)")
    assert read_record(tmp_path).rows == (ONE, TWO)


def test_bad_lines_and_a_missing_line_end_stay(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text("{", encoding="utf-8")
    append_decisions(tmp_path, [("f, line 1", ONE)])
    assert path.read_text("utf-8").splitlines()[0] == "{"
    assert read_record(tmp_path).rows == (ONE,)


def test_writers_wait_for_each_other(tmp_path: Path) -> None:
    decisions = [decide(i, "ann", "annotator", TASK) for i in range(24)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda d: append_decisions(tmp_path, [("f", d)]), decisions))
    assert sorted(d.id for d in read_record(tmp_path).rows) == sorted(d.id for d in decisions)


def test_a_write_that_fails_leaves_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_decisions(tmp_path, [("f", ONE)])

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.os, "fsync", fail)
    with pytest.raises(OutputError, match="cannot be written: No space left"):
        append_decisions(tmp_path, [("f", TWO)])
    assert read_record(tmp_path).rows == (ONE,)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".decisions.lock",
        "decisions.jsonl",
    ]


def test_the_head_is_a_chain_over_canonical_lines() -> None:
    assert compute_head([]) == "0" * 64
    link = f"{EMPTY_HEAD}\n{format_event(ANNOTATED)}"
    assert extend_head(EMPTY_HEAD, ANNOTATED) == hashlib.sha256(link.encode()).hexdigest()
    assert compute_head([ANNOTATED, AUDITED]) == extend_head(compute_head([ANNOTATED]), AUDITED)


def test_how_a_line_is_written_changes_no_head() -> None:
    assert '"comment"' not in format_event(AUDITED)
    for text in (
        AUDITED.model_dump_json(),
        AUDITED.model_dump_json(exclude_defaults=True, indent=1),
    ):
        assert compute_head([ReviewDecision.model_validate_json(text)]) == compute_head([AUDITED])


# Decisions of others.


REVIEWERS = """
- {name: ann, roles: [annotator]}
- {name: bot, roles: [auditor], simulated: true}
"""


@pytest.fixture
def review(tmp_path: Path) -> Path:
    write_lines(tmp_path / "review/tasks.jsonl", TASK)
    (tmp_path / "review/reviewers.yaml").write_text(REVIEWERS, encoding="utf-8")
    return tmp_path / "review"


def test_importing_twice_changes_nothing(review: Path) -> None:
    file = write_lines(review / "in.jsonl", decide(1, "ann", "annotator", TASK))
    assert import_files(review, [file, file]) == ImportOutcome(added=1, repeated=1)
    before = (review / "decisions.jsonl").read_bytes()
    assert import_files(review, [file]) == ImportOutcome(repeated=1)
    assert (review / "decisions.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("who", "role", "values", "line"),
    [
        ("ann", "annotator", {"task": "item:p2"}, "task: task 'item:p2' not found; did you mean"),
        ("ann", "annotator", {"kind": "items"}, "unknown kind of task 'items'; did you mean"),
        ("ann", "annotator", {"kind": "label"}, "kind: the kind of task 'item:p1' is 'item'"),
        ("ann", "annotator", {"fields": GOOD | {"quality": 9}}, "quality: must be an integer"),
        ("anne", "annotator", {}, "person: 'anne' is not in reviewers.yaml; did you"),
        (
            "ann",
            "senior",
            {},
            "role: the roles of ann are annotator in reviewers.yaml (got 'senior')",
        ),
        ("bot", "auditor", {}, "simulated: bot is simulated in reviewers.yaml: write true"),
    ],
)
def test_a_decision_that_does_not_fit_is_named_and_the_rest_is_taken(
    review: Path, who: str, role: str, values: dict[str, Any], line: str
) -> None:
    wrong = decide(1, who, role, TASK).model_copy(update=values)
    good = decide(2, "ann", "imported", TASK)
    file = write_lines(review / "in.jsonl", wrong, good)
    outcome = import_files(review, [file])
    assert outcome.added == 1
    (error,) = outcome.errors
    assert error.startswith(f"{file}, line 1: {line}")
    assert read_record(review).rows == (good,)


def test_a_decision_on_other_content_is_taken_and_said_to_be_stale(review: Path) -> None:
    old = decide(1, "ann", "annotator", TASK, {"valid": "perhaps"}, content_hash="f" * 64)
    wrong = decide(2, "ann", "annotator", TASK, {"vald": "valid"}, content_hash="f" * 64)
    outcome = import_files(review, [write_lines(review / "in.jsonl", old, wrong)])
    assert (outcome.added, outcome.stale) == (1, ("item:p1",))
    assert "vald: is not a field of 'item' tasks" in outcome.errors[0]


def test_where_nobody_is_named_anybody_decides(review: Path) -> None:
    (review / "reviewers.yaml").unlink()
    file = write_lines(review / "in.jsonl", decide(1, "zoe", "senior", TASK))
    assert import_files(review, [file]).added == 1


def test_a_file_that_is_not_there_is_named(review: Path) -> None:
    with pytest.raises(MissingInputError, match=r"none\.jsonl: cannot be read"):
        import_files(review, [review / "none.jsonl"])


def test_bad_lines_of_the_review_are_named_too(review: Path) -> None:
    write_lines(review / "tasks.jsonl", TASK, "{")
    file = write_lines(review / "in.jsonl", decide(1, "ann", "annotator", TASK))
    outcome = import_files(review, [file])
    assert (outcome.added, len(outcome.errors)) == (1, 1)
    assert outcome.errors[0].startswith(f"{review / 'tasks.jsonl'}, line 2: ")


# reviewers.yaml.


PEOPLE = """
- {name: ann, roles: [annotator], subjects: [physics], email: ann@example.org}
- {name: bob, roles: [auditor, senior], group: expert, simulated: true}
"""


def write_people(folder: Path, text: str) -> Path:
    path = folder / "reviewers.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_people_have_roles_subjects_and_groups(tmp_path: Path) -> None:
    ann, bob = read_reviewers(write_people(tmp_path, PEOPLE))
    assert ann.may_review("annotator", "physics")
    assert not ann.may_review("annotator", "biology")
    assert not ann.may_review("senior", "physics")
    assert bob.may_review("senior", "biology")
    assert (bob.group, bob.simulated, ann.simulated) == ("expert", True, False)
    assert read_reviewers(write_people(tmp_path, "")) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: ann", "contains a dict, not a list of people"),
        ("- {name: ann}", "entry 1 (ann): roles: Field required"),
        ("- {name: ann, roles: []}", "roles: List should have at least 1 item"),
        ("- {name: ann, roles: [imported]}", "(got 'imported')"),
        ("- {name: ann, roles: [senior], subject: physics}", "did you mean 'subjects'?"),
        ("- {name: ann, roles: [senior]}\n- {name: ann, roles: [senior]}", "have the name 'ann'"),
    ],
)
def test_a_wrong_entry_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    path = write_people(tmp_path, text)
    with pytest.raises(FileFormatError) as error:
        read_reviewers(path)
    assert str(error.value).startswith(str(path))
    assert line in str(error.value)


def test_the_nearest_name_is_suggested(tmp_path: Path) -> None:
    people = read_reviewers(write_people(tmp_path, PEOPLE))
    assert find_reviewer(people, "bob").group == "expert"
    with pytest.raises(
        MissingInputError, match=r"'anne' is not in reviewers\.yaml; did you mean 'ann'\?"
    ):
        find_reviewer(people, "anne")
