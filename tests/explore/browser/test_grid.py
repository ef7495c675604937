"""The grid in a real browser: filters, search, order, permalinks, keys."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.explore.browser.conftest import Reader

from omibench.explore.selection import Study


def read_query(reader: Reader) -> dict[str, list[str]]:
    return parse_qs(urlsplit(reader.page.url).query)


def test_the_grid_shows_every_verdict_by_colour_and_shape(reader: Reader, explored: Study) -> None:
    page = reader.open("/")
    assert reader.list_ids() == list(explored.items.ids)
    assert page.locator(".grid tbody td[data-column]").count() == 28 * 9
    kinds = page.eval_on_selector_all(
        ".grid .verdict", "nodes => [...new Set(nodes.map(n => n.className))].sort()"
    )
    assert {"verdict right", "verdict wrong"} <= set(kinds)
    names = page.eval_on_selector_all(
        ".grid td[data-column]", "nodes => nodes.every(n => n.getAttribute('aria-label'))"
    )
    assert names


def test_facets_search_and_order_are_in_the_address(reader: Reader) -> None:
    page = reader.open("/")
    choice = page.locator('[data-facet="is.subject"][data-value="physics"]')
    count = int(page.locator("li", has=choice).locator(".facet-count").inner_text())
    choice.check()
    reader.wait_for_total(count)
    assert read_query(reader) == {"is.subject": ["physics"]}
    page.get_by_label("Order").select_option("hardest")
    page.wait_for_url(re.compile("order=hardest"))
    page.locator(".chip").click()
    reader.wait_for_total(28)
    page.keyboard.press("/")
    page.keyboard.type("klotz")
    reader.wait_for_total(7)
    assert read_query(reader)["search"] == ["klotz"]
    assert page.locator(".search").evaluate("node => node === document.activeElement")
    ids = reader.list_ids()
    page.reload()
    reader.wait_for_total(7)
    assert reader.list_ids() == ids
    assert page.locator(".search").input_value() == "klotz"


@pytest.mark.slow
def test_the_back_button_returns_to_the_filter_before(reader: Reader) -> None:
    page = reader.open("/")
    filters = page.get_by_label("All models wrong")
    filters.check()
    page.wait_for_url(re.compile("ready=all-wrong"))
    page.wait_for_function("() => document.querySelector('.count-line b').textContent !== '28'")
    page.go_back()
    reader.wait_for_total(28)
    assert not filters.is_checked()


@pytest.mark.slow
def test_models_and_settings_are_columns_to_choose(reader: Reader) -> None:
    page = reader.open("/?models=sim-weak&settings=cot&settings=direct")
    assert page.locator("thead .setting").count() == 2
    page.locator(".chip", has_text="direct").click()
    page.wait_for_function("() => document.querySelectorAll('thead .setting').length === 1")


@pytest.mark.slow
def test_pages_of_many_items_are_turned(reader: Reader, explored: Study) -> None:
    page = reader.open("/?limit=10")
    assert len(reader.list_ids()) == 10
    page.keyboard.press("n")
    page.wait_for_url(re.compile("offset=10"))
    page.wait_for_function(
        "id => document.querySelector('.item-link').textContent === id", arg=explored.items.ids[10]
    )


@pytest.mark.slow
def test_what_is_not_scored_yet_is_not_called_unasked(seat: Any) -> None:
    reader = seat()
    page = reader.page
    items = page.request.get(f"{reader.address}/api/items").json()
    items["items"][0]["verdicts"][0] = items["items"][0]["failed"][0] = None
    page.route("**/api/items*", lambda route: route.fulfill(json=items))
    reader.open("/")
    mark = page.locator(".grid tbody td[data-column]").first
    assert mark.get_attribute("aria-label") == "no verdict"
    assert "no verdict" in page.locator(".legend").inner_text()


@pytest.mark.slow
def test_many_columns_are_turned(
    reader: Reader, explored: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omibench.explore.app.views.MOST_COLUMNS", 4)
    page = reader.open("/?limit=10&offset=10")
    assert page.locator("thead .setting").count() == 4
    right = page.locator(".right-count").all_inner_texts()
    page.get_by_role("button", name="Next columns").click()
    page.get_by_text("5–8 of 9").wait_for()
    page.keyboard.press("]")
    page.wait_for_function("() => document.querySelectorAll('thead .setting').length === 1")
    assert read_query(reader) == {"limit": ["10"], "offset": ["10"], "column": ["8"]}
    assert "Columns 9–9 of 9" in " ".join(page.locator(".pager").inner_text().split())
    assert page.locator(".right-count").all_inner_texts() == right
    assert page.get_by_role("button", name="Next columns").is_disabled()
    page.keyboard.press("[")
    page.wait_for_url(re.compile("column=4"))
    page.get_by_label("All models wrong").check()
    page.wait_for_url(re.compile("ready=all-wrong"))
    assert "column" not in read_query(reader)


def test_an_item_is_opened_by_keys_alone(reader: Reader, explored: Study) -> None:
    page = reader.open("/")
    reader.press("ArrowDown ArrowDown ArrowRight ArrowRight Enter")
    page.wait_for_url(re.compile("/items/"))
    page.wait_for_selector("html[data-ready] .column")
    assert page.locator("h1").inner_text() == explored.items.ids[1]
    cells = read_query(reader)["cells"]
    grid = explored.run.cells if explored.run else []
    assert cells[0] == f"{grid[1].model}/{grid[1].setting}"
    assert len(cells) == 2


def test_the_keys_are_listed(reader: Reader) -> None:
    page = reader.open("/")
    page.keyboard.press("?")
    assert "Search" in page.get_by_role("dialog").inner_text()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")


def test_a_wrong_address_is_one_line(seat: Any) -> None:
    reader = seat()
    page = reader.open("/?models=nobody")
    assert "'nobody' is not in the run" in page.get_by_role("alert").inner_text()


@pytest.mark.slow
def test_real_responses_bear_no_mark(seat: Any) -> None:
    reader = seat()
    page = reader.page
    study = page.request.get(f"{reader.address}/api/study").json()
    page.route(
        "**/api/study",
        lambda route: route.fulfill(json=study | {"simulated": False, "synthetic": None}),
    )
    reader.open("/")
    assert page.locator("#bar .mark-simulated").count() == 0
    assert "null" not in page.locator("#bar").inner_text()
    page.locator(".item-link").first.click()
    page.wait_for_selector(".column")
    assert "null" not in page.locator("#bar").inner_text()
