"""The status page: whole, escaped, and without anything from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

from tests.status.conftest import make_study, note_run, write_cell

from omibench.params.study import Study
from omibench.study.status.reader import look
from omibench.study.status.text import write_page


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
    log = Path("logs/infer/one/cot.log")
    log.parent.mkdir(parents=True)
    log.write_text(f"omibench: {evil}\n")
    note_run({"infer one/cot": ["running", "failed"]}, end="failed", command=("snakemake", evil))
    named = make_study(study={"name": "small", "title": evil, "results": "results"})
    text = page(named)
    assert "<img" not in text
    assert text.count("&lt;img") >= 4


def test_nothing_is_asked_for_from_elsewhere(study: Study) -> None:
    text = page(study)
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert not re.search(r"<script|src=|href=|url\(|@import", text)
