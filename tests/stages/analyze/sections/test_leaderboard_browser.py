"""The leaderboard in a real browser: sorted, searched, filtered, copied, printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
ROWS = """() => [...document.querySelectorAll("#leaderboard tr.cell")]
  .filter((row) => row.offsetParent)
  .map((row) => [row.querySelector(".name").firstChild.textContent.trim(),
                 row.querySelector(".setting").innerText.split("\\n")[0],
                 row.querySelector(".bars").nextElementSibling.innerText.split("\\n")[0]])"""

SHOWN_CELLS = """() => [...new Set([...document.querySelectorAll("#leaderboard tr")]
  .filter((row) => !row.querySelector("[colspan]"))
  .map((row) => [...row.cells].filter((cell) => !cell.hidden).length))]"""
CATCH_COPIES = (
    "() => Object.defineProperty(navigator, 'clipboard', "
    "{value: {writeText: (text) => { window.copied = text; }}})"
)


@pytest.fixture(scope="module")
def report(reported: Folders) -> Any:
    return reported.out / "report.html"


@pytest.fixture
def page(browser: Browser, report: Any) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(report.as_uri())
    yield page
    page.close()
    assert errors == []


def read_rows(page: Page) -> list[tuple[str, str, str]]:
    return [tuple(row) for row in page.evaluate(ROWS)]


def test_it_sorts_both_ways_and_back(page: Page) -> None:
    rows = read_rows(page)
    assert len(rows) == 9
    for expected in (True, False):
        page.locator("#leaderboard th button", has_text="Total").click()
        totals = [float(row[2]) for row in read_rows(page)]
        assert totals == sorted(totals, reverse=expected)
    assert page.locator("#leaderboard th[aria-sort=ascending]").count() == 1
    page.locator("#leaderboard th button", has_text="Total").click()
    assert read_rows(page) == rows


def test_it_searches_filters_and_keeps_that_in_its_address(page: Page, browser: Browser) -> None:
    page.fill("#board-search", "strong chain")
    assert [row[:2] for row in read_rows(page)] == [("Strong", "Chain of thought")]
    page.fill("#board-search", "")
    page.select_option("#board-setting", "Direct")
    page.select_option("#board-group", "Low ability")
    rows = read_rows(page)
    assert [row[:2] for row in rows] == [("Weak", "Direct")]
    assert page.locator(".tools [role=status]").inner_text() == "1 of 9 rows"
    again = browser.new_page(viewport={"width": 1400, "height": 900})
    again.goto(page.url)
    assert read_rows(again) == rows
    again.close()
    page.get_by_role("button", name="Reset").click()
    assert len(read_rows(page)) == 9


def test_another_scorer_shows_its_numbers(page: Page, report: Any) -> None:
    main = pl.read_csv(report.parent / "main.csv")
    page.select_option("#board-rules", "gptscore")
    for label, setting, total in read_rows(page):
        name = {"Chain of thought": "cot", "Direct": "direct"}.get(setting, "first-image")
        row = main.filter(rules="gptscore", label=label, subject="total", setting=name)
        assert float(total) == pytest.approx(100 * row["acc"].item(), abs=0.06)
    page.select_option("#board-rules", "robust")
    assert "[" in page.locator("#leaderboard tr.cell").first.inner_text()


def test_it_is_copied_as_csv_and_latex(page: Page) -> None:
    page.evaluate(CATCH_COPIES)
    page.fill("#board-search", "strong")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Bounds").uncheck()
    page.get_by_role("button", name="Copy CSV").click()
    head, *lines = page.evaluate("window.copied").splitlines()
    assert head.startswith("Model,Setting,")
    assert "Bounds" not in head
    assert head.endswith(",Scored by,Simulated")
    assert {tuple(line.split(",")[-2:]) for line in lines} == {("robust", "true")}
    assert [line.split(",")[:2] for line in lines] == [list(r[:2]) for r in read_rows(page)]
    page.get_by_role("button", name="Copy LaTeX").click()
    latex = page.evaluate("window.copied")
    assert latex.startswith("% SIMULATED: 3 of 3 rows")
    assert latex.count("Strong (SIMULATED) &") == 3
    assert "% Scored by robust." in latex
    assert latex.count(r" \\") == 4
    assert r"\begin{tabular}" in latex


def test_copies_mark_the_simulated_rows_alone(page: Page, report: Any, browser: Browser) -> None:
    data = page.evaluate("JSON.parse(document.getElementById('leaderboard-data').textContent)")
    data["simulated"]["robust"][1:] = [False] * 8
    html = report.read_text("utf-8")
    start = html.index(">", html.index('id="leaderboard-data"')) + 1
    mixed = html[:start] + json.dumps(data) + html[html.index("</script>", start) :]
    copy = browser.new_page(viewport={"width": 1400, "height": 900})
    copy.set_content(mixed)
    copy.evaluate(CATCH_COPIES)
    copy.get_by_role("button", name="Copy CSV").click()
    lines = copy.evaluate("window.copied").splitlines()[1:]
    assert [line.rpartition(",")[2] for line in lines] == ["true"] + ["false"] * 8
    copy.get_by_role("button", name="Copy LaTeX").click()
    latex = copy.evaluate("window.copied")
    assert latex.startswith("% SIMULATED: 1 of 9 rows")
    assert latex.count("Strong (SIMULATED) &") == 1
    assert "Middle &" in latex
    copy.close()


def test_columns_are_kept_in_its_address_and_stay_in_line(page: Page, browser: Browser) -> None:
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="Rank").uncheck()
    page.get_by_role("checkbox", name="Bounds").uncheck()
    for reader in (page, browser.new_page(viewport={"width": 1400, "height": 900})):
        if reader is not page:
            reader.goto(page.url)
        assert reader.evaluate(SHOWN_CELLS) == [reader.evaluate(SHOWN_CELLS)[0]]
        assert not reader.locator("#leaderboard th", has_text="Rank").is_visible()
    reader.close()
    page.get_by_role("button", name="Reset").click()
    assert page.locator("#leaderboard th", has_text="Rank").is_visible()


def test_ranks_of_the_main_scorer_order_nothing_else(page: Page) -> None:
    page.select_option("#board-rules", "gptscore")
    before = read_rows(page)
    page.locator("#leaderboard th button", has_text="Rank").click()
    assert read_rows(page) == before


def test_keys_alone_sort_it(page: Page) -> None:
    page.locator("#leaderboard th button", has_text="Total").focus()
    page.keyboard.press("Enter")
    totals = [float(row[2]) for row in read_rows(page)]
    assert totals == sorted(totals, reverse=True)


def test_the_total_is_in_sight_on_a_telephone(browser: Browser, report: Any) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(report.as_uri())
    right = page.evaluate(
        "document.querySelector('#leaderboard tr.cell .bars').nextElementSibling"
        ".getBoundingClientRect().right"
    )
    assert right <= 390
    page.close()


def test_without_scripts_every_number_is_there(browser: Browser, report: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("#leaderboard tr.cell").count() == 9
    assert page.locator(".tools").count() == 0
    context.close()


def test_nothing_is_cut_on_a4_paper(page: Page) -> None:
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1032, "height": 703})  # A4 landscape less its margins
    wide = page.evaluate(
        "[...document.querySelectorAll('table, figure svg')].filter((node) => node.offsetParent"
        " !== null && node.getBoundingClientRect().right > innerWidth + 1)"
        ".map((node) => node.textContent.slice(0, 90))"
    )
    assert wide == []
    assert page.locator(".tools").is_hidden()


def test_its_head_is_on_every_printed_page(page: Page) -> None:
    pymupdf = pytest.importorskip("pymupdf")
    with pymupdf.open(stream=page.pdf(width="297mm", height="110mm"), filetype="pdf") as printed:
        texts = [sheet.get_text() for sheet in printed]
    pages = [text for text in texts if " / 28" in text]
    assert len(pages) > 1
    assert all("Bounds" in text and "Mathematics" in text for text in pages)


def test_its_box_ends_below_a_whole_row(page: Page) -> None:
    page.set_viewport_size({"width": 1400, "height": 620})
    page.wait_for_function(
        """() => {
          const box = document.querySelector(".scroll.board");
          const end = box.getBoundingClientRect().top + box.clientHeight;
          return box.scrollHeight > box.clientHeight
            && [...document.querySelectorAll("#leaderboard tr")]
              .some((row) => Math.abs(row.getBoundingClientRect().bottom - end) <= 1.5);
        }"""
    )


def test_its_box_does_not_end_below_the_name_of_a_group(page: Page) -> None:
    ends = page.evaluate(
        """async () => {
          const box = document.querySelector(".scroll.board");
          const last = [];
          for (let height = 400; height < 900; height += 20) {
            box.style.maxHeight = `${height}px`;
            dispatchEvent(new Event("resize"));
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            const end = Number.parseInt(box.style.getPropertyValue("--board-height"), 10);
            const top = box.getBoundingClientRect().top;
            if (!end) continue;
            last.push([...document.querySelectorAll("#leaderboard tr")].filter((row) =>
              row.offsetHeight && row.getBoundingClientRect().bottom - top <= end + 1)
              .at(-1).className);
          }
          return last;
        }"""
    )
    assert len(ends) > 10
    assert "group" not in ends
