"""The explorer and exported items keep the rules of WCAG 2.1 AA that axe-core checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from tests.explore.app.studies import make_sources
from tests.explore.browser.conftest import Reader
from tests.stages.analyze.test_accessibility import AXE, CHECK

from omibench.explore.app.live import LiveStudy
from omibench.explore.export import choose_items, export_items
from omibench.explore.query import ItemQuery
from omibench.explore.selection import Study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def list_violations(page: Page, root: Path) -> list[str]:
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.evaluate((root / AXE).read_text("utf-8"))
    violations: list[str] = page.evaluate(CHECK)
    return violations


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_explorer_keeps_the_rules(
    seat: Callable[..., Reader], explored: Study, root: Path, scheme: Any
) -> None:
    reader = seat(color_scheme=scheme)
    page = reader.open("/?limit=10")
    assert list_violations(page, root) == []
    reader.open(f"/items/{quote(explored.items.ids[0], safe='')}")
    page.wait_for_selector(".column")
    assert list_violations(page, root) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_exported_items_keep_the_rules(
    results: Path, tmp_path: Path, browser: Browser, root: Path, scheme: Any
) -> None:
    snapshot = LiveStudy(make_sources(results)).read()
    ids = snapshot.study.items.ids[:1]
    index = export_items(tmp_path, snapshot, choose_items(snapshot.study, ids, ItemQuery()))
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page.goto(index.as_uri())
    assert list_violations(page, root) == []
    page.locator("tbody a").first.click()
    page.wait_for_selector(".column")
    assert list_violations(page, root) == []
    page.close()
