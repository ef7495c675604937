"""Every misbehaviour really happens, through either SDK."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from model_server.conftest import CALLS, chat, claude, every_api, only, respond
from model_server.handle import ServerHandle, wait_until


@every_api
@pytest.mark.parametrize(
    ("kind", "status"),
    [("rate_limit", 429), ("server_error", 500), ("unavailable", 503), ("overloaded", 529)],
)
def test_error_replies(
    server: ServerHandle, call: Callable[..., Any], kind: str, status: int
) -> None:
    server.configure(faults={kind: 1})
    with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
        call(server)
    assert caught.value.status_code == status
    body = caught.value.response.json()
    assert body["error"]["message"]
    assert body.get("type") == ("error" if call is claude else None)
    stats = server.stats()
    assert (stats["statuses"], stats["outcomes"], stats["paid"]) == ({str(status): 1}, {kind: 1}, 0)


def test_a_spent_quota_is_told_apart_from_a_rate(server: ServerHandle) -> None:
    server.configure(faults={"quota": 1})
    with pytest.raises(openai.RateLimitError) as caught:
        chat(server)
    assert caught.value.code == "insufficient_quota"
    with pytest.raises(anthropic.APIStatusError, match="billing_error") as refused:
        claude(server)
    assert refused.value.status_code == 402


@pytest.mark.parametrize("form", ["seconds", "date", "ms", "none"])
def test_retry_after_in_every_form(server: ServerHandle, form: str) -> None:
    fault = {"kind": "rate_limit", "rate": 1, "retry_after_s": 90, "retry_after_form": form}
    server.configure(faults=[fault])
    with pytest.raises(openai.RateLimitError) as caught:
        chat(server)
    headers = caught.value.response.headers
    if form == "date":
        wait = parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time()
        assert 85 < wait < 92
    elif form == "none":
        assert "retry-after" not in headers
    else:
        name, value = {"seconds": ("retry-after", "90"), "ms": ("retry-after-ms", "90000")}[form]
        assert headers[name] == value


@every_api
@pytest.mark.parametrize("kind", ["reset", "reset_mid"])
def test_connections_are_reset(server: ServerHandle, call: Callable[..., Any], kind: str) -> None:
    server.configure(faults={kind: 1})
    with pytest.raises((openai.APIConnectionError, anthropic.APIConnectionError)):
        call(server)
    entry = only(server)
    paid = int(kind == "reset_mid")
    assert (entry["paid"], entry["undelivered"], entry["delivered"]) == (paid, paid, 0)


@pytest.mark.parametrize("kind", ["hang", "hang_mid"])
def test_sockets_hang(server: ServerHandle, kind: str) -> None:
    server.configure(faults={kind: 1})
    began = time.monotonic()
    with pytest.raises(openai.APITimeoutError):
        chat(server, client={"timeout": httpx2.Timeout(20, read=0.3)})
    assert time.monotonic() - began > 0.25
    assert only(server)["paid"] == int(kind == "hang_mid")
    wait_until(lambda: server.stats()["concurrent"] == 0)
    server.configure(faults=[{"kind": kind, "rate": 1, "hang_s": 0.1}])
    with pytest.raises(openai.APIConnectionError):
        chat(server)


@every_api
@pytest.mark.parametrize("kind", ["truncated_json", "malformed_json"])
def test_bodies_that_are_no_json(server: ServerHandle, call: Callable[..., Any], kind: str) -> None:
    server.configure(faults={kind: 1})
    with pytest.raises(json.JSONDecodeError):
        call(server)
    assert (only(server)["paid"], only(server)["undelivered"]) == (1, 1)


def test_a_proxys_page_with_status_200(server: ServerHandle) -> None:
    server.configure(faults={"html_page": 1})
    assert "502 Bad Gateway" in chat(server)  # the SDK hands it on as a str


def test_good_form_with_unexpected_content(server: ServerHandle) -> None:
    server.configure(faults={"empty_choices": 1})
    assert chat(server).choices == []
    assert claude(server).content == []
    assert respond(server).output == []
    server.configure(faults={"fewer_choices": 1})
    assert len(chat(server, n=4).choices) == 3
    server.configure(faults={"wrong_model": 1})
    assert {call(server).model for call in CALLS.values()} == {"another-model"}
    server.configure(faults={"content_filter": 1})
    choices = chat(server, n=2).choices
    assert [c.finish_reason for c in choices] == ["content_filter", "stop"]
    assert choices[0].message.content is None
    message = claude(server)
    assert (message.stop_reason, message.content) == ("refusal", [])
    assert respond(server).incomplete_details.reason == "content_filter"
