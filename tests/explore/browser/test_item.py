"""The page of an item in a real browser: the problem, models side by side, permalinks, keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, quote, urlsplit

from tests.explore.browser.conftest import Reader

from omibench.explore.selection import Study

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
    assert page.locator("dialog.viewer").count() == 0


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
    page.get_by_label("Model and setting of this column").first.select_option("sim-middle/direct")
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
    fold = page.locator("details.fold", has_text="What was sent").first
    fold.locator("summary").first.click()
    fold.locator(".message pre").first.wait_for()
    assert fold.locator(".message pre").inner_text() == "Look at $x$."
    assert fold.locator(".message img").count() == 1
    assert "no file of it is here" in fold.locator(".message").inner_text()
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


def test_the_pages_fit_a_telephone(seat: Callable[..., Reader], explored: Study) -> None:
    reader = seat(viewport={"width": 390, "height": 800}, has_touch=True)
    for path in ("/", f"/items/{quote(explored.items.ids[0], safe='')}"):
        page = reader.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert reader.messages == []
