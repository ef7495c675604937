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


RANKS = """() => [...document.querySelectorAll("#leaderboard tr.cell")].map((row) =>
  parseFloat(row.querySelector(".setting").nextElementSibling.innerText) || null)"""


def test_rank_one_is_first_and_columns_sort_both_ways(page: Page) -> None:
    rows, ranks = read_rows(page), page.evaluate(RANKS)
    assert len(rows) == 9
    ranked = [rank for rank in ranks if rank]
    assert ranked[0] == 1
    assert ranks == sorted(ranked) + [None] * (9 - len(ranked))
    others = [float(total) for (*_, total), rank in zip(rows, ranks, strict=True) if not rank]
    assert others == sorted(others, reverse=True)
    for descending in (True, False, True):
        page.locator("#leaderboard th button", has_text="Total").click()
        totals = [float(row[2]) for row in read_rows(page)]
        assert totals == sorted(totals, reverse=descending)
        direction = "descending" if descending else "ascending"
        assert page.locator("#leaderboard th[aria-sort]:not([aria-sort=none])").evaluate_all(
            "(heads) => heads.map((head) => [head.innerText.trim(), head.ariaSort])"
        ) == [["Total", direction]]
    page.get_by_role("button", name="Reset").click()
    assert read_rows(page) == rows


def test_groups_have_heads_only_when_it_is_sorted_by_them(page: Page) -> None:
    heads = page.locator("#leaderboard tbody:not(.references) tr.group")
    assert heads.count() == 0
    page.select_option("#board-sort", "group")
    assert heads.all_inner_texts() == ["High ability", "Middling ability", "Low ability"]
    assert [row[0] for row in read_rows(page)] == ["Strong"] * 3 + ["Middle"] * 3 + ["Weak"] * 3
    page.fill("#board-search", "weak")
    assert heads.locator("visible=true").all_inner_texts() == ["Low ability"]
    page.get_by_role("button", name="Reset").click()
    assert heads.count() == 0


def test_random_choice_stands_below_the_ranked_rows_however_they_are_sorted(page: Page) -> None:
    for _ in range(2):
        page.locator("#leaderboard th button", has_text="Total").click()
        last = page.locator("#leaderboard tbody").last
        assert last.locator("tr").first.inner_text() == "For reference, not ranked"
        assert "Random choice" in last.inner_text()
        assert last.locator("tr.cell").count() == 0


def test_only_a_significant_leader_is_bold(page: Page, report: Any) -> None:
    pairs = pl.read_csv(report.parent / "tables/pairs.csv").filter(rules="robust")
    ranks = pl.read_csv(report.parent / "tables/ranks.csv").filter(rules="robust")
    first, second = ranks.sort("estimate")["model"].to_list()[:2]
    test = pairs.filter(pl.col("model").is_in([first, second]),
                        pl.col("baseline_model").is_in([first, second]))  # fmt: skip
    significant = test["p_holm"].item() < 0.05
    assert page.locator("#leaderboard tr.leader").count() == int(significant)


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
    page.get_by_role("checkbox", name="Bounds").uncheck()
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


@pytest.mark.slow
def test_columns_are_kept_in_its_address_and_stay_in_line(page: Page, browser: Browser) -> None:
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="Rank").uncheck()
    page.get_by_role("checkbox", name="Bounds").uncheck()
    for reader in (page, browser.new_page(viewport={"width": 1400, "height": 900})):
        if reader is not page:
            reader.goto(page.url)
        assert reader.evaluate(SHOWN_CELLS) == [reader.evaluate(SHOWN_CELLS)[0]]
        assert not reader.locator("#leaderboard thead th", has_text="Rank").is_visible()
    reader.close()
    page.get_by_role("button", name="Reset").click()
    assert page.locator("#leaderboard thead th", has_text="Rank").is_visible()


def test_ranks_of_the_main_scorer_order_nothing_else(page: Page) -> None:
    page.select_option("#board-rules", "gptscore")
    before = read_rows(page)
    page.locator("#leaderboard th button", has_text="Rank").click()
    assert read_rows(page) == before


def test_keys_alone_sort_it_filter_it_and_choose_its_columns(page: Page) -> None:
    page.locator("#leaderboard th button", has_text="Total").focus()
    page.keyboard.press("Enter")
    totals = [float(row[2]) for row in read_rows(page)]
    assert totals == sorted(totals, reverse=True)
    page.locator("#board-search").focus()
    page.keyboard.type("weak")
    assert {row[0] for row in read_rows(page)} == {"Weak"}
    page.locator("details.columns summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert not page.locator("#leaderboard thead th", has_text="Setting").is_visible()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "Columns"
    assert not page.get_by_role("checkbox", name="Setting").is_visible()


def test_the_menu_of_columns_lies_over_the_table(page: Page) -> None:
    place = "document.querySelector('#leaderboard').getBoundingClientRect().top"
    before = page.evaluate(place)
    page.get_by_text("Columns", exact=True).click()
    assert page.evaluate(place) == before
    page.locator("h1").click()
    assert not page.get_by_role("checkbox", name="Setting").is_visible()


def test_its_head_stays_in_sight_and_nothing_scrolls_inside_the_page(page: Page) -> None:
    page.set_viewport_size({"width": 1400, "height": 500})
    page.locator("#leaderboard tr.cell").last.scroll_into_view_if_needed()
    head = page.locator("#leaderboard thead th").first.bounding_box()
    bar = page.locator("nav.contents").bounding_box()
    assert head is not None
    assert bar is not None
    assert bar["y"] == 0
    assert 0 <= head["y"] - bar["height"] <= 1
    box = "(box) => box.scrollHeight <= box.clientHeight"
    assert page.locator(".scroll.board").evaluate(box)


def test_it_is_a_card_for_each_row_on_a_telephone(browser: Browser, report: Any) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(report.as_uri())
    first = page.locator("#leaderboard tr.cell").first
    labels = first.locator("td").evaluate_all(
        "(cells) => cells.map((cell) => getComputedStyle(cell, '::before').content)"
    )
    assert {'"Total"', '"Biology"', '"No answer"', '"Bounds"'} <= set(labels)
    box = "(box) => box.scrollWidth <= box.clientWidth"
    assert page.locator(".scroll.board").evaluate(box)
    page.select_option("#board-sort", label="Bounds")
    assert page.locator("#leaderboard thead th[aria-sort=descending]").count() == 1
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
