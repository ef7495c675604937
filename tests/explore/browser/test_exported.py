"""Exported items open from disk: with and without scripts, on a telephone, and ask for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.explore.app.studies import make_sources
from tests.explore.browser.conftest import Reader

from omibench.explore.app.live import LiveStudy
from omibench.explore.export.choice import choose_items
from omibench.explore.export.write import export_items
from omibench.explore.query import ItemQuery

if TYPE_CHECKING:
    from playwright.sync_api import Browser


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
    page.wait_for_selector("#statement .tex.set")
    target = page.evaluate("decodeURIComponent(location.hash.slice(1))")
    assert page.locator(f'[id="{target}"]').is_visible()
    images = page.locator("#statement .evidence img")
    assert images.count() > 0
    # Not `decode()`: on a busy machine it may never answer.
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    assert images.first.evaluate("image => image.naturalWidth") > 0
    page.get_by_text("next →").click()
    page.wait_for_selector("#statement .tex.set")
    page.get_by_text("all problems").click()
    assert page.locator("tbody tr").count() == 2


def test_responses_stand_beside_each_other_where_there_is_room(disk_reader: Reader) -> None:
    page = disk_reader.page
    page.goto(f"{disk_reader.address}/index.html")
    page.locator("tbody tr a").first.click()
    page.wait_for_selector("#statement .tex.set")
    first, second = (page.locator("article").nth(n).bounding_box() for n in (0, 1))
    assert first is not None
    assert second is not None
    assert (first["y"], first["x"] < second["x"]) == (second["y"], True)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_pages_are_readable_without_scripts(folder: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{folder.as_uri()}/index.html")
    page.locator("tbody tr a").first.click()
    assert page.locator("#statement").inner_text().strip()
    assert page.locator("article").count() == 9
    context.close()
