"""Which errors pass, and every form in which an endpoint asks to wait."""

from __future__ import annotations

import json
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.models.api.failures import (
    LEAST_ASKED_S,
    LONGEST_BACKOFF_S,
    Failure,
    failure_of_connection,
    failure_of_status,
    read_retry_after,
    wait_s,
)

NOW = 1_800_000_000.0


def date(seconds: float) -> str:
    return formatdate(NOW + seconds, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "86400"}, 86400.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": date(90)}, 90.0),
        ({"retry-after": date(-90)}, 0.0),
        # The server's clock is an hour ahead of ours: its own date counts.
        ({"retry-after": date(3630), "date": date(3600)}, 30.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers, NOW) == seconds


def test_retry_delay_of_gemini() -> None:
    body = '[{"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34.5s"}]}}]'
    assert read_retry_after({}, NOW, body) == 34.5
    assert read_retry_after({"retry-after": "2"}, NOW, body) == 2


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date"]), st.text()))
def test_no_header_is_too_odd(headers: dict[str, str]) -> None:
    found = read_retry_after(headers, NOW)
    assert found is None or 0 <= found < float("inf")


@pytest.mark.parametrize(
    ("status", "transient", "congestion", "fatal", "maybe_paid"),
    [
        (400, False, False, False, False),
        (401, False, False, True, False),
        (402, False, False, True, False),
        (403, False, False, False, False),
        (404, False, False, True, False),
        (408, True, False, False, True),
        (409, True, False, False, False),
        (413, False, False, False, False),
        (422, False, False, False, False),
        (425, True, False, False, False),
        (429, True, True, False, False),
        (500, True, False, False, False),
        (503, True, True, False, False),
        (504, True, False, False, True),
        (524, True, False, False, True),
        (529, True, True, False, False),
    ],
)
def test_statuses(
    status: int, transient: bool, congestion: bool, fatal: bool, maybe_paid: bool
) -> None:
    found = failure_of_status(status, {}, "", NOW)
    assert found.transient == transient
    assert found.congestion == congestion
    assert found.fatal == fatal
    assert found.maybe_paid == maybe_paid
    assert found.message == f"HTTP {status}"


def error(code: str, message: str = "words") -> str:
    return json.dumps({"error": {"message": message, "type": "a_type", "code": code}})


def test_an_empty_account_is_no_rate_limit() -> None:
    found = failure_of_status(429, {"retry-after": "1"}, error("insufficient_quota"), NOW)
    assert (found.transient, found.fatal, found.congestion) == (False, True, False)
    anthropic = '{"type": "error", "error": {"type": "billing_error", "message": "no credit"}}'
    assert failure_of_status(400, {}, anthropic, NOW).fatal


def test_the_endpoint_may_say_whether_to_retry() -> None:
    assert not failure_of_status(429, {"x-should-retry": "false"}, "", NOW).transient
    assert failure_of_status(400, {"x-should-retry": "true"}, "", NOW).transient


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (error("c", "two\n lines"), "HTTP 500 (c): two lines"),
        ('{"type":"error","error":{"type":"t","message":"m"}}', "HTTP 500 (t): m"),
        ('[{"error": {"code": 500, "status": "DOWN", "message": "m"}}]', "HTTP 500 (DOWN): m"),
        ('{"detail": "no"}', "HTTP 500: no"),
        ('{"error": "plain"}', "HTTP 500: plain"),
        ("<html><h1>502 Bad\nGateway</h1></html>", "HTTP 500: 502 Bad Gateway"),
        ("[]", "HTTP 500: []"),
        ("", "HTTP 500"),
    ],
)  # fmt: skip
def test_the_words_of_an_error(body: str, message: str) -> None:
    assert failure_of_status(500, {}, body, NOW).message == message


@given(st.text())
def test_no_body_is_too_odd(body: str) -> None:
    message = failure_of_status(500, {}, body, NOW).message
    assert "\n" not in message
    assert len(message) < 700


def test_connections() -> None:
    class ConnectError(Exception): ...

    class ReadError(Exception): ...

    def of(cause: Exception) -> Failure:
        error = RuntimeError("Connection error.")
        error.__cause__ = cause
        return failure_of_connection(error)

    refused, lost = of(ConnectError("refused")), of(ReadError())
    assert refused.transient
    assert lost.transient
    assert not refused.maybe_paid
    assert lost.maybe_paid
    assert refused.message == "the connection failed: ConnectError: refused"


@given(
    st.floats(LEAST_ASKED_S, 1e5), st.integers(0, 100), st.floats(0, 1, exclude_max=True),
    st.booleans(),
)  # fmt: skip
def test_waits(asked: float, attempt: int, chance: float, says: bool) -> None:
    failure = Failure("", transient=True, retry_after_s=asked if says else None)
    wait = wait_s(failure, attempt, chance)
    if says:
        assert asked <= wait <= asked + min(0.1 * asked, 5) + 1e-9
    else:
        assert 0 <= wait <= min(LONGEST_BACKOFF_S, 0.5 * 2**attempt)


def test_backoff_grows_and_jitters_fully() -> None:
    tops = [wait_s(Failure("", transient=True), k, 0.999999) for k in range(9)]
    assert tops == pytest.approx([0.5, 1, 2, 4, 8, 16, 32, 60, 60], rel=1e-3)
    assert wait_s(Failure("", transient=True), 5, 0.0) == 0.0
