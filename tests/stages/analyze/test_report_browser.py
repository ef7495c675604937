"""The report and the explorer in a real browser, from disk, in both themes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.stages.analyze.conftest import Folders

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = ("report.html", "explorer/index.html", "explorer/cells/sim-strong@cot.html",
         "explorer/pages/biology_00.html", "explorer/pages/biology_02.html")  # fmt: skip
COLOURS = """() => {
  const luminance = (css) => {
    const [r, g, b] = css.match(/[\\d.]+/g).slice(0, 3).map((v) => {
      const s = v / 255;
      return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const of = (node, name) => luminance(getComputedStyle(node)[name]);
  const text = [...document.querySelectorAll("figure svg text")].map((t) => of(t, "fill"));
  const card = document.querySelector(".card");
  return { page: of(document.body, "backgroundColor"), ink: of(document.body, "color"),
           card: of(card, "backgroundColor"), text };
}"""


@pytest.fixture(scope="module")
def site(reported: Folders) -> Any:
    return reported.out


def contrast(first: float, second: float) -> float:
    """WCAG 2.2 contrast ratio of two luminances."""
    high, low = max(first, second), min(first, second)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_pages_open_from_disk_without_errors_or_requests(
    browser: Browser, site: Any, name: str, scheme: Any
) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / name).as_uri())
    if "pages/" in name:
        page.wait_for_selector("html[data-ready]")
    # A picture further down is loaded once a reader scrolls there; one that is broken stays empty.
    page.evaluate("for (const image of document.images) image.loading = 'eager'")
    # Not `decode()`: on a busy machine it may never answer.
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    assert said == []
    assert [url for url in asked if not url.startswith("file://")] == []
    pictures = page.evaluate("[...document.images].map((i) => i.naturalWidth)")
    assert all(width > 0 for width in pictures)
    assert bool(pictures) == ("pages/" in name)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_wide_tables_scroll_inside_their_card_on_a_telephone(
    browser: Browser, site: Any, name: str
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((site / name).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    stuck = page.evaluate(
        """() => [...document.querySelectorAll("table, figure svg")].filter((wide) => {
          const box = wide.closest(".scroll");
          if (!box) return true;
          box.scrollLeft = 1e6;
          return wide.getBoundingClientRect().right > box.getBoundingClientRect().right + 1;
        }).length"""
    )
    assert stuck == 0
    captions = page.evaluate(
        """() => [...document.querySelectorAll("caption span")].map((caption) => {
          caption.closest(".scroll").scrollLeft = 0;
          return caption.getBoundingClientRect().right;
        })"""
    )
    assert all(right <= 390 for right in captions)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_readable(browser: Browser, site: Any, scheme: Any) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto((site / "report.html").as_uri())
    seen = page.evaluate(COLOURS)
    assert (seen["page"] < 0.2) == (scheme == "dark")
    assert contrast(seen["ink"], seen["page"]) > 7
    assert len(seen["text"]) > 40
    assert min(contrast(value, seen["card"]) for value in seen["text"]) > 4.5
    page.close()


def test_no_text_of_a_figure_is_cut_off(browser: Browser, site: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "report.html").as_uri())
    outside = page.evaluate(
        """() => [...document.querySelectorAll("figure svg text")].filter((text) => {
          const own = text.getBoundingClientRect();
          const svg = text.closest("svg").getBoundingClientRect();
          return own.width && (own.left < svg.left - 1 || own.right > svg.right + 1
            || own.top < svg.top - 1 || own.bottom > svg.bottom + 1);
        }).map((text) => text.textContent)"""
    )
    assert outside == []
    page.close()


def test_figures_answer_the_pointer_and_their_legends_pick(browser: Browser, site: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((site / "report.html").as_uri())
    page.evaluate("document.querySelectorAll('details.fold').forEach((d) => { d.open = true; })")
    for figure in page.locator("figure[data-figure]").all():
        figure.scroll_into_view_if_needed()
        figure.and_(page.locator("[data-state]")).wait_for()
    states = page.evaluate(
        "[...document.querySelectorAll('figure[data-figure]')].map((f) => f.dataset.state)"
    )
    assert set(states) == {"interactive"}
    accuracy = page.locator("figure[data-figure=accuracy]")
    accuracy.scroll_into_view_if_needed()
    point = accuracy.locator(".interactive .mark-symbol.role-mark path").first
    point.hover()
    assert "estimate: " in page.inner_text(".tooltip")
    assert "model: " in page.inner_text(".tooltip")
    accuracy.locator(".interactive .role-legend-label text", has_text="Direct").click()
    opacities = accuracy.locator(".interactive .mark-symbol.role-mark path").evaluate_all(
        "(marks) => marks.map((mark) => mark.getAttribute('opacity'))"
    )
    assert len(set(opacities)) == 2
    assert errors == []
    page.close()


def test_a_link_into_a_folded_part_opens_it(browser: Browser, site: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "report.html").as_uri() + "#figure-accuracy")
    assert page.locator("#figure-accuracy").is_visible()
    page.locator("nav.contents a", has_text="Failures").click()
    assert page.locator("#part-failures h2").first.is_visible()
    page.close()


def test_a_link_with_a_lone_percent_sign_leaves_figures_interactive(
    browser: Browser, site: Any
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((site / "report.html").as_uri() + "#100%")
    page.evaluate("document.querySelectorAll('details.fold').forEach((d) => { d.open = true; })")
    figure = page.locator("figure[data-figure=accuracy]")
    figure.scroll_into_view_if_needed()
    figure.and_(page.locator("[data-state=interactive]")).wait_for()
    assert errors == []
    page.close()


def test_figures_fit_a_telephone(browser: Browser, site: Any) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((site / "report.html").as_uri())
    page.evaluate("document.querySelectorAll('details.fold').forEach((d) => { d.open = true; })")
    for name in ("ranks", "rules", "images"):
        figure = page.locator(f"figure[data-figure={name}]")
        figure.scroll_into_view_if_needed()
        figure.and_(page.locator("[data-state=interactive]")).wait_for()
        assert figure.locator(".scroll").evaluate("(box) => box.scrollWidth <= box.clientWidth")
    page.close()


MARKED = "(name) => document.querySelector('nav a[aria-current]')?.textContent === name"


def test_the_bar_of_parts_stays_and_marks_what_is_read(browser: Browser, site: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "report.html").as_uri())
    bar = page.locator("nav.contents")
    for name in ("Failures", "Leaderboard", "Dataset"):
        bar.locator("a", has_text=name).click()
        marked = bar.locator("a[aria-current]")
        page.wait_for_function(MARKED, arg=name)
        assert marked.count() == 1
        box = bar.bounding_box()
        assert box is not None
        assert box["y"] == 0
    page.mouse.wheel(0, -1e6)
    page.mouse.wheel(0, 900)
    page.wait_for_function(MARKED, arg="Leaderboard")
    page.close()


def test_it_prints_on_few_pages_with_every_figure(browser: Browser, site: Any) -> None:
    pymupdf = pytest.importorskip("pymupdf")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "report.html").as_uri())
    with pymupdf.open(stream=page.pdf(prefer_css_page_size=True), filetype="pdf") as printed:
        text = " ".join(" ".join(sheet.get_text() for sheet in printed).split())
        assert printed.page_count <= 8
    titles = page.locator("figure[data-figure]").evaluate_all(
        "(figures) => figures.map((f) => f.dataset.figure)"
    )
    assert len(titles) > 8
    for words in ("Accuracy by model and setting", "Scorers and judge on the same responses",
                  "Failures by outcome", "Provenance"):  # fmt: skip
        assert words in text, words
    assert "The numbers" not in text
    page.close()


def test_formulas_of_golds_are_set_in_the_table_of_a_cell(
    browser: Browser, site: Any, tmp_path: Path
) -> None:
    written = site / "explorer/cells/sim-strong@cot.html"
    copy = tmp_path / "explorer/cells/cell.html"
    copy.parent.mkdir(parents=True)
    copy.write_text(written.read_text("utf-8").replace(r"\frac{3}{4}", r"$\frac{3}{4}$"), "utf-8")
    (tmp_path / "explorer/formulas").symlink_to(site / "explorer/formulas")
    page = browser.new_page()
    page.goto(copy.as_uri())
    page.locator("td.tex .katex").first.wait_for()
    page.close()
