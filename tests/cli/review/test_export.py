"""`omibench review export`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from omibench.cli.main import app
from omibench.errors import EXIT_SOME_FAILED, MissingInputError, ParamsError
from omibench.review.folder import read_review
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
