"""The page of an item in a real browser: the problem, models side by side, permalinks, keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from tests.explore.browser.conftest import Reader

from omibench.explore.selection import Study

if TYPE_CHECKING:
    from playwright.sync_api import Route

HOSTILE = (
    "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u202e"
    "$\\href{javascript:alert(3)}{x}$"
)


def list_cells(reader: Reader) -> list[str]:
    return parse_qs(urlsplit(reader.page.url).query).get("cells", [])


def open_first(reader: Reader, explored: Study, query: str = "") -> None:
    reader.open(f"/items/{quote(explored.items.ids[0], safe='')}{query}")
    reader.page.wait_for_selector(".column")


def test_the_problem_has_its_pictures_in_its_text(reader: Reader, explored: Study) -> None:
    open_first(reader, explored)
    page = reader.page
    question = explored.items.questions[explored.items.ids[0]]
    assert page.locator(".problem-side .figure").count() == len(question.images)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.problem-side img')].every(i => i.naturalWidth > 0)"
    )
    page.keyboard.press("+")
    assert page.locator("dialog.viewer").is_visible()
    page.keyboard.press("Escape")
    page.locator("dialog.viewer").wait_for(state="detached")


def test_two_models_stand_side_by_side(reader: Reader, explored: Study) -> None:
    open_first(reader, explored)
    page = reader.page
    cells = list_cells(reader)
    assert page.locator(".column").count() == len(cells) == 2
    marks = page.locator(".column mark, .column .math.extracted")
    assert marks.count() > 0
    free = page.locator(".outcome[aria-pressed=false]")
    free.first.click()
    page.wait_for_function("() => document.querySelectorAll('.column').length === 3")
    assert len(list_cells(reader)) == 3
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('.column').length === 2")
    assert list_cells(reader) == cells


def test_different_answers_are_marked(reader: Reader, explored: Study) -> None:
    open_first(reader, explored)
    answers = reader.page.locator(".column .extracted-answer").all_inner_texts()
    differing = reader.page.locator(".column .tag.differs").count()
    assert differing == sum(answer != answers[0] for answer in answers)


def test_a_column_is_changed_to_another_model(reader: Reader, explored: Study) -> None:
    open_first(reader, explored, "?cells=sim-weak/cot&cells=sim-strong/cot")
    page = reader.page
    page.get_by_label("Model of this column").first.select_option("sim-middle")
    page.wait_for_selector('.column[data-cell="sim-middle/cot"]')
    page.get_by_label("Setting of this column").first.select_option("direct")
    page.wait_for_selector('.column[data-cell="sim-middle/direct"]')
    assert list_cells(reader) == ["sim-middle/direct", "sim-strong/cot"]


def test_next_and_previous_stay_within_the_filter(reader: Reader) -> None:
    reader.open("/?is.subject=physics&order=hardest")
    ids = reader.list_ids()
    page = reader.page
    page.locator(".item-link").first.click()
    page.wait_for_selector(".column")
    page.keyboard.press("j")
    page.wait_for_function("id => document.querySelector('h1').textContent === id", arg=ids[1])
    assert "is.subject=physics" in page.url
    assert page.locator(".position").inner_text() == f"2 of {len(ids)}"
    page.keyboard.press("k")
    page.wait_for_function("id => document.querySelector('h1').textContent === id", arg=ids[0])
    page.keyboard.press("u")
    page.wait_for_url(re.compile(r"/\?is\.subject=physics&order=hardest$"))


def test_what_was_sent_is_folded_and_loaded_when_opened(reader: Reader, explored: Study) -> None:
    name = explored.items.ids[0]
    sha256 = explored.items.questions[name].images[0].sha256
    parts = [
        {"text": "Look at $x$."},
        {"picture": {"sha256": sha256, "src": f"/pictures/{sha256}"}, "note": "sent smaller"},
        {"picture": {"sha256": "0" * 64, "src": None}, "note": None},
    ]
    message = {"role": "user", "parts": parts, "calls": [], "answers": None}
    sent = {"messages": [message], "tools": [], "pictures": 2}
    answer = {"sent": sent, "said": None, "steps": []}
    reader.page.route("**/api/sent/*", lambda route: route.fulfill(json=answer))
    open_first(reader, explored)
    page = reader.page
    before = [url for url in reader.requests if "/api/sent/" in url]
    fold = page.locator("details.fold", has_text="Request").first
    fold.locator("summary").first.click()
    fold.locator(".message pre").first.wait_for()
    assert fold.locator(".message pre").inner_text() == "Look at $x$."
    assert fold.locator(".message img").count() == 1
    assert "file not found" in fold.locator(".message").inner_text()
    assert before == []
    assert [url for url in reader.requests if "/api/sent/" in url]


def test_hostile_texts_are_text(seat: Callable[..., Reader], explored: Study) -> None:
    reader = seat()
    name = explored.items.ids[0]
    real = reader.page.request.get(f"{reader.address}/api/items/{name}?cells=sim-weak/cot").json()
    sample = real["columns"][0]["samples"][0]
    item = real["item"]
    item["question"] = f"{HOSTILE} [IMAGE99] $\\ce{{H2O}}$ $\\includegraphics{{//evil.example/x}}$"
    item["facts"] = {HOSTILE: HOSTILE}
    item["gold"] = [HOSTILE]
    item["choices"] = [{"label": HOSTILE, "text": HOSTILE, "image": None}]
    sample |= {"text": f"{HOSTILE} $\\frac{{1}}{{2}}$", "finish_reason": HOSTILE, "error": HOSTILE}
    sample["verdicts"][0] |= {"extracted": HOSTILE, "method": HOSTILE, "title": HOSTILE}
    real["outcomes"][0]["extracted"] = [HOSTILE]
    reader.page.route("**/api/items/*", lambda route: route.fulfill(json=real))
    page = reader.open(f"/items/{name}?cells=sim-weak/cot")
    page.wait_for_selector(".column .katex")
    assert page.locator(".problem-side .katex").count() >= 1
    assert page.locator("main script, main [onerror], main a[href^=javascript]").count() == 0
    assert page.locator(".math-refused").count() >= 2
    assert reader.messages == []
    assert reader.find_foreign_requests() == []
    assert "<img src=x onerror" in page.locator(".problem-side").inner_text()


@pytest.mark.slow
def test_the_pages_fit_a_telephone(seat: Callable[..., Reader], explored: Study) -> None:
    reader = seat(viewport={"width": 390, "height": 800}, has_touch=True)
    for path in ("/", f"/items/{quote(explored.items.ids[0], safe='')}"):
        page = reader.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("h1.item-id").is_visible()
    assert reader.messages == []


def test_a_note_says_what_is_wrong_with_which_verdict(
    seat: Callable[..., Reader], explored: Study
) -> None:
    reader = seat()
    page = reader.page
    study = page.request.get(f"{reader.address}/api/study").json() | {"notes": True}
    page.route("**/api/study", lambda route: route.fulfill(json=study))
    notes: list[object] = []

    def take(route: Route) -> None:
        notes.append(route.request.post_data_json)
        route.fulfill(status=201, json={"id": "1", "task": "rating-7"})

    page.route("**/api/notes", take)
    open_first(reader, explored, "?cells=sim-weak/cot&cells=sim-strong/cot")
    page.get_by_text("Report a mistake").click()
    page.get_by_label("Note", exact=True).select_option("verdict_is_wrong")
    page.get_by_label("Of", exact=True).select_option(index=1)
    page.get_by_label("Why").fill("It says <b>B</b>.")
    page.get_by_label("Your name", exact=True).fill("Ana Abreu")
    page.get_by_role("button", name="Save note").click()
    page.get_by_text("Note saved as a decision on rating-7.").wait_for()
    assert notes == [
        {
            "id": explored.items.ids[0],
            "kind": "verdict_is_wrong",
            "comment": "It says <b>B</b>.",
            "person": "Ana Abreu",
            "cell": "sim-strong/cot",
            "index": 0,
            "rules": study["main_rules"],
        }
    ]
    assert reader.messages == []


def test_judges_and_heat_maps_stand_beside_a_response(
    seat: Callable[..., Reader], explored: Study
) -> None:
    reader = seat()
    name = explored.items.ids[0]
    real = reader.page.request.get(f"{reader.address}/api/items/{name}?cells=sim-weak/cot").json()
    sha256 = explored.items.questions[name].images[0].sha256
    option = {"option": "A", "logprob": -0.25, "chosen": True, "right": False}
    real["columns"][0]["saliency"] = {
        "outcome": "scored", "reason": "", "simulated": True, "options": [option],
        "maps": [{"image": 0, "option": "A", "sha256": sha256, "address": f"/pictures/{sha256}"}],
    }  # fmt: skip
    real["columns"][0]["samples"][0]["judgements"] = [
        {"instrument": "GPTScore", "judge": "judge", "words": "4 of 5", "failed": False,
         "key": "", "simulated": True, "left_out": False}
    ]  # fmt: skip
    reader.page.route("**/api/items/*", lambda route: route.fulfill(json=real))
    page = reader.open(f"/items/{name}?cells=sim-weak/cot")
    assert "GPTScore: 4 of 5 by judge" in page.locator(".judgements").inner_text()
    page.get_by_text("Log-probabilities and heat maps").click()
    assert "-0.250" in page.locator(".column").inner_text()
    assert page.locator(".column .figure img").count() == 1
    assert reader.messages == []
