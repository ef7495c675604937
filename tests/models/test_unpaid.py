"""What cannot have been paid is charged nothing: pages of HTML, refused and unfinished requests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.asks import ask
from tests.models.apis import PRICE, openai_model
from tests.models.traffic.simulated import Books

from model_server.handle import ServerHandle
from omibench.models.api.failures import Failure
from omibench.models.api.replies import parse_reply
from omibench.models.openai import OpenAIProvider


def endings(url: str, text: str, **limits: float) -> tuple[dict[str, int], str | None]:
    """What became of the reservations of one request, and what was said of it."""
    books = Books()
    model = openai_model(base_url=url, price=PRICE, limits={"attempts": 2, **limits})
    ((_, response),) = OpenAIProvider("m", model).answer([ask(text)], books)
    assert not books.open
    return dict(books.ends), response.error


def test_a_login_page_with_status_200_costs_nothing(server: ServerHandle) -> None:
    server.configure(script=[{"match": "q", "steps": ["html_page", "html_page"]}])
    ends, error = endings(server.openai_url, "q")
    assert ends == {"given back": 2}
    assert "is a page of HTML" in (error or "")
    assert f"at {server.openai_url}): a login page" in (error or "")


@contextmanager
def deaf(reads: int) -> Iterator[str]:
    """A server that takes connections, reads so many bytes, and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def work() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                held.append(connection)
                left = reads
                while left > 0 and (got := connection.recv(min(left, 1 << 20))):
                    left -= len(got)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for connection in held:
                connection.close()


@pytest.mark.usefixtures("key")
def test_a_request_that_never_left_whole_costs_nothing() -> None:
    with deaf(reads=0) as url:
        ends, error = endings(url, "why? " * 3_000_000, timeout_s=1, attempts=1)
    assert ends == {"given back": 1}
    assert "no answer within" in (error or "") or "failed" in (error or "")


@pytest.mark.usefixtures("key")
def test_a_request_that_left_whole_may_have_been_paid() -> None:
    with deaf(reads=1 << 30) as url:
        ends, _ = endings(url, "q", timeout_s=3, attempts=1)
    assert ends == {"unknown": 1}


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (b"<!DOCTYPE html><title>Sign in</title>", True),
        (b"\xef\xbb\xbf \n<HTML lang='de'>", True),
        (b"<!-- portal --><html>", True),
        (b'{"text": "<html>', False),
        (b"<htmlish>", False),
        (b"", False),
        (b"<" * 100_000, False),
        (b"<!-- " * 100_000, False),
    ],
)
def test_what_is_a_page(text: bytes, page: bool) -> None:
    with pytest.raises(Failure) as caught:
        parse_reply(text)
    assert ("is a page of HTML" in caught.value.message) is page
    assert caught.value.maybe_paid is not page
