"""Failures: why an attempt at a request failed, what follows, and when an endpoint is out."""

from __future__ import annotations

import heapq
import json
import math
import re
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from threading import Lock

from omibench.schemas.request import Request, Response
from omibench.text.masking import mask, mask_line

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

    def to_response(self, *, works: bool) -> Response:
        """Return the response to a request that is not sent again: `refused` or an error.

        A failure that concerns only the content counts as a refusal if the endpoint answers other
        requests (`works`).
        """
        if self.refused is not None:
            return Response(text="", outcome="refused", finish_reason=self.refused)
        error = mask(self.message)
        if self.content is not None and works:
            return Response(text="", outcome="refused", finish_reason=self.content, error=error)
        return Response(text="", outcome="provider_error", error=error, passing=self.transient)


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


# The pending calls in their order, and the circuit breaker of an endpoint.


@dataclass(eq=False)
class PendingCall:
    """One call: samples of one conversation, and its number of failed attempts.

    `breaks_server`: the server broke at it, and then answered another call.
    """

    requests: tuple[Request, ...]
    attempts: int = 0
    breaks_server: bool = False


class Agenda:
    """The order of calls: due retries first, then new jobs, then those that failed often."""

    def __init__(self, jobs: Iterable[PendingCall]) -> None:
        self._fresh = deque(jobs)
        self._late: deque[PendingCall] = deque()
        self._waiting: list[tuple[float, int, PendingCall]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._fresh) + len(self._late) + len(self._waiting)

    def next(self, now: float) -> PendingCall | None:
        """Take the next job, or None if none is due."""
        if self._waiting and self._waiting[0][0] <= now:
            return heapq.heappop(self._waiting)[2]
        if self._fresh:
            return self._fresh.popleft()
        if self._late:
            return self._late.popleft()
        return None

    def wait(self, now: float) -> float | None:
        """Return the seconds until a job is due: 0 for now, None if there is none."""
        if self._fresh or self._late:
            return 0.0
        return max(0.0, self._waiting[0][0] - now) if self._waiting else None

    def put_back(self, job: PendingCall) -> None:
        """Put back a job that was taken and not sent."""
        self._fresh.appendleft(job)

    def schedule(self, job: PendingCall, due: float) -> None:
        """Schedule a retry of a job at `due`."""
        self._count += 1
        heapq.heappush(self._waiting, (due, self._count, job))

    def schedule_last(self, job: PendingCall, due: float) -> None:
        """Schedule a retry after all new jobs; at `due` if there are none."""
        if self._fresh:
            self._late.append(job)
        else:
            self.schedule(job, due)

    def __iter__(self) -> Iterator[PendingCall]:
        return iter([*self._fresh, *(job for _, _, job in sorted(self._waiting)), *self._late])


# A circuit breaker: detects that an endpoint is unavailable, and when it is back.
#
# After a number of consecutive requests that never reached a model, or at which the server broke,
# only single probes are sent, at growing intervals (M. Nygard, Release It!, 2nd ed., 2018, section
# 5.2). The first answer resumes sending. Times are seconds of a monotonic clock and come from the
# caller.

OPEN_AFTER = 5
"""Consecutive failures after which an endpoint counts as unavailable."""
SERVER_ERRORS = 10
"""Different requests at which the server breaks (5xx) in a row after which it does too. A request
at which it broke before it answered another one does not count again."""
FIRST_PROBE_S = 1.0
LONGEST_PROBE_S = 60.0
LOOK_S = 1.0
"""Seconds after which others check again whether a probe was answered."""
NEVER_ANSWERED_S = 60.0
"""Seconds after which an address that has never answered is given up."""


