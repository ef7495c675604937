"""Corrections saved from a served inspection page: boxes by mouse and by keys, and conflicts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.accessibility import list_violations
from tests.browsing import PATIENCE_MS, listen, serve_in_thread
from tests.ocr_view.test_correcting_browser import look_with_doubts
from tests.ocr_view.test_serve import TOKEN, make_files

from omibench.explore.ocr_view.page import write_scripts
from omibench.explore.ocr_view.serve import make_application
from omibench.stages.ocr.corrections.entry import Correction, read_corrections
from omibench.web.address import ServedAddress

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server, and the file that it saves corrections in."""
    folder = tmp_path_factory.mktemp("saving")
    look_with_doubts(folder)
    write_scripts(folder / "scripts")
    files = make_files(folder, folder / "corrections.yaml")
    served = make_application(files, ServedAddress(), TOKEN.encode(), folder / "scripts")
    with serve_in_thread(served) as address:
        yield address, folder / "corrections.yaml"


@pytest.fixture
def page(browser: Browser, site: tuple[str, Path]) -> Iterator[Page]:
    site[1].unlink(missing_ok=True)
    page = open_page(browser, site[0])
    said = listen(page)
    yield page
    assert [text for text in said if "status of 4" not in text] == []
    page.close()


def open_page(browser: Browser, address: str, **options: Any) -> Page:
    options = {"viewport": {"width": 1400, "height": 900}} | options
    page = browser.new_page(**options)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{address}/login?token={TOKEN}")
    page.wait_for_selector("body.served")
    return page


def save(page: Page, path: Path) -> list[Correction]:
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("dialog[open]", state="detached")
    return [entry.correction for entry in read_corrections(path)]


def read_box(page: Page) -> list[float]:
    return [float(edge) for edge in page.locator("[name=box]").input_value().split(",")]


def test_a_figure_is_cut_and_saved_by_keys_alone(page: Page, site: tuple[str, Path]) -> None:
    page.keyboard.press("f")
    assert page.evaluate("document.activeElement.closest('#q2 figure') !== null")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    before = read_box(page)
    for key in ("ArrowLeft", "Control+ArrowUp", "Shift+ArrowRight", "Control+Shift+ArrowDown"):
        page.keyboard.press(key)
    x0, y0, x1, y1 = before
    moved = [round(edge, 1) for edge in (x0 - 4, y0 - 1, x1 - 4 + 4, y1 - 1 + 1)]
    assert read_box(page) == moved
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.type("Bo")
    assert not page.locator("#correction-yaml").is_visible()
    (correction,) = save(page, site[1])
    assert correction.figure is not None
    assert [*(correction.figure.box or ())] == moved
    assert (correction.by, correction.problem) == ("Bo", "2")
    assert "line 2 of corrections.yaml" in page.locator("#kept").inner_text()
    assert page.evaluate("document.activeElement.closest('#q2') !== null")


def test_a_new_figure_is_started_by_keys_and_drawn_by_mouse(
    page: Page, site: tuple[str, Path]
) -> None:
    page.locator("#q1 .fixes summary").click()
    page.locator("#q1 .fixes").get_by_role("button", name="add a figure").click()
    assert "no box" in page.locator("#correction-page").inner_text()
    page.keyboard.press("Enter")
    assert len(read_box(page)) == 4
    sheet = page.locator(".box-page").bounding_box()
    assert sheet is not None
    scale = sheet["width"] / float(
        (page.locator(".box-page").get_attribute("viewBox") or "").split()[2]
    )

    def drag(*points: tuple[float, float]) -> None:
        places = [(sheet["x"] + x * scale, sheet["y"] + y * scale) for x, y in points]
        page.mouse.move(*places[0])
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(*place, steps=4)
        page.mouse.up()

    drag((20, 20), (120, 90))  # draw
    assert read_box(page) == pytest.approx([20, 20, 120, 90], abs=3)
    drag((120, 90), (160, 130))  # its lower right corner
    assert read_box(page) == pytest.approx([20, 20, 160, 130], abs=3)
    drag((60, 60), (90, 80))  # move
    assert read_box(page) == pytest.approx([50, 40, 190, 150], abs=3)
    drag((60, 60), (-300, -300))  # not out of the page
    assert read_box(page)[:2] == [0, 0]
    box = read_box(page)
    page.fill("#correction-by", "Ana")
    (correction,) = save(page, site[1])
    assert correction.figure is not None
    assert [*(correction.figure.box or ())] == box


def test_what_cannot_be_saved_is_said_and_kept_in_the_form(
    page: Page, site: tuple[str, Path]
) -> None:
    path = site[1]
    page.locator("#q1 .choices button").nth(1).click()
    page.fill("[name=text]", "$5$ s")
    page.fill("#correction-by", "")
    page.keyboard.press("Control+Enter")
    status = page.locator("#correction-copied")
    assert status.inner_text() == "Give your name."
    page.keyboard.type("Ana")
    path.write_text("# from an editor\n")
    page.keyboard.press("Control+Enter")
    status.get_by_text("was changed by another program").wait_for()
    assert path.read_text() == "# from an editor\n"
    (correction,) = save(page, path)
    assert correction.choice is not None
    assert path.read_text().startswith("# from an editor\n")
    page.locator("#q1 .choices button").nth(1).click()
    page.fill("[name=text]", "$6$ s")
    page.keyboard.press("Control+Enter")
    status.get_by_text("Save again to replace it").wait_for()
    # A change of the form, and one of the file, end the permission to replace.
    page.fill("#correction-note", "checked")
    page.keyboard.press("Control+Enter")
    status.get_by_text("Save again to replace it").wait_for()
    path.write_text(path.read_text().replace("# from", "# saved from"))
    page.keyboard.press("Control+Enter")
    status.get_by_text("was changed by another program").wait_for()
    page.keyboard.press("Control+Enter")
    status.get_by_text("Save again to replace it").wait_for()
    (correction,) = save(page, path)
    assert correction.choice is not None
    assert correction.choice.text == "$6$ s"


def test_the_page_and_its_dialog_keep_the_rules(
    browser: Browser, site: tuple[str, Path], root: Path
) -> None:
    page = open_page(browser, site[0])
    assert list_violations(page, root) == []
    page.locator("#q2 figcaption button").click()
    assert list_violations(page, root) == []
    page.goto(f"{site[0]}/login")
    assert list_violations(page, root) == []
    page.close()


def test_a_file_that_cannot_be_read_and_a_server_that_does_not_answer_are_reported(
    browser: Browser, site: tuple[str, Path]
) -> None:
    site[1].unlink(missing_ok=True)
    site[1].write_text("corrections:\n- {paper: mock.pdf}\n")
    page = open_page(browser, site[0])
    page.locator("#q1 .choices button").nth(1).click()
    page.fill("#correction-by", "Ana")
    page.keyboard.press("Control+Enter")
    status = page.locator("#correction-copied")
    status.get_by_text("line 2").wait_for()
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    status.get_by_text("reload the page to see whether your entry was saved").wait_for()
    page.context.set_offline(False)
    site[1].unlink()
    page.route("**/api/corrections", lambda route: route.abort())
    page.reload()
    page.locator("main > [role=alert]", has_text="did not answer").wait_for()
    page.close()
