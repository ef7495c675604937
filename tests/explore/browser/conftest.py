"""The explorer on a port of this machine, and a reader with a real browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omibench.explore.app.live import LiveStudy
from omibench.explore.app.settings import ExplorerSettings, ExplorerSources

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


@contextmanager
def serve_study(sources: ExplorerSources, **settings: Any) -> Iterator[str]:
    """Serve a study in a thread of this process."""
    uvicorn = pytest.importorskip("uvicorn")
    from omibench.explore.app.application import make_application

    live = LiveStudy(sources, 0)
    live.index()
    application = make_application(live, ExplorerSettings(**settings))
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="session")
def address(results: Path) -> Iterator[str]:
    """Where the explorer of the small study is served."""
    with serve_study(ExplorerSources(results / "freeze", results)) as address:
        yield address


class Reader:
    """One person at a page: what it says to the console, and what it asks for."""

    def __init__(self, address: str, page: Page) -> None:
        self.address = address
        self.page = page
        self.messages: list[str] = []
        self.requests: list[str] = []
        page.set_default_timeout(40_000)
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("dialog", lambda dialog: self.messages.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: str) -> Page:
        """Open a page and wait until it is whole."""
        self.page.goto(self.address + path)
        self.page.wait_for_selector("html[data-ready]")
        return self.page

    def press(self, keys: str) -> None:
        """Press keys one after the other."""
        for key in keys.split():
            self.page.keyboard.press(key)

    def wait_for_total(self, total: int) -> None:
        """Wait until the grid says that it has so many items."""
        self.page.wait_for_function(
            "total => document.querySelector('.count-line b')?.textContent === total",
            arg=str(total),
        )

    def list_ids(self) -> list[str]:
        """The items of the grid, in their order."""
        return self.page.locator(".item-link").all_inner_texts()

    def find_foreign_requests(self) -> list[str]:
        """Requests to anything but the server of the page."""
        return [url for url in self.requests if not url.startswith(self.address + "/")]


@pytest.fixture
def seat(address: str, browser: Browser) -> Iterator[Callable[..., Reader]]:
    """Seats readers: `seat()` is one with a new page; options are those of a browser context."""
    contexts: list[BrowserContext] = []

    def sit(at: str = address, **options: Any) -> Reader:
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **options})
        contexts.append(context)
        return Reader(at, context.new_page())

    yield sit
    for context in contexts:
        context.close()


@pytest.fixture
def reader(seat: Callable[..., Reader]) -> Iterator[Reader]:
    """A reader whose page says nothing to the console and asks nobody else."""
    reader = seat()
    yield reader
    assert reader.messages == []
    assert reader.find_foreign_requests() == []
