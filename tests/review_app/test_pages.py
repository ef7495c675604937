"""Pages of the application: every value escaped, nothing in them that a strict policy refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import omibench.web
from omibench.review.app.pages import (
    KindLine,
    PersonLine,
    TaskLine,
    Visitor,
    Workload,
    escape_json,
    render_error,
    render_login,
    render_progress,
    render_task,
    render_task_list,
)

HOSTILE = "</script><script>alert('1')</script>&\u2028\u202e"
ANNA = Visitor(HOSTILE, ("annotator",), HOSTILE, True, ((HOSTILE, HOSTILE, HOSTILE),))
PAGES: dict[str, Callable[[], str]] = {
    "login": lambda: render_login(ANNA, HOSTILE, HOSTILE, HOSTILE),
    "tasks": lambda: render_task_list(
        ANNA,
        [Workload(HOSTILE, "annotator", 1, 2, HOSTILE)],
        [TaskLine(HOSTILE, HOSTILE, "auditor", "changed", "sample", True)],
        hidden=3,
    ),
    "no tasks": lambda: render_task_list(ANNA, [], []),
    "task": lambda: render_task(ANNA, {"task": {"title": HOSTILE}}),
    "progress": lambda: render_progress(
        ANNA,
        [KindLine(HOSTILE, {"open": 1, "settled": 2}, 1)],
        [PersonLine(HOSTILE, ("senior",), 3, 61.5, True)],
        HOSTILE,
    ),
    "error": lambda: render_error(ANNA, HOSTILE, HOSTILE),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_no_text_of_others_as_markup(name: str) -> None:
    page = PAGES[name]()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize("name", PAGES)
def test_a_strict_policy_refuses_nothing_of_a_page(name: str) -> None:
    page = PAGES[name]()
    scripts = re.findall(r"<script([^>]*)>", page)
    assert all(" src=" in script or "application/json" in script for script in scripts)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page)
    assert not re.search(r"""(?:src|href|action)="(?!/|\#main)""", page)


def test_the_json_of_a_task_survives_its_escapes() -> None:
    document = {"task": {"title": HOSTILE}}
    text = escape_json(document)
    assert json.loads(text) == document
    assert not set("<>&\u2028\u2029") & set(text)


def test_progress_shows_a_time_in_minutes() -> None:
    assert "1:01" in PAGES["progress"]()


def test_the_application_has_the_colours_of_all_pages() -> None:
    shared = read_colours(Path(omibench.web.__file__).parent / "templates/colours.css")
    colours = read_colours(Path(omibench.web.__file__).parent / "static/base.css")
    assert [len(scheme) > 4 for scheme in shared] == [True, True]
    assert all(
        shared_scheme <= scheme for shared_scheme, scheme in zip(shared, colours, strict=True)
    )


def read_colours(style: Path) -> list[set[tuple[str, str]]]:
    """Names and values of the colours of a style, by scheme."""
    blocks = re.findall(r":root \{(.*?)\}", style.read_text("utf-8"), re.S)
    return [set(re.findall(r"(--[a-z]+): (#[0-9a-f]+)", block)) for block in blocks]
