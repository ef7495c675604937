"""Every page of the application keeps the rules that axe-core checks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.accessibility import list_violations

from omibench.review.kinds import KINDS


def check(page: Any, root: Path) -> None:
    assert list_violations(page, root) == []
    assert page.locator("h1").count() == 1


@pytest.mark.slow
def test_pages_keep_the_rules(seat: Any, root: Path) -> None:
    desk = seat("Sol Serra")
    for path in ("/", "/progress", "/login", "/nowhere"):
        desk.page.goto(desk.address + path)
        check(desk.page, root)
    check(desk.open("item:look", own=""), root)


@pytest.mark.slow
def test_tasks_of_every_kind_keep_the_rules(seat: Any, root: Path) -> None:
    desk = seat("Ana Abreu")
    for kind in KINDS:
        if kind == "item":
            check(desk.open("item:axe", own=""), root)
        check(desk.open("item:axe" if kind == "item" else f"{kind}:all"), root)


@pytest.mark.slow
def test_the_response_stands_above_the_fold_beside_its_problem(seat: Any) -> None:
    page = seat("Ana Abreu", viewport={"width": 1400, "height": 900}).open("steps:all")
    steps = page.locator(".steps > li")
    boxes = [step.bounding_box() for step in steps.all()]
    assert len(boxes) == 3
    assert all(box["y"] + box["height"] < 900 and box["width"] > 300 for box in boxes)
    question = page.locator("[data-part=question]").bounding_box()
    assert question["x"] + question["width"] <= boxes[0]["x"]


@pytest.mark.slow
def test_a_problem_is_answered_before_its_key_is_shown(site: Any, seat: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("item:own", own="")
    assert page.locator("[data-part=answer]").count() == 0
    assert re.fullmatch(r"\d+ of \d+( · about \d+ min left)?", page.locator(".pace").inner_text())
    desk.press("Control+Enter")
    assert "Give your answer" in page.locator(".panel-foot").inner_text()
    desk.press("b /")
    page.clock.install()
    page.reload()
    page.wait_for_selector("html[data-ready]")
    chosen = page.locator("[data-field=own_answer] :checked")
    assert chosen.get_attribute("value") == "B"
    page.clock.run_for(11_000)
    assert [url for url in desk.requests if url.endswith("/draft")] == []
    desk.press("?")
    assert "comment" not in page.locator("dialog.keys").inner_text()
    desk.press("Escape")
    page.evaluate(
        "document.querySelector('.fields').append(document.createElement('button'));"
        "document.querySelector('.fields > button').type = 'button';"
        "document.querySelector('.fields > button').focus()"
    )
    desk.press("Enter b")
    assert chosen.count() == 0
    desk.press("Control+Enter")
    assert "Give your answer" in page.locator(".panel-foot").inner_text()
    other = seat("Ugo Unger").open("item:own", own="")
    assert "not waiting for you" in other.locator(".notice").inner_text()
    desk.press("0 Enter")
    page.wait_for_selector("[data-part=answer]")
    page.wait_for_selector("html[data-ready]")
    assert "You could not answer it" in page.locator("[data-part=own_answer]").inner_text()
    desk.press("v s 4")
    desk.send()
    (decision,) = site.list_decisions("item:own")
    assert decision.own_answer == ""
    page = desk.open("item:own")
    notice = page.locator(".notice").inner_text()
    assert "the new decision counts instead" in notice
    assert "a senior decides" in notice
    assert desk.messages == []


def test_subfields_are_those_of_the_subject(site: Any, seat: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("label:narrow")
    offered = page.locator("[data-field=subfield] .option:visible")
    assert [text.split("\n")[0] for text in offered.all_inner_texts()] == [
        "physics: Mechanics", "physics: Optics", "None fits",
    ]  # fmt: skip
    desk.press("c")
    assert [text.split("\n")[0] for text in offered.all_inner_texts()] == [
        "chemistry: Kinetics",
        "None fits",
    ]
    desk.press("1 b")
    assert page.locator("[data-field=subfield] :checked").get_attribute("value") == "none"
    desk.send()
    (decision,) = site.list_decisions("label:narrow")
    assert (decision.fields["subject"], decision.fields["subfield"]) == ("biology", "none")
