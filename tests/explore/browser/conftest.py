"""The explorer on a port of this machine, and a reader with a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browsing import Visitor, open_pages, serve_in_thread

from omibench.explore.app.live import LiveStudy
from omibench.explore.app.settings import ExplorerSettings, ExplorerSources

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@contextmanager
def serve_study(sources: ExplorerSources, **settings: Any) -> Iterator[str]:
    """Serve a study in a thread of this process."""
    from omibench.explore.app.application import make_application

    live = LiveStudy(sources, 0)
    live.index()
    with serve_in_thread(make_application(live, ExplorerSettings(**settings))) as address:
        yield address


@pytest.fixture(scope="session")
def address(results: Path) -> Iterator[str]:
    """Where the explorer of the small study is served."""
    with serve_study(ExplorerSources(results / "freeze", results)) as address:
        yield address


class Reader(Visitor):
    """One person at a page of the explorer."""

    def open(self, path: str) -> Page:
        """Open a page and wait until it is whole."""
        return self.go(path)

    def wait_for_total(self, total: int) -> None:
        """Wait until the grid says that it has so many items."""
        self.page.wait_for_function(
            "total => document.querySelector('.count-line b')?.textContent === total",
            arg=str(total),
        )

    def list_ids(self) -> list[str]:
        """The items of the grid, in their order."""
        return self.page.locator(".item-link").all_inner_texts()


@pytest.fixture
def seat(address: str, browser: Browser) -> Iterator[Callable[..., Reader]]:
    """Seats readers: `seat()` is one with a new page; options are those of a browser context."""
    with open_pages(browser) as open_page:

        def sit(at: str = address, **options: Any) -> Reader:
            return Reader(at, open_page(**{"viewport": {"width": 1400, "height": 900}, **options}))

        yield sit


@pytest.fixture
def reader(seat: Callable[..., Reader]) -> Iterator[Reader]:
    """A reader whose page says nothing to the console and asks nobody else."""
    reader = seat()
    yield reader
    assert reader.messages == []
    assert reader.find_foreign_requests() == []
