"""Exported items open from disk: they show what is served, and ask for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from tests.explore.app.studies import make_sources
from tests.explore.browser.conftest import Reader
from tests.explore.browser.test_item import HOSTILE
from tests.stages.analyze.pages import Page

from omibench.explore.app.live import LiveStudy
from omibench.explore.export import choose_items, export_items
from omibench.explore.query import ItemQuery
from omibench.web.templates import embed_json

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SHOWN = """() => [..."h2 h3 p li td th dt dd summary button select".split(" ")].flatMap((tag) =>
  [...document.querySelectorAll(`main ${tag}`)].map((node) =>
    tag === "select" ? node.value : node.textContent))"""


@pytest.fixture(scope="module")
def folder(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two items of the small study under all cells."""
    out = tmp_path_factory.mktemp("exported") / "a folder"
    snapshot = LiveStudy(make_sources(results)).read()
    ids = snapshot.study.items.ids[:2]
    export_items(out, snapshot, choose_items(snapshot.study, ids, ItemQuery()))
    return out


@pytest.fixture
def disk_reader(folder: Path, browser: Browser) -> Iterator[Reader]:
    """A reader of the folder, whose pages say nothing to the console and stay in the folder."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    reader = Reader(folder.as_uri(), page)
    yield reader
    page.close()
    assert reader.messages == []
    assert reader.find_foreign_requests() == []


def test_a_mark_leads_to_its_response_and_on_to_the_next_item(disk_reader: Reader) -> None:
    page = disk_reader.page
    page.goto(f"{disk_reader.address}/index.html")
    page.locator("tbody tr").first.locator("td a").last.click()
    page.wait_for_selector("html[data-ready]")
    model, setting = page.evaluate("decodeURIComponent(location.hash.slice(1))").split("@")
    (column,) = page.locator(".column").all()
    assert column.get_attribute("data-cell") == f"{model}/{setting}"
    images = page.locator(".problem-side .figure img")
    assert images.count() > 0
    # Not `decode()`: on a busy machine it may never answer.
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    assert images.first.evaluate("image => image.naturalWidth") > 0
    page.locator(".outcome[aria-pressed=false]").first.click()
    page.wait_for_function("() => document.querySelectorAll('.column').length === 2")
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('.column').length === 1")
    page.get_by_label("Next problem").click()
    page.wait_for_function("() => document.querySelector('.position')?.textContent === '2 of 2'")
    page.keyboard.press("k")
    page.wait_for_function("() => document.querySelector('.position')?.textContent === '1 of 2'")
    page.get_by_text("← Problems").click()
    assert page.locator("tbody tr").count() == 2


def test_a_page_shows_what_is_served(
    disk_reader: Reader, seat: Callable[..., Reader], folder: Path
) -> None:
    served = seat()
    for path in sorted((folder / "pages").iterdir()):
        name = Page(path).data["place"]["item"]["id"]
        cells = "cells=sim-weak/cot&cells=sim-strong/direct"
        served.open(f"/items/{quote(name, safe='')}?{cells}")
        disk_reader.page.goto(f"{path.as_uri()}#{cells}")
        disk_reader.page.wait_for_selector("html[data-ready]")
        assert disk_reader.page.evaluate(SHOWN) == served.page.evaluate(SHOWN)
    assert served.messages == []


def test_hostile_texts_are_text(disk_reader: Reader, folder: Path) -> None:
    path = sorted((folder / "pages").iterdir())[0]
    data = Page(path).data
    item, column = data["place"]["item"], data["place"]["columns"][0]
    item |= {"question": HOSTILE, "gold": [HOSTILE], "facts": {HOSTILE: HOSTILE}}
    column["samples"][0] |= {"text": HOSTILE, "key": "k", "finish_reason": HOSTILE}
    parts = [{"text": HOSTILE}]
    message = {"role": HOSTILE, "parts": parts, "calls": [HOSTILE], "answers": HOSTILE}
    data["sent"] = {"k": {"conversation": "c"}}
    data["conversations"] = {"c": {"messages": [message], "tools": [HOSTILE], "pictures": 0}}
    html = path.read_text()
    before, rest = html.split('id="data">')
    planted = path.with_name("planted.html")
    planted.write_text(f'{before}id="data">{embed_json(data)}</script>{rest.split("</script>")[1]}')
    page = disk_reader.page
    page.goto(f"{planted.as_uri()}#{column['model']}@{column['setting']}")
    page.wait_for_selector("html[data-ready]")
    page.get_by_text("Request", exact=True).click()
    page.locator(".message pre").first.wait_for()
    assert "<img src=x onerror" in page.locator(".message").inner_text()
    assert "<img src=x onerror" in page.locator(".problem-side").inner_text()
    assert page.locator("main script, main [onerror], main a[href^=javascript]").count() == 0
    planted.unlink()


def test_pages_fit_a_telephone(disk_reader: Reader, folder: Path) -> None:
    page = disk_reader.page
    page.set_viewport_size({"width": 390, "height": 800})
    for path in (folder / "index.html", *(folder / "pages").iterdir()):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_page_without_scripts_says_what_it_needs(folder: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{folder.as_uri()}/index.html")
    page.locator("tbody tr a").first.click()
    assert "needs JavaScript" in page.locator("main").inner_text()
    context.close()
