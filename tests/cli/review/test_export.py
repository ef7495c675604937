"""`omibench review export`."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import EXIT_SOME_FAILED, MissingInputError, ParamsError
from omibench.review.folder import read_review
from omibench.review.tags import TAGS, TagEvent, append_tags, read_tags
from review.builders import decide, make_task, write_lines

TASK = make_task("p1", "baseline", {"question": "Why?"}, people={"annotator": ["ann"]})


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    write_lines(tmp_path / "review/tasks.jsonl", TASK)
    answer = decide(1, "ann", "annotator", TASK, {"answer": "A"})
    write_lines(tmp_path / "review/decisions.jsonl", answer, "{")
    people = "- {name: ann, roles: [annotator], group: expert}"
    (tmp_path / "review/reviewers.yaml").write_text(people, encoding="utf-8")
    return ["review", "export", "--review", str(tmp_path / "review")]


def test_tasks_answers_and_labels_are_written(words: list[str], tmp_path: Path) -> None:
    files = {name: str(tmp_path / name) for name in ("out", "people.csv", "labels.csv")}
    result = CliRunner().invoke(
        app,
        [*words, "--out", files["out"], "--person", "ann", "--kind", "baseline", "--live",
         "--people", files["people.csv"], "--labels", files["labels.csv"]],
    )  # fmt: skip
    assert result.exit_code == EXIT_SOME_FAILED, result.output
    assert f"1 tasks, 1 decisions and 0 pictures in {files['out']}" in result.output
    assert "line 2: is not JSON" in result.output
    assert (tmp_path / "people.csv").read_text("utf-8").splitlines()[1].startswith("ann,expert,p1")
    assert f"0 labelled responses in {files['labels.csv']}" in result.output


@pytest.mark.parametrize(
    ("more", "line", "kind"),
    [
        ([], "give at least one of", ParamsError),
        (["--out", "o", "--status", "done"], "--status 'done': is not a status", ParamsError),
        (["--out", "o", "--kind", "items"], "did you mean 'item'?", ParamsError),
        (["--out", "o", "--person", "anne"], "did you mean 'ann'?", MissingInputError),
    ],
)
def test_a_wrong_option_is_one_line(
    words: list[str], more: list[str], line: str, kind: type[Exception]
) -> None:
    result = CliRunner().invoke(app, [*words, *more])
    assert isinstance(result.exception, kind)
    assert line in str(result.exception)


def test_what_is_decided_elsewhere_comes_back(tmp_path: Path) -> None:
    people = {"annotator": ["ann"], "auditor": ["bob"]}
    task = make_task(people=people)
    write_lines(tmp_path / "review/tasks.jsonl", task)
    (tmp_path / "review/reviewers.yaml").write_text(
        "- {name: ann, roles: [annotator]}\n- {name: bob, roles: [auditor]}", encoding="utf-8"
    )
    review = ["--review", str(tmp_path / "review")]
    decisions = []
    for name, role in (("ann", "annotator"), ("bob", "auditor")):
        out = tmp_path / f"for-{name}"
        words = ["review", "export", *review, "--person", name, "--out", str(out)]
        assert CliRunner().invoke(app, words).exit_code == 0
        (given,) = read_review(out).tasks
        assert [reviewer.name for reviewer in read_review(out).reviewers] == [name]
        decision = decide(len(decisions), name, role, given)
        decisions.append(str(write_lines(out / "decisions.jsonl", decision)))
    assert CliRunner().invoke(app, ["review", "import", *decisions, *review]).exit_code == 0
    result = CliRunner().invoke(app, ["review", "status", *review, "--json"])
    assert json.loads(result.stdout)["kinds"][0]["settled"] == 1


def test_tags_are_a_table_and_go_with_a_full_copy_alone(words: list[str], tmp_path: Path) -> None:
    review = tmp_path / "review"
    tag = TagEvent(person="ann", tag="=odd", problem="p1", model="m", setting="s", index=0)
    gone = TagEvent(person="ann", tag="gone", problem="p1")
    removal = TagEvent(person="ben", tag="Gone", problem="p1", removed=True)
    append_tags(review, [tag, gone, removal])
    (tmp_path / "only").mkdir()
    shutil.copy(review / TAGS, tmp_path / "only")  # without tasks
    table = tmp_path / "tags.csv"
    only = ["review", "export", "--review", str(tmp_path / "only"), "--tags", str(table)]
    result = CliRunner().invoke(app, only)
    assert (result.exit_code, result.output) == (0, f"1 tags in {table}\n")
    (row,) = csv.DictReader(table.open(encoding="utf-8"))
    assert list(row.values())[:6] == ["p1", "m", "s", "0", "'=odd", "ann"]
    for more, expected in (([], [tag]), (["--person", "ann"], [])):
        out = tmp_path / f"out{len(more)}"
        CliRunner().invoke(app, [*words, "--out", str(out), *more])
        assert read_tags(out) == expected
        assert (out / "tasks.jsonl").is_file()


def test_bad_lines_of_tags_are_printed_once_and_exit_with_3(
    words: list[str], tmp_path: Path
) -> None:
    review = tmp_path / "review"
    (review / "decisions.jsonl").unlink()
    append_tags(review, [TagEvent(person="ann", tag="odd", problem="p1")])
    with (review / TAGS).open("a", encoding="utf-8") as file:
        file.write("{\n")
    table, copy = ["--tags", str(tmp_path / "t.csv")], ["--out", str(tmp_path / "copy")]
    for more in (table, copy, table + copy):
        result = CliRunner().invoke(app, [*words, *more])
        assert result.exit_code == EXIT_SOME_FAILED, result.output
        assert result.output.count("tags.jsonl, line 2: is not JSON") == 1
    assert len((tmp_path / "t.csv").read_text("utf-8").splitlines()) == 2
    assert len(read_tags(tmp_path / "copy")) == 1
    blinded = ["--out", str(tmp_path / "for-ann"), "--person", "ann"]
    assert CliRunner().invoke(app, [*words, *blinded]).exit_code == 0
