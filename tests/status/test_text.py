"""The status as text: every cell in a word, aligned, within the width of a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.status.conftest import make_study, note_run, write_cell

from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Problem
from omibench.schemas.tables import FrozenManifest, write_json, write_jsonl, write_text
from omibench.stages.filter import filter_problems
from omibench.study.status.reader import look
from omibench.study.status.rows import CellStatus, TimeLeft
from omibench.study.status.runs import FOLDER
from omibench.study.status.text import (
    cell_word,
    describe_ending,
    render,
    time_left_text,
    write_page,
)


@pytest.mark.parametrize(
    ("infer", "score", "answered", "word"),
    [
        ("waiting", "waiting", 0, "-"), ("waiting", "waiting", 50, "5 %"),
        ("running", "waiting", 0, "0 %"), ("running", "waiting", 999, "99 %"),
        ("done", "waiting", 1000, "answered"), ("done", "running", 1000, "scoring"),
        ("done", "done", 1000, "done"), ("incomplete", "done", 990, "990/1000"),
        ("failed", "waiting", 3, "failed"), ("done", "failed", 1000, "failed"),
        ("stopped", "waiting", 430, "stopped 43 %"), ("done", "incomplete", 1000, "part judged"),
    ],
)  # fmt: skip
def test_a_cell_is_one_word(infer: str, score: str, answered: int, word: str) -> None:
    cell = CellStatus(
        model="m", setting="s", infer=infer, score=score, requests=1000, answered=answered
    )  # type: ignore[arg-type]
    assert cell_word(cell) == word


def test_the_text_tells_stages_cells_failures_and_commands(study: Study) -> None:
    write_cell("one", "cot", ["answered", "answered", "budget_stop"])
    write_text("logs/infer/two/cot.log", "reading\nomibench: \x1b[2Jno key\n")
    note_run({"infer two/cot": ["running", "failed"], "score two/cot": []}, end="failed")
    text = render(look(study), 100)
    assert "1 failed job" in text.splitlines()[0]
    assert "2 of 12 answered" in text
    assert "infer two/cot: no key" in text
    assert "logs/infer/two/cot.log" in text
    assert "1 request of 1 written cell has no answer" in text
    assert "--forcerun results/infer/one/cot.parquet" in text
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith(("one ", "two ", "     "))]
    assert [row.split() for row in rows[:3]] == [
        ["cot", "direct"], ["one", "2/3", "-"], ["two", "failed", "-"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "unmeasured", "text"),
    [
        (None, [], "time left unknown until a job has ended"),
        (80.0, [], "about 80 s left"),
        (600.0, ["analyze"], "about 10 min left without analyze, not timed yet"),
        (0.0, ["freeze", "infer"], "time left unknown, freeze and infer not timed yet"),
        (9.0, list("abcde"), "about 9 s left without a, b, c and 2 more stages, not timed yet"),
    ],
)
def test_time_left_says_what_it_does_not_know(
    study: Study, seconds: float | None, unmeasured: list[str], text: str
) -> None:
    left = TimeLeft(seconds=seconds, measured=1, unmeasured=unmeasured)
    assert time_left_text(look(study).model_copy(update={"left": left})) == text


def test_many_settings_are_numbered_where_names_do_not_fit(study: Study) -> None:
    names = [f"a-rather-long-setting-{n}" for n in range(20)]
    wide = make_study(
        settings={n: {} for n in names}, infer={"models": ["one", "two"], "settings": names}
    )
    lines = render(look(wide), 100).splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.split() == [str(n) for n in range(1, 21)] for line in lines)
    assert "20 a-rather-long-setting-19" in " ".join(lines)


@pytest.mark.parametrize("width", [50, 72, 120])
def test_lines_fit_the_terminal(study: Study, width: int) -> None:
    write_cell("one", "cot", ["answered", "provider_error", "answered"])
    note_run({"infer two/cot": []})
    lines = render(look(study), width).splitlines()
    assert [line for line in lines if len(line) > width and "snakemake" not in line] == []


# The status page: whole, escaped, and without anything from elsewhere.


def page(study: Study, reload_s: float | None = None) -> str:
    write_page(Path("status.html"), look(study), reload_s)
    return Path("status.html").read_text("utf-8")


def test_every_cell_stands_in_the_grid_with_its_state(study: Study) -> None:
    write_cell("one", "cot", ["answered"] * 3)
    write_cell("one", "direct", ["answered", "answered", "provider_error"])
    note_run({"infer two/cot": ["running"], "infer two/direct": ["failed"]})
    text = page(study)
    states = re.findall(r'<div class="cell (\w+)" title="(\w+) under (\w+)', text)
    assert states == [
        ("done", "one", "cot"), ("incomplete", "one", "direct"), ("running", "two", "cot"),
        ("failed", "two", "direct"),
    ]  # fmt: skip
    assert "5 of 12 answered" in text
    assert "1 job failed" in text


def test_the_page_says_when_it_was_written_and_reloads_only_during_a_watch(study: Study) -> None:
    once, watched = page(study), page(study, 5.0)
    for text in (once, watched):
        assert re.search(r"Written 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", text)
        assert "<title>small: " in text
        assert 'http-equiv="refresh' not in text
    assert "reload every" not in once
    assert "reload every 5 s" in watched
    assert "reload every 1 s" in page(study, 0.2)


def test_text_of_others_is_escaped(study: Study) -> None:
    evil = "<img src=x onerror=alert(1)>"
    write_text("logs/infer/one/cot.log", f"omibench: {evil}\n")
    note_run({"infer one/cot": ["running", "failed"]}, end="failed", command=("snakemake", evil))
    named = make_study(study={"name": "small", "title": evil, "results": "results"})
    text = page(named)
    assert "<img" not in text
    assert text.count("&lt;img") >= 4


def test_nothing_is_asked_for_from_elsewhere(study: Study) -> None:
    text = page(study)
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert not re.search(r"<script|src=|href=|url\(|@import", text)


# The last words of a run that made a dataset: how much there is, and where it lies.


EVENTS = """{"time": 1, "pid": 1, "host": "h", "process": null, "command": [], "jobs": \
[{"id": 1, "stage": "filter", "output": "a"}, {"id": 2, "stage": "freeze", "output": "b"}], \
"current": []}
{"time": 2, "job": 1, "state": "done"}
{"time": 3, "job": 2, "state": "done"}
{"time": 4, "end": "done"}
"""


def problem(number: int, answer: list[str] | None) -> Problem:
    return Problem(
        id=f"p-{number}", question="How far?", source="p", source_sha256="0" * 64,
        number=str(number), pages=[1], answer=answer,
    )  # fmt: skip


def test_a_run_that_filtered_and_froze_says_how_much_and_where(tmp_path: Path) -> None:
    results = tmp_path / "results"
    study = parse_study(
        {"study": {"results": str(results), "store": str(tmp_path / "store")}}, "test"
    )
    write_jsonl(tmp_path / "problems.jsonl", [problem(1, ["3 m"]), problem(2, None)])
    filter_problems(tmp_path / "problems.jsonl", results / "filter", Study())
    manifest = FrozenManifest(
        name="n", version="1", problems=7, images=1, questions_sha256="", answers_sha256="",
        subjects={}, licence=None, synthetic=None,
    )  # fmt: skip
    write_json(results / "freeze/manifest.json", manifest)
    notes = results / FOLDER / "1.jsonl"
    write_text(notes, EVENTS)
    told = describe_ending(study, notes)
    assert "2 problems, 1 with an answer; 0 kept, 2 rejected (2 statement_incomplete): " in told
    assert f"{results}/filter/rejects.html" in told
    assert f"Frozen: 7 problems, 1 picture: {results}/freeze/README.md" in told
    assert "Report" not in told
    (results / "filter/rejects.parquet").unlink()
    (results / "freeze/manifest.json").write_text("{")
    assert "2 jobs done" in describe_ending(study, notes), (
        "what is broken is not told, and ends nothing"
    )