class Outage:
    """The state of one endpoint. Runs in several threads can share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers = 0
        self._interval = FIRST_PROBE_S
        self._next = 0.0
        self.is_known = False
        """Whether it has ever answered: its address is right."""
        self.is_awaited = False
        """Whether it is waited for as long if it has never answered."""
        self._close()

    def _close(self) -> None:
        self.is_open = self._probing = False
        """`is_open`: the endpoint is unavailable, so that only probes are sent."""
        self.since: float | None = None
        """Time of the first of the consecutive failures."""
        self._row = 0
        self._failed: set[PendingCall] = set()
        self._broke: set[PendingCall] = set()

    def wait(self, now: float) -> float:
        """Return the seconds until a request can be sent, 0 for now."""
        with self._lock:
            if not self.is_open:
                return 0.0
            return LOOK_S if self._probing else max(0.0, self._next - now)

    def send(self) -> bool:
        """Note a sent request; returns whether it is a probe."""
        with self._lock:
            self._probing = self.is_open
            return self.is_open

    def note_answer(self) -> bool:
        """Note an answer of the endpoint; returns whether it had been unavailable."""
        with self._lock:
            was_open, self.is_known = self.is_open, True
            for call in self._broke:
                call.breaks_server = True
            self._close()
            self._answers += 1
            if was_open:
                self._answers = 1
                self._interval = max(FIRST_PROBE_S, self._interval / 2)
            elif self._answers >= OPEN_AFTER:
                self._interval = FIRST_PROBE_S
            return was_open

    def begin(self, now: float, outage_s: float) -> None:
        """Start a run: it waits again, even after another run has given up the endpoint."""
        if self.is_over(now, outage_s):
            with self._lock:
                self._close()

    def note_failure(  # noqa: PLR0913 (a failure, what failed, and what else there is to ask)
        self,
        failure: Failure,
        now: float,
        *,
        call: PendingCall,
        probe: bool,
        chance: float,
        enough: int,
    ) -> bool:
        """Note a failure; returns whether the endpoint is unavailable and caused it.

        Args:
            failure: The failure.
            now: The time.
            call: What failed.
            probe: Whether it was sent as a probe.
            chance: Uniform in [0, 1).
            enough: Consecutive failures that never reached a model after which it is unavailable.
        """
        with self._lock:
            self.is_known = self.is_known or failure.status is not None
            broke = failure.is_server_error and (self.is_open or not call.breaks_server)
            if plans := self.is_open and probe:
                self._probing = False
                self._interval = min(LONGEST_PROBE_S, 2 * self._interval)
            concerns = failure.concerns_endpoint or broke
            if concerns:
                self.since = now if self.since is None else self.since
                if broke:
                    self._broke.add(call)
                else:
                    self._row += 1
                    self._failed.add(call)
                # One request that is rejected again and again says nothing about the others.
                is_away = self._row >= enough and (failure.offline or len(self._failed) > 1)
                if broke:
                    is_away = len(self._broke) >= SERVER_ERRORS
                if not self.is_open and is_away:
                    self.is_open, self._answers, plans = True, 0, True
            if plans:  # spread over time, so that not all processes probe at once
                wait = self._interval * (1 - 0.2 * chance)
                self._next = now + max(wait, failure.retry_after_s or 0.0)
            return concerns and self.is_open

    def note_cancelled(self, *, probe: bool) -> None:
        """Note a cancelled request with an unknown outcome."""
        with self._lock:
            self._probing = self._probing and not probe

    def is_over(self, now: float, outage_s: float, has_answered: bool = False) -> bool:
        """Return whether the endpoint has been unavailable for too long to wait.

        `has_answered`: it has answered before, but not to this process.
        """
        with self._lock:
            if not self.is_open or self.since is None:
                return False
            patient = has_answered or self.is_known or self.is_awaited
            return now - self.since >= (outage_s if patient else min(outage_s, NEVER_ANSWERED_S))

    def describe_end(self, now: float, outage_s: float, why: str) -> str:
        """Describe the end of waiting; `why` is the message of the last failure."""
        away = now - (now if self.since is None else self.since)
        if self.is_known:
            return (
                f"the endpoint has been unavailable for {away / 60:.1f} min, and "
                f"`limits.outage_s` is {outage_s:g} s: {why}; finished answers are kept, so run "
                "the command again when it is back"
            )
        return (
            f"the endpoint has not answered once in {away:.0f} s: {why}; check `base_url` and "
            "that the server is running, then run the command again"
        )


@cache
def get_outage(endpoint: Hashable) -> Outage:
    """Return the state of an endpoint, shared by all runs of this process."""
    return Outage()
