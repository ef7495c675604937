"""Applications on a port of this machine, and people at their pages in a real browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

PATIENCE_MS = 40_000
"""Of a step in the browser: on a busy machine a page alone takes several seconds."""


@contextmanager
def serve_in_thread(application: Any) -> Iterator[str]:
    """Serve an application in a thread of this process, and yield its address."""
    uvicorn = pytest.importorskip("uvicorn")
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


def listen(page: Page) -> list[str]:
    """Return the list that will have what a page says to the console, and its errors."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


def note_requests(page: Page) -> list[str]:
    """Return the list that will have the addresses that a page asks for."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


@contextmanager
def open_pages(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Yield a function that opens a page of its own context, with options of that context."""
    contexts: list[BrowserContext] = []

    def open_page(**options: Any) -> Page:
        contexts.append(browser.new_context(**options))
        return contexts[-1].new_page()

    yield open_page
    for context in contexts:
        context.close()


class Visitor:
    """One person at a page: what it says to the console, and what it asks for."""

    def __init__(self, address: str, page: Page) -> None:
        self.address = address
        self.page = page
        self.messages = listen(page)
        self.requests = note_requests(page)
        page.set_default_timeout(PATIENCE_MS)
        page.on("dialog", lambda dialog: self.messages.append(dialog.message))

    def go(self, path: str) -> Page:
        """Open a page and wait until it is whole."""
        self.page.goto(self.address + path)
        self.page.wait_for_selector("html[data-ready]")
        return self.page

    def press(self, keys: str) -> None:
        """Press keys one after the other."""
        for key in keys.split():
            self.page.keyboard.press(key)

    def find_foreign_requests(self) -> list[str]:
        """Requests to anything but the server of the page."""
        return [url for url in self.requests if not url.startswith(self.address + "/")]
