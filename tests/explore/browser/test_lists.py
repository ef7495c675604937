"""Filters with counts, orders, excerpts, tags and downloads in a real browser; large pages."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.explore.browser.conftest import Reader, serve_study

from omibench.explore.app.settings import ExplorerSources
from omibench.explore.query import ItemQuery
from omibench.explore.selection import Study

if TYPE_CHECKING:
    from playwright.sync_api import Route


def read_query(reader: Reader) -> dict[str, list[str]]:
    return parse_qs(urlsplit(reader.page.url).query)


def read_count(reader: Reader, name: str, value: str) -> int:
    box = reader.page.locator(f'input[data-facet="{name}"][data-value="{value}"]')
    return int(reader.page.locator("li", has=box).locator(".facet-count").inner_text())


def test_counts_follow_the_other_filters(reader: Reader, explored: Study) -> None:
    page = reader.open("/")
    page.get_by_role("checkbox", name="No answer").check()
    page.get_by_label("4 images or more").check()
    query = ItemQuery(ready=("unanswered", "many-images"))
    counts = explored.count(query)
    reader.wait_for_total(len(explored.select(query).ids))
    for subject, count in counts["is.subject"].items():
        assert read_count(reader, "is.subject", subject) == count
    assert read_count(reader, "ready", "all-wrong") == counts["ready"]["all-wrong"]
    assert read_query(reader)["ready"] == ["unanswered", "many-images"]
    assert page.get_by_label("4 images or more").evaluate("node => node === document.activeElement")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.get_by_role("checkbox", name="No answer").is_checked()


def test_one_model_right_and_another_wrong_takes_two_clicks(
    reader: Reader, explored: Study
) -> None:
    page = reader.open("/")
    page.get_by_label("Only problems that sim-strong got right").click()
    page.get_by_label("Only problems that sim-weak got wrong").click()
    ids = explored.select(ItemQuery(right=("sim-strong",), wrong=("sim-weak",))).ids
    reader.wait_for_total(len(ids))
    assert reader.list_ids() == ids
    page.get_by_label("Only problems that sim-weak got right").click()
    page.wait_for_url("**/?right=sim-strong&right=sim-weak")
    assert page.locator(".chip").all_inner_texts() == ["Right: sim-strong ×", "Right: sim-weak ×"]


def test_found_words_are_marked_in_their_text(reader: Reader) -> None:
    page = reader.open("/?search=figures+matter&in=response")
    hits = page.locator(".hit")
    assert hits.count() == len(reader.list_ids()) > 0
    assert page.locator(".snippet mark").first.inner_text().lower() == "figures matter"
    assert page.locator(".snippet:has(mark) .katex").count() > 0
    where = hits.first
    assert where.inner_text().startswith("Response · ")
    model = where.inner_text().split(" · ")[1]
    where.click()
    page.wait_for_selector(".column")
    assert read_query(reader)["cells"][0].startswith(model)
    assert page.locator(".column mark.found").first.inner_text().lower() == "figures matter"


def test_a_heading_sorts_by_keys_alone(reader: Reader, explored: Study) -> None:
    page = reader.open("/")
    heading = page.get_by_role("button", name="Tokens: sort")
    heading.focus()
    for order, state in (("-tokens", "descending"), ("tokens", "ascending")):
        page.keyboard.press("Enter")
        page.wait_for_function(
            "state => document.querySelector('.measure-head[aria-sort]')?.ariaSort === state",
            arg=state,
        )
        assert read_query(reader) == {"order": [order]}
        assert reader.list_ids() == explored.select(ItemQuery(order=order)).ids
        assert heading.evaluate("node => node === document.activeElement")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.querySelector('[aria-sort]')")
    assert read_query(reader) == {}
    page.locator("thead .setting button").first.click()
    page.wait_for_url("**/?order=sim-middle%2Fcot")
    ids = explored.select(ItemQuery(order="sim-middle/cot")).ids
    page.wait_for_function(
        "id => document.querySelector('.item-link').textContent === id", arg=ids[0]
    )
    assert page.get_by_label("Order").input_value() == "sim-middle/cot"


def test_problems_show_their_pictures(reader: Reader) -> None:
    page = reader.open("/?limit=3")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.thumbnail')].some(i => i.naturalWidth > 0)"
    )
    assert page.locator(".thumbnail").count() >= 3


def test_the_list_is_downloaded_as_it_is_shown(reader: Reader, tmp_path: Path) -> None:
    page = reader.open("/?is.subject=physics&order=-tokens&limit=2")
    reader.wait_for_total(7)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").press("Enter")
    path = tmp_path / "list.csv"
    download.value.save_as(path)
    assert download.value.suggested_filename == "problems.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7
    assert [row["id"] for row in rows][:2] == reader.list_ids()


@pytest.fixture
def shared(results: Path, tmp_path: Path) -> Iterator[str]:
    """Where the study is served with a review folder."""
    with serve_study(ExplorerSources(results / "freeze", results, review=tmp_path / "r")) as place:
        yield place


def test_tags_are_shared_and_set_by_keys_alone(
    seat: Callable[..., Reader], shared: str, explored: Study
) -> None:
    ann, ben = seat(shared), seat(shared)
    name = explored.items.ids[0]
    page = ann.open(f"/items/{name}?cells=sim-weak/cot")
    page.get_by_label("New tag on the problem").focus()
    page.keyboard.type("odd key")
    page.keyboard.press("Tab")
    page.keyboard.type("Ann")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Remove the tag odd key").wait_for()
    assert page.get_by_label("New tag on the problem").evaluate("n => n === document.activeElement")
    page.get_by_label("New tag on the response of sim-weak/cot").focus()
    page.keyboard.type("<b>guess")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Remove the tag <b>guess").wait_for()
    page = ben.open("/")
    assert page.locator(".user-tag").all_inner_texts() == ["<b>guess", "odd key"]
    page.get_by_label("odd key").check()
    ben.wait_for_total(1)
    page.locator(".item-link").click()
    page.get_by_role("button", name="Remove the tag odd key").press("Enter")
    page.get_by_label("Your name, for the tag").first.fill("Ben")
    page.get_by_role("button", name="Remove the tag odd key").press("Enter")
    page.get_by_role("button", name="Remove the tag odd key").wait_for(state="detached")
    assert ann.messages == ben.messages == []


def test_late_tags_of_the_previous_problem_are_not_shown_on_the_next(
    seat: Callable[..., Reader], shared: str, explored: Study
) -> None:
    ann = seat(shared)
    first, second = explored.items.ids[:2]
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    ann.page.route("**/api/tags", hold)
    page = ann.open(f"/items/{first}?cells=sim-weak/cot")
    page.get_by_label("New tag on the problem").focus()
    page.keyboard.type("late")
    page.keyboard.press("Tab")
    page.keyboard.type("Ann")
    with page.expect_request("**/api/tags"):
        page.keyboard.press("Enter")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.wait_for_url(f"**/items/{second}?*")
    page.get_by_role("heading", level=1, name=second).wait_for()
    with page.expect_response("**/api/tags"):
        held[0].continue_()
    page.wait_for_timeout(300)
    assert page.get_by_role("button", name="Remove the tag late").count() == 0
    ann.open(f"/items/{first}?cells=sim-weak/cot")
    page.get_by_role("button", name="Remove the tag late").wait_for()
    assert ann.messages == []


def widen(page: dict[str, Any]) -> dict[str, Any]:
    """A page of the grid with 620 columns and 100 rows."""
    cells = [{"model": f"m{n // 20}", "setting": f"s{n % 20}"} for n in range(620)]
    row = {"verdicts": [n % 2 for n in range(620)], "failed": [0] * 620, "asked": 620, "right": 310}
    items = [page["items"][0] | row | {"id": f"problem {n}"} for n in range(100)]
    return page | {"cells": cells, "columns": 620, "items": items, "total": 100, "limit": 100}


def test_a_large_list_draws_what_is_in_view(seat: Callable[..., Reader]) -> None:
    reader = seat()
    page = reader.page
    large = widen(page.request.get(f"{reader.address}/api/items").json())
    page.route("**/api/items*", lambda route: route.fulfill(json=large))
    reader.open("/")
    assert page.locator(".grid *").count() < 4_000
    assert page.locator(".grid").get_attribute("aria-rowcount") == "102"
    page.locator(".grid-scroll").evaluate("node => node.scrollTo(620 * 26, 1e6)")
    page.get_by_text("problem 99", exact=True).wait_for()
    last = page.locator('tr[data-row="99"] td[data-column="619"]')
    last.wait_for()
    box, head = last.bounding_box(), page.locator('[data-head="619"]').bounding_box()
    assert box is not None
    assert head is not None
    assert box["x"] == pytest.approx(head["x"], abs=1)
    columns = page.locator(".grid").get_attribute("aria-colcount")
    assert last.get_attribute("aria-colindex") == columns
    page.locator(".grid-scroll").evaluate("node => node.scrollTo(0, 0)")
    page.get_by_text("problem 0", exact=True).wait_for()
    page.get_by_text("problem 0", exact=True).focus()
    reader.press(" ".join(["ArrowDown"] * 40 + ["ArrowRight"] * 60))
    focused = page.evaluate(
        "[document.activeElement.dataset.column, document.activeElement.closest('tr').dataset.row]"
    )
    assert focused == ["59", "40"]
    assert reader.messages == []


def test_a_problem_with_many_responses_lists_those_in_view(
    seat: Callable[..., Reader], explored: Study
) -> None:
    reader = seat()
    page = reader.page
    address = f"{reader.address}/api/items/{explored.items.ids[0]}?cells=sim-weak/cot"
    place = page.request.get(address).json()
    row = place["outcomes"][0]
    place["outcomes"] = [
        row | {"model": f"m{n // 20}", "setting": f"s{n % 20}", "tokens": (n * 7) % 620, "cost": n}
        for n in range(620)
    ]
    page.route("**/api/items/*", lambda route: route.fulfill(json=place))
    page = reader.open(f"/items/{explored.items.ids[0]}?cells=sim-weak/cot")
    assert page.locator("*").count() < 1_500
    page.get_by_role("button", name="Tokens: sort").click()
    rows = page.locator(".outcomes tbody tr")
    assert rows.first.locator("td").nth(3).inner_text() == "619"
    page.get_by_role("button", name="Tokens: sort").press("Enter")
    assert rows.first.locator("td").nth(3).inner_text() == "0"
    assert page.locator(".outcomes [aria-sort=ascending]").inner_text().startswith("Tokens")
    page.locator(".outcomes-fold .scroll").evaluate("node => node.scrollTo(0, 1e6)")
    page.locator(".outcomes").get_by_text("619", exact=True).first.wait_for()
    last = rows.last
    bottom = last.evaluate("node => node.getBoundingClientRect().bottom")
    edge = page.locator(".outcomes-fold .scroll").evaluate("n => n.getBoundingClientRect().bottom")
    assert bottom <= edge + 1
    assert reader.messages == []


def test_an_answer_with_a_minus_is_marked(seat: Callable[..., Reader], explored: Study) -> None:
    reader = seat()
    name = explored.items.ids[0]
    real = reader.page.request.get(f"{reader.address}/api/items/{name}?cells=sim-weak/cot").json()
    sample = real["columns"][0]["samples"][0]
    sample["text"] = "The charge is -5 C (a/b)."
    sample["verdicts"][0]["extracted"] = "-5"
    real["rules"] = sample["verdicts"][0]["rules"]
    reader.page.route("**/api/items/*", lambda route: route.fulfill(json=real))
    page = reader.open(f"/items/{name}?cells=sim-weak/cot&search=(a%2Fb).")
    page.wait_for_selector(".column mark")
    assert page.locator(".column mark").all_inner_texts() == ["-5", "(a/b)."]
    assert reader.messages == []
