"""The look at a paper in a real browser, from disk, in both themes and by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browsing import listen, note_requests
from tests.ocr_view.test_look import paper

from omibench.explore.ocr_view import make_look_writer
from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr import read_papers

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("browser")
    read_papers([paper(out)], out / "ocr", OcrParams(dpi=72), look=make_look_writer(out))
    return Path(out / "shapes.pdf.html").as_uri()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [("light", 1400), pytest.param("dark", 1400, marks=pytest.mark.slow), ("light", 390)],
)
def test_the_page_opens_from_disk_in_both_themes_and_sizes(
    browser: Browser, look: str, scheme: Any, width: int
) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    said = listen(page)
    asked = note_requests(page)
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(look)
    assert said == []
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 27)"
    assert dark == (scheme == "dark")
    # The figure beside the text is a part of the page's picture, drawn at the size of its box.
    shown = page.locator("article .crop svg use").bounding_box()
    assert shown is not None
    assert shown["width"] > 100
    page.close()


def test_boxes_and_problems_lead_to_each_other_by_keyboard(browser: Browser, look: str) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(look)
    page.locator(".sheet a[href='#q2']").first.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#q2")
    border = "getComputedStyle(document.querySelector('#q2')).borderTopWidth"
    assert page.evaluate(border) == "2px"
    link = page.locator("#q2 h2 a").first
    link.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector(':target').closest('.sheet') !== null")
    page.close()


def test_a_layer_is_hidden_and_shown_by_its_box(browser: Browser, look: str) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(look)
    figures, lines = page.locator(".sheet g.k-figure"), page.locator(".sheet g.k-line")
    assert figures.first.is_visible()
    assert not lines.first.is_visible()
    page.locator("#show-figure").focus()
    page.keyboard.press("Space")
    page.locator("#show-line").check()
    assert not figures.first.is_visible()
    assert lines.first.is_visible()
    page.close()
