"""The status as text: every cell in a word, aligned, within the width of a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.status.conftest import make_study, note_run, write_cell

from omibench.params.study import Study
from omibench.study.status.reader import look
from omibench.study.status.rows import CellStatus, TimeLeft
from omibench.study.status.text import cell_word, render, time_left_text


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
    log = Path("logs/infer/two/cot.log")
    log.parent.mkdir(parents=True)
    log.write_text("reading\nomibench: \x1b[2Jno key\n")
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
