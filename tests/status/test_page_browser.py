"""The status page in a real browser, from disk, in both themes and on a telephone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.accessibility import list_violations
from tests.browsing import listen
from tests.status.conftest import make_study, note_run, write_cell

from omibench.params.study import Study
from omibench.study.status.reader import look
from omibench.study.status.text import write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CONTRASTS = """() => {
  const channels = (css) => css.match(/[\\d.]+/g).slice(0, 3).map((v) => {
    const s = v / 255;
    return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  const weights = [.2126, .7152, .0722];
  const luminance = (css) => channels(css).reduce((sum, v, i) => sum + v * weights[i], 0);
  return [...document.querySelectorAll(".grid .cell")].map((cell) => {
    const style = getComputedStyle(cell);
    const [a, b] = [luminance(style.color), luminance(style.backgroundColor)];
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  });
}"""


@pytest.fixture
def wide(study: Study) -> Path:
    """A page of 30 models under 20 settings in every state."""
    models = {f"model-{n}": {"provider": "openai", "id": f"m{n}", "base_url": "http://127.0.0.1:9/v1",
                             "key_env": "K"} for n in range(30)}  # fmt: skip
    settings = {f"setting-{n}": {} for n in range(20)}
    big = make_study(
        models=models, settings=settings, infer={"models": list(models), "settings": list(settings)}
    )
    write_cell("model-0", "setting-0", ["answered"] * 3)
    write_cell("model-0", "setting-1", ["answered", "budget_stop", "answered"])
    note_run(
        {"infer model-0/setting-2": ["running"], "infer model-0/setting-3": ["failed"],
         "infer model-0/setting-4": []}
    )  # fmt: skip
    write_page(Path("status.html"), look(big), None)
    return Path("status.html").resolve()


def opened(browser: Browser, path: Path, **options: Any) -> tuple[Page, list[str]]:
    page = browser.new_page(**options)
    said = listen(page)
    page.on("request", lambda r: None if r.url.startswith("file://") else said.append(r.url))
    page.goto(path.as_uri())
    return page, said


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_from_disk_and_every_cell_can_be_read(
    browser: Browser, wide: Path, scheme: Any
) -> None:
    size = {"width": 1280, "height": 900}
    page, said = opened(browser, wide, color_scheme=scheme, viewport=size)
    assert said == []
    assert page.locator(".grid .cell").count() == 600
    assert page.locator(".grid .cell.failed").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    contrasts = page.evaluate(CONTRASTS)
    assert min(contrasts) > 3.5
    widths = page.evaluate(
        "[...new Set([...document.querySelectorAll('.grid .cell')]"
        ".map((c) => Math.round(c.getBoundingClientRect().width)))]"
    )
    assert len(widths) == 1
    page.close()


def test_a_wide_grid_scrolls_inside_its_card_on_a_telephone(browser: Browser, wide: Path) -> None:
    page, _ = opened(browser, wide, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


@pytest.mark.slow
def test_a_watched_page_reloads_until_its_box_is_unchecked(browser: Browser, study: Study) -> None:
    note_run({"infer two/cot": ["running"]})
    path = Path("status.html").resolve()
    write_page(path, look(study), 0.2)
    page, said = opened(browser, path)
    loads: list[str] = []
    page.on("load", lambda _: loads.append(page.url))
    page.wait_for_event("load", timeout=40_000)
    page.locator("#reload").focus()
    page.keyboard.press("Space")
    page.wait_for_url("**#paused")
    loads.clear()
    page.wait_for_timeout(2500)
    assert loads == []
    assert said == []
    page.locator("#reload").check()
    page.wait_for_event("load", timeout=40_000)
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("reload_s", [None, 60.0])
def test_the_page_keeps_the_rules_of_accessibility(
    browser: Browser, wide: Path, study: Study, root: Path, reload_s: float | None
) -> None:
    if reload_s is not None:
        note_run({"infer two/cot": ["running", "failed"]})
        write_page(wide, look(study), reload_s)
    page, _ = opened(browser, wide)
    assert list_violations(page, root) == []
    page.close()
