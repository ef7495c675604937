"""The reason that an attempt at a request failed, and its consequences."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from omibench.text.masking import mask_line

MOST_WORDS = 600
_UNSENT = "the request was not sent completely"


def mark_unsent(error: BaseException) -> None:
    """Mark an exception: its request had not completely left this machine."""
    error.add_note(_UNSENT)


def was_unsent(error: BaseException) -> bool:
    """Return whether an exception or its cause has that mark, so that nothing was billed."""
    current: BaseException | None = error
    while current is not None:
        if _UNSENT in getattr(current, "__notes__", ()):
            return True
        current = current.__cause__
    return False


@dataclass(eq=False)
class Failure(Exception):
    """One attempt failed. `message` becomes one line for users, with secrets masked."""

    message: str = "the attempt failed"
    status: int | None = None
    transient: bool = False
    """Whether a retry can succeed."""
    maybe_paid: bool = True
    """Whether the provider may have billed an answer that never arrived."""
    congestion: bool = False
    """Whether the endpoint reports overload."""
    offline: bool = False
    """Whether the address does not answer, or only a gateway in front of it does."""
    fatal: bool = False
    """Whether every other request would fail too: a wrong key, an empty account."""
    refused: str | None = None
    """The provider's code for refused content."""
    content: str | None = None
    """Why only this request's content is rejected: too long, an unreadable picture."""
    cost_usd: float | None = None
    """Cost of the attempt if the provider counted it; else see `maybe_paid`."""
    retry_after_s: float | None = None
    """Seconds that the endpoint asks to wait; None if it does not specify any."""

    def __post_init__(self) -> None:
        self.message = mask_line(self.message, MOST_WORDS)

    @property
    def concerns_endpoint(self) -> bool:
        """Whether it concerns the endpoint as a whole: unavailable or overloaded."""
        return self.offline or (self.congestion and self.status is not None)

    @property
    def is_server_error(self) -> bool:
        """Whether the server broke: because of this request, or because it answers none."""
        return self.status is not None and self.status >= 500 and not self.concerns_endpoint

    def __str__(self) -> str:
        return self.message


# Errors that reject the content of a request: too long, an unsupported picture, a policy.
#
# A retry cannot succeed for such a request; other requests are not affected.

TOO_LONG, PICTURE = "context_length_exceeded", "image_refused"
REFUSED = {
    "content_filter",
    "content_policy_violation",
    "data_inspection_failed",
    "moderation_blocked",
    "image_content_policy_violation",
    "prohibited_content",
    "safety",
    "sensitive",
}
"""Codes and finish reasons of providers that refuse content under a policy."""
_STATUSES = (400, 413, 422)
_CODES = {
    "context_length_exceeded": TOO_LONG,
    "string_above_max_length": TOO_LONG,
    "request_too_large": TOO_LONG,
    **dict.fromkeys(
        (
            "empty_image_file", "image_file_too_large", "image_parse_error", "image_too_large",
            "image_too_small", "invalid_base64_image", "invalid_image", "invalid_image_format",
            "invalid_image_mode", "unsupported_image_media_type",
        ),
        PICTURE,
    ),
}  # fmt: skip
_POLICY = re.compile(
    r"content (?:management |filter(?:ing)? |usage )policy|violat\w+ (?:\w+ ){0,3}usage policy|"
    r"flagged as potentially violating",
    re.IGNORECASE,
)
_LONG = re.compile(
    r"(?:maximum|max) context (?:length|window)|exceeds? (?:the )?context (?:limit|length|window)|"
    r"(?:prompt|input) (?:\([^)]{0,40}\) )?is too long|longer than the maximum model length|"
    r"input token count [^.]{0,40}exceeds the maximum|range of input length should be|"
    r"too large for model with \d+ maximum context",
    re.IGNORECASE,
)
_IMAGE = re.compile(
    r"(?:could not|cannot|can't|unable to|failed to) (?:process|decode|identify|parse|load) "
    r"(?:the |this |an |input |provided )*image|provided image is not valid|"
    r"image (?:exceeds|is too (?:large|small))|"
    r"image dimensions (?:exceed|must)|invalid (?:base64 )?image (?:data|file)|"
    r"unsupported image (?:format|type)",
    re.IGNORECASE,
)


def match_refusal(code: str) -> str | None:
    """Return the code if it refuses content under a policy, else None."""
    return code if code.lower() in REFUSED else None


def content_fault(status: int, code: str, message: str) -> str | None:
    """Return why an error rejects the content of its request; None if it has another cause.

    One of `context_length_exceeded`, `image_refused` and `content_filter`, by the provider's code
    or else by its message, of which the first 2000 characters are read.
    """
    if status not in _STATUSES:
        return None
    words = message[:2000]
    if (fault := _CODES.get(code.lower())) is not None:
        return fault
    if _POLICY.search(words):
        return "content_filter"
    if _LONG.search(words):
        return TOO_LONG
    return PICTURE if _IMAGE.search(words) else None


# Which errors are transient, whether they were billed, and the wait before a retry.

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
_UNSENT_ERRORS = {
    "ConnectError",
    "ConnectionRefusedError",
    "ConnectTimeout",
    "PoolTimeout",
    "UnsupportedProtocol",
    "ProxyError",
}
_LOCAL_ERRORS = {"UnsupportedProtocol", "LocalProtocolError", "PoolTimeout"}
_GEMINI_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_CONNECTION = re.compile(r"Connect(?:ion)?(?:Error|Timeout)$|Timeout(?:Error)?$|ReadError$")
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
        maybe_paid=name not in _UNSENT_ERRORS,
        congestion="Timeout" in name,
        offline=name not in _LOCAL_ERRORS and ("Timeout" not in name or name == "ConnectTimeout"),
    )


def failure_of_exception(error: Exception, now: float) -> Failure | None:
    """Convert an exception of any SDK to a failure by what SDKs have in common; None if unclear.

    It has an HTTP status as `status_code`, `status`, `code` or in its `response`, or is an error of
    a connection or a time limit.
    """
    response = getattr(error, "response", None)
    names = ("status_code", "status", "code")
    values = [getattr(at, name, None) for at in (error, response) for name in names]
    status = next((v for v in values if type(v) is int and 400 <= v < 600), None)
    if status is not None:
        headers = getattr(response, "headers", None) or getattr(error, "headers", None)
        pairs = headers.items() if isinstance(headers, Mapping) else ()
        body = getattr(response, "text", None)
        return failure_of_status(
            status,
            {str(key).lower(): str(value) for key, value in pairs},
            body if isinstance(body, str) and body else str(error),
            now,
        )
    name = type(error.__cause__ or error).__name__
    if isinstance(error, ConnectionError | TimeoutError) or _CONNECTION.search(name):
        return failure_of_connection(error)
    return None


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
