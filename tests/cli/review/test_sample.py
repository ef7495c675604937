"""`omibench review sample`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import ParamsError
from omibench.review.folder import read_tasks
from review.builders import write_lines
from review.sampling.test_calibration_sets import settle
from review.sampling.test_weekly import settle_items


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A review of 40 settled items and two seniors."""
    tasks, decisions = settle_items(40)
    write_lines(tmp_path / "tasks.jsonl", *tasks)
    write_lines(tmp_path / "decisions.jsonl", *decisions)
    people = "- {name: eve, roles: [senior]}\n- {name: sam, roles: [senior]}\n"
    (tmp_path / "reviewers.yaml").write_text(people, encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> str:
    result = CliRunner().invoke(app, ["review", "sample", "--review", str(folder), *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_a_weeks_sample_is_added_once(folder: Path) -> None:
    before = (folder / "tasks.jsonl").read_text()
    assert run(folder, "--week", "2026-W02").splitlines() == [
        "item: 40 tasks, 40 settled, 40 of them in 2026-W02; a sample of 5 % is 2: 2 drawn",
        "eve: 1 to judge",
        "sam: 1 to judge",
    ]
    tasks = read_tasks(folder / "tasks.jsonl").require_whole()
    assert len(tasks) == 42
    assert [task.purpose for task in tasks[-2:]] == ["sample", "sample"]
    assert len(before.splitlines()) == 40
    again = run(folder, "--since", "2026-01-05", "--until", "2026-01-11", "--share", "0.5")
    assert "a sample of 50 % is 20: 2 in it already, 18 drawn" in again
    once_more = run(folder, "--week", "2026-W02")
    assert "a sample of 5 % is 2: 20 in it already, so it is complete, 0 drawn" in once_more
    assert len(read_tasks(folder / "tasks.jsonl").rows) == 60


def test_the_rule_of_the_study_says_what_is_settled(folder: Path) -> None:
    lines = (folder / "decisions.jsonl").read_text().splitlines()
    annotators = [line for line in lines if '"annotator"' in line]
    (folder / "decisions.jsonl").write_text("".join(f"{line}\n" for line in annotators))
    words = ("--week", "2026-W02")
    assert run(folder, *words).strip() == (
        "item: 40 tasks, 0 settled, 0 of them in 2026-W02; 0 drawn: nothing is settled yet "
        "(`omibench review status`)"
    )
    assert "40 settled" in run(folder, *words, "--params", '{"review": {"reviewers": 1}}')


def test_a_week_without_work_adds_nothing(folder: Path) -> None:
    assert run(folder, "--week", "2026-W30").strip() == (
        "item: 40 tasks, 40 settled, 0 of them in 2026-W30; 0 drawn: the settled tasks are of "
        "another period"
    )
    assert len(read_tasks(folder / "tasks.jsonl").rows) == 40


def test_a_calibration_set(folder: Path) -> None:
    tasks, decisions = settle(40, invalid=4)
    write_lines(folder / "tasks.jsonl", *tasks)
    write_lines(folder / "decisions.jsonl", *decisions)
    words = ("--calibration", "30", "--kind", "item", "--name", "gate")
    assert run(folder, *words).strip() == "30 calibration tasks of item in the set gate"
    tasks = read_tasks(folder / "tasks.jsonl").rows
    assert sum(task.id.endswith("@gate") for task in tasks) == 30


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "the period is missing"),
        (("--week", "2026-W02", "--since", "2026-01-05"), "the period is missing"),
        (("--week", "soon"), "write it as 2026-W47"),
        (("--kind", "itm", "--week", "2026-W02"), "did you mean"),
        (("--calibration", "5"), "give --kind KIND"),
        (("--calibration", "50", "--kind", "item"), "only 40 'item' tasks are settled"),
    ],
)
def test_mistakes_are_one_line(folder: Path, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        run(folder, *words)
