"""Which errors are transient, whether they were billed, and the wait before a retry."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from omibench.models.http.rejections import content_fault, match_refusal
from omibench.models.traffic.failure import Failure
from omibench.text.masking import mask_line

FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 60.0
LEAST_ASKED_S = 0.1
"""A shorter Retry-After, especially 0, is ignored: otherwise each rejection would be retried at
once."""
_TRANSIENT = {408, 409, 425, 429}
_CONGESTION = {429, 503, 529}
_OFFLINE = {502, 503, 504, 521, 522, 523, 530}
_FATAL = {401, 402, 404}
_MAYBE_PAID = {408, 504, 520, 522, 523, 524, 598, 599}
"""A gateway timed out; the model behind it may still have answered."""
_NO_MONEY = {"insufficient_quota", "billing_error", "billing_hard_limit_reached"}
_UNSENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "ProxyError"}
_LOCAL_ERRORS = {"UnsupportedProtocol", "LocalProtocolError", "PoolTimeout"}
_GEMINI_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_TAG = re.compile(r"<[^>]*>")


def failure_of_status(status: int, headers: Mapping[str, str], body: str, now: float) -> Failure:
    """Convert an HTTP error to a failure; `now` is Unix time. Header names are lower case."""
    code, message = _read_error(body)
    broke = code in _NO_MONEY
    should_retry = headers.get("x-should-retry")
    transient = should_retry == "true" if should_retry in ("true", "false") else passes(status)
    return Failure(
        f"HTTP {status}" + (f" ({code})" if code else "") + (f": {message}" if message else ""),
        status=status,
        transient=transient and not broke,
        maybe_paid=status in _MAYBE_PAID,
        congestion=status in _CONGESTION and not broke,
        offline=status in _OFFLINE,
        fatal=broke or status in _FATAL,
        refused=match_refusal(code),
        content=content_fault(status, code, message),
        retry_after_s=read_retry_after(headers, now, body),
    )


def failure_of_connection(error: BaseException) -> Failure:
    """Convert a connection error of the SDK to a failure; its cause is the HTTP library's."""
    cause = error.__cause__ or error
    name = type(cause).__name__
    if isinstance(cause, Failure):
        return cause
    words = mask_line(str(cause))
    return Failure(
        f"the connection failed: {name}" + (f": {words}" if words else ""),
        transient=name != "UnsupportedProtocol",
        maybe_paid=name not in _UNSENT,
        congestion="Timeout" in name,
        offline=name not in _LOCAL_ERRORS and ("Timeout" not in name or name == "ConnectTimeout"),
    )


def passes(status: int) -> bool:
    """Return whether an HTTP status is transient."""
    return status in _TRANSIENT or status >= 500


def read_retry_after(headers: Mapping[str, str], now: float, body: str = "") -> float | None:
    """Return the seconds that a reply asks to wait, at least 0; None if missing or unclear.

    Read in this order: `retry-after-ms`, `retry-after` in seconds or as an HTTP date (relative to
    the reply's own `date`, so that wrong clocks do not matter), Gemini's `retryDelay`.
    """
    if (ms := _number(headers.get("retry-after-ms"))) is not None:
        return ms / 1000
    header = headers.get("retry-after")
    if (seconds := _number(header)) is not None:
        return seconds
    if (due := _date(header)) is not None:
        sent = _date(headers.get("date"))
        return max(0.0, due - (now if sent is None else sent))
    delay = _GEMINI_DELAY.search(body)
    return float(delay.group(1)) if delay else None


def wait_s(failure: Failure, attempt: int, chance: float) -> float:
    """Return the seconds to wait after attempt `attempt` (from 0) failed; `chance` is in [0, 1).

    The requested wait plus up to a tenth (at most 5 s), so that not all calls return at once; if
    none or almost none was requested, exponential backoff with full jitter (M. Brooker, AWS
    Architecture Blog, 2015).
    """
    requested_s = failure.retry_after_s
    if requested_s is not None and requested_s >= LEAST_ASKED_S:
        return requested_s + chance * min(0.1 * requested_s, 5.0)
    return chance * min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** min(attempt, 30))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text or "").timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _read_error(body: str) -> tuple[str, str]:
    """Read code and message of an error body, in the formats of the APIs; of a page its text."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "", mask_line(_TAG.sub(" ", body))
    if isinstance(value, list) and value:  # Gemini's endpoint wraps its error in a list
        value = value[0]
    if not isinstance(value, dict):
        return "", mask_line(str(value))
    error = value.get("error", value)
    if not isinstance(error, dict):
        return "", mask_line(str(error))
    code = error.get("code")
    code = code if isinstance(code, str) and code else error.get("type") or error.get("status")
    words = error.get("message") or error.get("detail") or value.get("message") or ""
    return (mask_line(code, 80) if isinstance(code, str) else ""), mask_line(str(words))
