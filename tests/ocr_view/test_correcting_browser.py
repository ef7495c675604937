"""A correction written on the look of a paper: opened from disk, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browsing import listen
from tests.stages.ocr.corrections.mock_paper import draw_paper

from omibench.explore.ocr_view import make_look_writer
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import FileReport, PageInk, PageText
from omibench.schemas.problem import DoubtfulFormula, Problem
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.corrections.entry import compute_digest, read_corrections
from omibench.stages.ocr.sources.manifest import Source

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EVIL = r"\href{javascript:alert(1)}{x}</textarea><script>alert(1)</script>'" + "\u202e"
DOUBTFUL = DoubtfulFormula(
    page=1,
    bbox=(300, 82, 345, 111),
    latex=r"\frac{67R}{20g}",
    file="formulas/mock/p001-1.png",
    sha256="0" * 64,
    doubts=["a glyph of font F1 is unknown"],
)


def look_with_doubts(folder: Path) -> Path:
    """The look of the mock paper with a doubtful formula, a flat line and hostile ones."""
    write = make_look_writer(folder / "looks")

    def look(report: FileReport, source: Source, reading: Path) -> None:
        problems = read_jsonl(reading / "problems.jsonl", Problem)
        evil = DOUBTFUL.model_copy(update={"latex": EVIL, "bbox": (72, 150, 100, 166)})
        doubtful = {"doubtful_formulas": [DOUBTFUL, evil]}
        write_jsonl(
            reading / "problems.jsonl", [problems[0].model_copy(update=doubtful), *problems[1:]]
        )
        (page,) = read_jsonl(reading / "pages.jsonl", PageText)
        flat = [
            line.model_copy(update={"math_suspect": "planet" in line.text}) for line in page.lines
        ]
        ink = PageInk(bbox=(400, 410, 440, 424), what="a mark of 40 x 14 points")
        update = {"lines": flat, "unread": [ink]}
        write_jsonl(reading / "pages.jsonl", [page.model_copy(update=update)])
        write(report, source, reading)

    read_papers([draw_paper(folder / "mock.pdf")], folder / "ocr", OcrParams(dpi=72), look=look)
    return folder / "looks/mock.pdf.html"


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> str:
    return look_with_doubts(tmp_path_factory.mktemp("correcting")).as_uri()


@pytest.fixture
def page(browser: Browser, look: str) -> Iterator[Page]:
    """The page, which says nothing on the console and asks for nothing but files."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    said = listen(page)
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(look)
    page.wait_for_selector(".tex.set")
    yield page
    assert said == []
    page.close()


def read_entry(page: Page, folder: Path, area: str = "#correction-yaml") -> dict[str, object]:
    """The one entry that a text area of the page holds, as omibench reads it."""
    text = page.locator(area).input_value()
    heading = "" if text.startswith("corrections:") else "corrections:\n"
    path = folder / "corrections.yaml"
    path.write_text(heading + text, "utf-8")
    (entry,) = read_corrections(path)
    return entry.correction.model_dump(exclude_defaults=True, mode="json")


def test_a_doubtful_formula_stands_beside_its_crop_and_is_corrected(
    page: Page, tmp_path: Path
) -> None:
    doubt = page.locator("#f1")
    assert doubt.locator(".katex .mfrac").count() == 1
    assert doubt.locator("svg use").get_attribute("href") == "#sheet1"
    assert "a glyph of font F1 is unknown" in doubt.inner_text()
    doubt.get_by_role("button").click()
    page.fill("[name=formula]", r"\frac{67R^{2}}{20g}")
    page.fill("#correction-by", "Ana O'Neill")
    assert page.locator("#correction-preview .katex .mfrac").count() == 1
    assert page.locator("#correction-crop svg").get_attribute("viewBox") == "294 76 57 41"
    assert read_entry(page, tmp_path) == {
        "paper": "mock.pdf",
        "page": 1,
        "box": [300.0, 82.0, 345.0, 111.0],
        "formula": r"\frac{67R^{2}}{20g}",
        "was": r"\frac{67R}{20g}",
        "by": "Ana O'Neill",
    }


@pytest.mark.slow
def test_doubts_are_gone_through_by_keyboard_and_entries_kept(page: Page, tmp_path: Path) -> None:
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    assert page.locator("dialog[open] h2").inner_text() == "Formula on page 1"
    page.keyboard.press("Tab")
    page.keyboard.type("Bo")
    page.get_by_role("button", name="Keep for later").press("Enter")
    assert page.locator("dialog[open]").count() == 0
    assert page.evaluate("document.activeElement.closest('.doubtful').id") == "f1"
    kept = read_entry(page, tmp_path, "#kept-yaml")
    assert (kept["formula"], kept["by"]) == (DOUBTFUL.latex, "Bo")


