"""The explorer and exported problems keep the rules that axe-core checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from tests.accessibility import list_violations
from tests.explore.app.studies import make_sources
from tests.explore.browser.conftest import Reader, serve_study

from omibench.explore.app.live import LiveStudy
from omibench.explore.export import choose_items, export_items
from omibench.explore.query import ItemQuery
from omibench.explore.selection import Study
from omibench.review.tags import TagEvent, append_tags

if TYPE_CHECKING:
    from playwright.sync_api import Browser


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


def test_the_explorer_keeps_the_rules(
    seat: Callable[..., Reader], explored: Study, root: Path, tagged: str, locked: str
) -> None:
    reader = seat(tagged)
    page = reader.open("/?limit=10&search=figures&in=response&right=sim-strong&order=-tokens")
    assert list_violations(page, root) == []
    page.get_by_role("button", name="Filters").click()
    assert list_violations(page, root) == []
    reader.open(f"/items/{quote(explored.items.ids[0], safe='')}?search=a")
    page.wait_for_selector(".column")
    assert list_violations(page, root) == []
    page = seat(locked).page
    page.goto(f"{locked}/login")
    assert list_violations(page, root) == []


@pytest.mark.slow
def test_exported_problems_keep_the_rules(
    results: Path, tmp_path: Path, browser: Browser, root: Path
) -> None:
    snapshot = LiveStudy(make_sources(results)).read()
    ids = snapshot.study.items.ids[:1]
    index = export_items(tmp_path, snapshot, choose_items(snapshot.study, ids, ItemQuery()))
    page = browser.new_page()
    page.goto(index.as_uri())
    assert list_violations(page, root) == []
    page.locator("tbody a").first.click()
    page.wait_for_selector(".column")
    assert list_violations(page, root) == []
    page.close()
