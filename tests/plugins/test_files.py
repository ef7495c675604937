"""Files of a user's own that bring parts: where they may lie, and how their mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.items import make_item

from omibench import plugins
from omibench.answers.scorers.registry import SCORERS, score_item
from omibench.errors import PluginError
from omibench.plugins.files import load_file, registered_kinds

RULE = '''\
from omibench.answers.scorers.registry import scorer
from omibench.schemas.verdict import ScoredItem, Verdict


@scorer("halves", version=2)
def score(item: ScoredItem) -> Verdict:
    """Half a point for whatever is said."""
    return Verdict(extracted=item.prediction, method="all", verdict=0.5, rules="halves", version=2)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in, with one plug-in."""
    (tmp_path / "rules.py").write_text(RULE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_brings_a_scorer(folder: Path) -> None:
    source = load_file("rules.py")
    assert score_item(make_item("1", "2"), "halves").verdict == 0.5
    assert SCORERS.origin("halves") == "rules.py"
    assert registered_kinds("rules.py") == {"scorers"}
    assert plugins.part_meaning("scorers", "halves") == source.meaning
    assert plugins.part_meaning("scorers", "robust") == ""


def test_its_meaning_is_in_the_hash_of_its_kinds_alone(folder: Path) -> None:
    assert plugins.source_hash(["scorers"]) == ""
    load_file("rules.py")
    before = plugins.source_hash(["scorers"])
    assert len(before) == 16
    assert plugins.source_hash(["engines", "benchmarks"]) == ""
    (folder / "rules.py").write_text("# A remark.\n" + RULE.replace("Half a point", "0.5"))
    load_file("rules.py")
    assert plugins.source_hash(["scorers"]) == before
    (folder / "rules.py").write_text(RULE.replace("verdict=0.5", "verdict=0.25"))
    load_file("rules.py")
    assert plugins.source_hash(["scorers"]) != before
    assert score_item(make_item("1", "2"), "halves").verdict == 0.25


def test_a_job_refuses_a_file_that_is_not_what_the_run_was_planned_with(folder: Path) -> None:
    planned = load_file("rules.py").meaning
    (folder / "rules.py").write_text(RULE + "\n# the same\n")
    load_file("rules.py", planned)
    (folder / "rules.py").write_text(RULE.replace("0.5", "1.0"))
    with pytest.raises(PluginError, match=r"^rules\.py: has changed since this run was planned"):
        load_file("rules.py", planned)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import nothing_of_this_name\n", r"rules\.py, line 1: ModuleNotFoundError: No module"),
        ("\n\nx = 1 / 0\n", r"rules\.py, line 3: ZeroDivisionError: division by zero$"),
        ("def f(:\n", r"rules\.py, line 1: SyntaxError: invalid syntax"),
        ("raise SystemExit(3)\n", r"rules\.py, line 1: SystemExit: 3"),
        ("x = 1\n", r"rules\.py: registers nothing; decorate its parts"),
        (RULE.replace('"halves"', '"emma"'), r"rules\.py, line 5: scorer 'emma' is defined by "
                                             r"omibench and by rules\.py; rename one of them"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_that_names_the_place(folder: Path, text: str, line: str) -> None:
    (folder / "rules.py").write_text(text)
    with pytest.raises(PluginError, match=f"^{line}") as raised:
        load_file("rules.py")
    assert len(raised.value.lines) == 1
    assert registered_kinds("rules.py") == set()


def test_a_rule_that_raises_names_its_line_and_the_problem(folder: Path) -> None:
    (folder / "rules.py").write_text(RULE.replace("    return", "    item.gold[7]\n    return"))
    load_file("rules.py")
    with pytest.raises(PluginError, match=r"'halves' \(of .+\): rules\.py, line 8: Index"):
        score_item(make_item("1", "2"), "halves")


def test_a_verdict_must_name_its_own_scorer(folder: Path) -> None:
    (folder / "rules.py").write_text(RULE.replace('rules="halves"', 'rules="robust"'))
    load_file("rules.py")
    with pytest.raises(
        PluginError, match="its verdict is of 'robust' version 2, not of the registered version 2"
    ):
        score_item(make_item("1", "2"), "halves")


@pytest.mark.parametrize(
    ("place", "mark"),
    [("results/score", None), ("release", "questions.jsonl"), ("pulled", "provenance.json"),
     ("bought", "ledger.sqlite3")],
)  # fmt: skip
def test_code_is_never_taken_from_data(folder: Path, place: str, mark: str | None) -> None:
    (folder / place / "deep").mkdir(parents=True)
    (folder / place / "deep" / "rules.py").write_text(RULE)
    if mark:
        (folder / place / mark).touch()
    with pytest.raises(PluginError, match="where code is never run"):
        load_file(f"{place}/deep/rules.py", refused={"results": "results"})
    assert "halves" not in SCORERS


def test_a_link_leads_neither_out_of_the_folder_nor_into_results(folder: Path) -> None:
    outside = folder.parent / f"{folder.name}-outside.py"
    outside.write_text(RULE)
    (folder / "link.py").symlink_to(outside)
    with pytest.raises(PluginError, match=r"^link\.py: is outside the study's folder"):
        load_file("link.py")
    with pytest.raises(PluginError, match="is outside the study's folder"):
        load_file(f"../{outside.name}")
    (folder / "results").mkdir()
    (folder / "results" / "rules.py").write_text(RULE)
    (folder / "inner.py").symlink_to("results/rules.py")
    with pytest.raises(PluginError, match="is in results, the folder of results"):
        load_file("inner.py", refused={"results": "results"})


@pytest.mark.parametrize(
    ("name", "line"),
    [("absent.py", "the file does not exist"), ("rules.txt", "is not a plug-in"),
     ("folder.py", "is a folder")],
)  # fmt: skip
def test_only_a_regular_python_file_is_one(folder: Path, name: str, line: str) -> None:
    (folder / "folder.py").mkdir()
    (folder / "rules.txt").write_text(RULE)
    with pytest.raises(PluginError, match=f"^{name}.*{line}"):
        load_file(name)


def test_what_lies_beside_it_is_not_imported(folder: Path) -> None:
    (folder / "helpers.py").write_text("raise RuntimeError('imported')\n")
    (folder / "rules.py").write_text("import helpers\n" + RULE)
    with pytest.raises(PluginError, match="line 1: ModuleNotFoundError: No module named 'helpers'"):
        load_file("rules.py")
