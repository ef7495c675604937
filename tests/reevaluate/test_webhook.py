"""News are posted as JSON to a URL that no message names."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from omibench.errors import ModelError, PassingError
from omibench.study.reevaluate.changes import Move, Standing, make_news, post

PLANTED = "planted-T0kenOfTheHook"
MOVED = [Move("cot", "new-1", None, Standing(1, 0.5, 0.4, 0.6, simulated=True))]


class Hook(BaseHTTPRequestHandler):
    """Answers with the status that its path ends in, and remembers what it was told."""

    told: list[Any] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        Hook.told.append(json.loads(body))
        said = f"no, {self.path}".encode()
        self.send_response(int(self.path[-3:]))
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def hook() -> Iterator[str]:
    Hook.told = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/{PLANTED}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_news_arrive(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = make_news("s", "evaluated new-1", ["new-1"], MOVED * 60, "board")
    monkeypatch.setenv("HOOK", f"{hook}200")
    assert post(body, "HOOK") is True
    (told,) = Hook.told
    assert told == body
    assert told["simulated"] is True
    assert (told["moved"], len(told["moves"])) == (60, 50)
    assert told["moves"][0] == {
        "setting": "cot", "model": "new-1", "rank_before": None, "rank": 1,
        "accuracy_before": None, "accuracy": 0.5,
    }  # fmt: skip


def test_without_a_url_nothing_is_posted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOOK", raising=False)
    assert post({}, "HOOK") is False


@pytest.mark.parametrize(
    ("status", "passes"), [(403, False), (404, False), (429, True), (503, True)]
)
def test_a_refusal_says_whether_it_may_pass_and_never_where(
    hook: str, monkeypatch: pytest.MonkeyPatch, status: int, passes: bool
) -> None:
    monkeypatch.setenv("HOOK", f"{hook}{status}")
    with pytest.raises(
        ModelError, match=f"the webhook in HOOK refused the news: HTTP {status}"
    ) as e:
        post({}, "HOOK")
    assert isinstance(e.value, PassingError) is passes
    assert PLANTED not in str(e.value)


def test_text_of_others_is_no_markup_and_has_an_end(
    hook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK", f"{hook}200")
    post(
        make_news("s", "failed: <!channel> <https://x.example|click> &\udcff\r\n" + "x" * 9999, []),
        "HOOK",
    )
    (told,) = Hook.told
    assert told["text"].startswith("failed: &lt;!channel&gt; &lt;https://x.example|click&gt; &amp;")
    assert told["text"].count("x") < 4000


@pytest.mark.parametrize(
    "url",
    [
        f"http://127.0.0.1:9/{PLANTED}", f"file:///{PLANTED}", f"http://[::1/{PLANTED}",
        f"https://[{PLANTED}]/x", f"http:/{PLANTED}", f"http://u:{PLANTED}@127.0.0.1:9/",
        f"http://127.0.0.1:9/{PLANTED} x", f"http://127.0.0.1:9/{PLANTED}\r\nX: y",
        f"http://127.0.0.1:{PLANTED}/", f"http://127.0.0.1:9\\@{PLANTED}/",
        f"http://127.0.0.1:9/{PLANTED}é", f"<http://127.0.0.1:9/{PLANTED}>",
    ],
)  # fmt: skip
def test_a_url_that_leads_nowhere_is_not_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", url)
    with pytest.raises(ModelError, match="HOOK") as found:
        post({}, "HOOK")
    assert PLANTED not in str(found.value)
    assert isinstance(found.value, PassingError) is (url == f"http://127.0.0.1:9/{PLANTED}")
