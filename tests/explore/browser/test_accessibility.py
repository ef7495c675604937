"""The explorer and exported problems keep the rules of WCAG 2.1 AA that axe-core checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from tests.explore.app.studies import make_sources
from tests.explore.browser.conftest import Reader, serve_study
from tests.stages.analyze.test_accessibility import AXE, CHECK

from omibench.explore.app.live import LiveStudy
from omibench.explore.export import choose_items, export_items
from omibench.explore.query import ItemQuery
from omibench.explore.selection import Study
from omibench.review.tags import TagEvent, append_tags

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZES = [(1400, 900), (390, 800)]
VIEWS = [(*size, scheme) for size in SIZES for scheme in ("light", "dark")]


def list_violations(page: Page, root: Path) -> list[str]:
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.evaluate((root / AXE).read_text("utf-8"))
    violations: list[str] = page.evaluate(CHECK)
    return violations


@pytest.fixture(scope="module")
def tagged(results: Path, explored: Study, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Where the study is served with a tag."""
    review = tmp_path_factory.mktemp("review")
    append_tags(review, [TagEvent(person="Ann", tag="odd", problem=explored.items.ids[0])])
    with serve_study(make_sources(results, review=review)) as place:
        yield place


@pytest.fixture(scope="module")
def locked(results: Path) -> Iterator[str]:
    """Where the study is served with a login."""
    with serve_study(make_sources(results), secret=b"s" * 32) as place:
        yield place


@pytest.mark.parametrize(("width", "height", "scheme"), VIEWS)
def test_the_explorer_keeps_the_rules(
    seat: Callable[..., Reader],
    explored: Study,
    root: Path,
    tagged: str,
    locked: str,
    width: int,
    height: int,
    scheme: Any,
) -> None:
    view = {"color_scheme": scheme, "viewport": {"width": width, "height": height}}
    reader = seat(tagged, **view)
    page = reader.open("/?limit=10&search=figures&in=response&right=sim-strong&order=-tokens")
    assert list_violations(page, root) == []
    if width < 900:
        page.get_by_role("button", name="Filters").click()
        assert list_violations(page, root) == []
    reader.open(f"/items/{quote(explored.items.ids[0], safe='')}?search=a")
    page.wait_for_selector(".column")
    assert list_violations(page, root) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page = seat(locked, **view).page
    page.goto(f"{locked}/login")
    assert list_violations(page, root) == []


@pytest.mark.parametrize(("width", "height", "scheme"), VIEWS)
def test_exported_problems_keep_the_rules(
    results: Path,
    tmp_path: Path,
    browser: Browser,
    root: Path,
    width: int,
    height: int,
    scheme: Any,
) -> None:
    snapshot = LiveStudy(make_sources(results)).read()
    ids = snapshot.study.items.ids[:1]
    index = export_items(tmp_path, snapshot, choose_items(snapshot.study, ids, ItemQuery()))
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": height})
    page.goto(index.as_uri())
    assert list_violations(page, root) == []
    page.locator("tbody a").first.click()
    page.wait_for_selector(".column")
    assert list_violations(page, root) == []
    page.close()