@pytest.mark.slow
def test_a_flat_line_choice_answer_figure_and_split_are_corrected(
    page: Page, tmp_path: Path
) -> None:
    page.locator("#f3").get_by_role("button").click()
    page.fill("[name=text]", "3. What is the $3$rd planet?\n(A) Mars")
    entry = read_entry(page, tmp_path)
    assert entry["text"] == "3. What is the $3$rd planet?\n(A) Mars"
    assert entry["was"] == "3. What is the third planet? And which moon does it have?"
    page.keyboard.press("Escape")

    page.locator("#q1 .choices button").nth(1).click()
    page.fill("[name=text]", "$5$ s")
    assert read_entry(page, tmp_path)["choice"] == {"label": "B", "text": "$5$ s"}
    assert page.locator("#correction-crop use").count() == 1
    page.keyboard.press("Escape")

    page.locator("#q1 .fixes summary").click()
    page.locator("#q1 .fixes").get_by_role("button", name="answer").click()
    page.fill("[name=answer]", "A; C")
    entry = read_entry(page, tmp_path)
    assert (entry["answer"], entry["was"]) == (["A", "C"], "")
    page.keyboard.press("Escape")

    page.locator("#q2 figcaption button").click()
    page.fill("[name=box]", "100, 200 300.5 400")
    assert page.locator("#correction-crop svg").get_attribute("viewBox") == "100 200 200.5 200"
    figure = {"image": 0, "page": 1, "box": [100.0, 200.0, 300.5, 400.0]}
    assert read_entry(page, tmp_path)["figure"] == figure | {"image": 0}
    page.keyboard.press("Escape")

    page.locator("#q3 .fixes summary").click()
    page.locator("#q3 .fixes").get_by_role("button", name="split").click()
    page.fill("[name=at]", "And which moon")
    page.fill("[name=number]", "4")
    split = {"at": "And which moon", "number": "4"}
    assert read_entry(page, tmp_path)["split"] == split


def test_a_line_of_the_page_is_corrected_by_keyboard(page: Page, tmp_path: Path) -> None:
    page.locator("#show-line").check()
    page.locator(".sheet g.k-line[role=button]").first.focus()
    page.keyboard.press("Enter")
    assert str(read_entry(page, tmp_path)["text"]).startswith("1. Find the period of the pendulum")


def test_a_hostile_formula_is_shown_as_its_source_and_written_escaped(
    page: Page, tmp_path: Path
) -> None:
    doubt = page.locator("#f2")
    assert doubt.locator(".math-refused").count() >= 1
    assert page.locator("a[href^=javascript]").count() == 0
    doubt.get_by_role("button").click()
    text = page.locator("#correction-yaml").input_value()
    assert "\u202e" not in text
    assert read_entry(page, tmp_path)["was"] == EVIL
    assert page.locator("#correction-preview script").count() == 0


def test_unread_ink_is_shown_in_its_place_and_corrected(page: Page, tmp_path: Path) -> None:
    place = page.locator(".doubtful", has=page.locator("rect.unread"))
    assert "not read: a mark of 40 x 14 points" in place.inner_text()
    assert page.locator(".sheet g.k-ink title").text_content() == (
        "ink that was not read: a mark of 40 x 14 points"
    )
    page.locator(".sheet g.k-ink").click()
    assert page.locator("dialog[open] h2").inner_text() == "Ink on page 1 that was not read"
    page.fill("[name=text]", "It is $x$.")
    entry = read_entry(page, tmp_path)
    assert (entry["text"], entry["page"]) == ("It is $x$.", 1)


@pytest.mark.slow
def test_all_choices_are_corrected_in_one_form(page: Page, tmp_path: Path) -> None:
    page.locator("#q1 .fixes summary").click()
    page.locator("#q1 .fixes").get_by_role("button", name="all choices").click()
    assert page.locator("[name=choices]").input_value() == "(A) 3 s\n(B) 4 s\n(C) 5 s\n(D) 6 s"
    page.fill("[name=choices]", "(A) $3$ s\n(B) 4 s,\nor more\n(E)")
    entry = read_entry(page, tmp_path)
    assert entry["choices"] == [
        {"label": "A", "text": "$3$ s"},
        {"label": "B", "text": "4 s,\nor more"},
        {"label": "E", "text": ""},
    ]
    assert page.locator("#correction-preview .katex").count() == 1
    assert entry["was"] == compute_digest("(A) 3 s (B) 4 s (C) 5 s (D) 6 s")


def test_a_page_of_an_earlier_version_still_corrects_with_the_present_script(
    browser: Browser, look: str
) -> None:
    path = Path(look.removeprefix("file://"))
    old = path.with_name("old.html")
    old.write_text(path.read_text().replace('id="correction-page"', ""))
    page = browser.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(old.as_uri())
    page.locator("#q2 figcaption button").click()
    page.wait_for_selector("dialog[open]")
    assert "figure:" in page.locator("#correction-yaml").input_value()
    assert said == []
    page.close()
