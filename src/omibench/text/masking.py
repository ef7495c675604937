"""Secrets, made unreadable in whatever is printed, logged or kept.

What others say of an error is masked first and cut then: a cut in the middle of a key would leave
a part that nothing recognises.
"""

from __future__ import annotations

import json
import logging
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

from omibench.text.surrogates import replace_surrogates

Span = tuple[int, int]
MASK = "***"
MOST_SAID = 300
"""Characters of what others say that are shown."""
_SHORTEST = 6
"""A shorter word is no secret (servers without keys get one such as `EMPTY`)."""
_HEAD = 10
"""So many of its first or last characters give a secret away, whatever cut the others off."""
_LONG = 16
"""A key of fewer characters, or without a digit, may be a word of an answer (`not-needed`)."""
_NAME = (
    r"(?:x[-_])?(?:(?:api|access|secret|app|subscription|private|auth)[-_]?)(?:key|token|secret)"
    r"|client[-_]?secret|authorization|proxy-authorization|secret|password|passwd|credentials?"
)
SECRET_NAME = re.compile(rf"{_NAME}|(?:\w+[-_])+(?:api[-_]?key|auth)", re.IGNORECASE)
"""Names of fields that hold secrets, to be matched whole."""
_MAYBE_NAME = re.compile(r"key|token|bearer|auth|(?:session|bearer)[-_]?token", re.IGNORECASE)
"""Names of fields that hold a secret where the value is no word."""
_NO_WORD = re.compile(r"(?=.*\d)(?=.*[A-Za-z])\S{12,}")
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|sess|csk|pplx|nvapi|fw|r8|glpat|gho|ghp|ghs|ghu|ghr|tgp_v\d)"
    r"[-_][\w-]{12,}"
    r"|\bgithub_pat_\w{12,}"
    r"|\bxox[a-z]-[\w-]{10,}"
    r"|\bAIza[\w-]{16,}"
    r"|\bya29\.[\w.-]{12,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?<=://)[^\s/@]+(?=@)"
)
_BEARER = re.compile(r"(\bBearer\s+)(?=\S*[\d._-])[^\s\"',;]{6,}")
_FIELD = re.compile(
    rf"(?<![\w-])((?:{_NAME})[\"']?\s*[:=]\s*[\"']?(?:(?:Bearer|Basic)\s+)?)(?!\*|Bearer\b|Basic\b)[^\s\"'&,;}}]{{4,}}",
    re.IGNORECASE,
)
_QUERY = re.compile(r"([?&](?:key|token|sig|signature|auth|code|pass)=)[^\s&#\"']+", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}")
_OURS = "omibench"
_secrets: dict[str, None] = {}
"""Every secret that was read, in the spellings in which it may come back."""
_long: dict[str, bytes] = {}
"""Those that are no words of an answer, each with a part that JSON spells in one way alone."""


def remember(secret: str) -> None:
    """From now on `mask` knows this secret, and what libraries of providers log is masked."""
    if len(secret) < _SHORTEST:
        return
    spellings = (quote(secret, safe=""), quote(secret), quote_plus(secret))
    encoded = b64encode(secret.encode()).decode().rstrip("=")
    for spelling in (secret, *spellings, json.dumps(secret)[1:-1], encoded):
        _secrets[spelling] = None
    if len(secret) >= _LONG and re.search(r"\d", secret):
        _long[secret] = max(re.findall(r"[\w-]+", secret, re.ASCII), key=len, default="").encode()
    _mask_libraries()


def mask(text: str) -> str:
    """The text with *** in place of every secret that was read, and of what looks like one.

    Its beginning and its end count as one, since those whom it was shown to may have cut it.
    """
    spans = list(_lookalikes(text))
    backwards = text[::-1]
    for secret in _secrets:
        spans += _places(text, secret)
        ends = _places(backwards, secret[::-1])
        spans += [(len(text) - end, len(text) - start) for start, end in ends]
    return _cover(text, spans)


def mask_keys(value: Any, body: bytes) -> Any:
    """The JSON value of a reply's `body` with *** in place of long keys that were read.

    A gateway may repeat the headers that it got, also in an answer that is kept. Nothing else of
    an answer is touched, whatever it looks like.
    """
    for secret, part in _long.items():
        if part in body:
            value = _replace(value, secret)
    return value


def looks_secret(text: str) -> bool:
    """Whether a text holds what looks like a secret, whichever were read."""
    return _cover(text, _lookalikes(text)) != text


def mask_line(text: str, limit: int = MOST_SAID) -> str:
    """One line of what others say: masked, and then cut to `limit` characters."""
    line = mask(" ".join(replace_surrogates(text).split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def masked_values(value: Any) -> Any:
    """Plain values (JSON) with *** in place of what stands under a secret's name or looks so."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [masked_values(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _masked_field(name, entry) for name, entry in value.items()}
    return value


def literal_secret(value: Any) -> str | None:
    """The name of the first field of plain values (JSON) that holds a secret itself, or None.

    `${NAME}` in place of a secret names the environment variable that holds it.
    """
    if isinstance(value, list):
        return next((name for entry in value if (name := literal_secret(entry))), None)
    if not isinstance(value, dict):
        return None
    for name, entry in value.items():
        if isinstance(entry, str):
            plain = _REFERENCE.sub("", entry)
            if _holds_secret(str(name), entry) or _LOOKS_SECRET.search(plain):
                return str(name)
        elif within := literal_secret(entry):
            return f"{name}.{within}"
    return None


def with_secrets(value: Any, read: Callable[[str], str]) -> Any:
    """Plain values (JSON) with the secret that `read` finds in place of each `${NAME}`.

    Only under the name of a secret: elsewhere `${NAME}` is a text like others.
    """
    if isinstance(value, list):
        return [with_secrets(entry, read) for entry in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _REFERENCE.sub(lambda reference: read(reference[1]), entry)
        if isinstance(entry, str) and (is_secret_name(str(name)) or _MAYBE_NAME.fullmatch(name))
        else with_secrets(entry, read)
        for name, entry in value.items()
    }


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret."""
    return SECRET_NAME.fullmatch(name) is not None


def _replace(value: Any, secret: str) -> Any:
    if isinstance(value, str):
        return value.replace(secret, MASK)
    if isinstance(value, list):
        return [_replace(entry, secret) for entry in value]
    if isinstance(value, dict):
        return {_replace(k, secret): _replace(v, secret) for k, v in value.items()}
    return value


def _masked_field(name: object, entry: Any) -> Any:
    secret = isinstance(entry, str) and _holds_secret(str(name), entry)
    return MASK if secret else masked_values(entry)


def _holds_secret(name: str, entry: str) -> bool:
    if _REFERENCE.search(entry):
        return False
    maybe = _MAYBE_NAME.fullmatch(name) and _NO_WORD.fullmatch(entry)
    return is_secret_name(name) or maybe is not None


def _lookalikes(text: str) -> Iterator[Span]:
    """Where a text holds what looks like a secret."""
    for match in _LOOKS_SECRET.finditer(text):
        yield match.span()
    for pattern in (_BEARER, _FIELD, _QUERY):
        for match in pattern.finditer(text):
            yield match.end(1), match.end()


def _places(text: str, secret: str) -> Iterator[Span]:
    """Where a text holds a secret, or as much of it as follows its first characters."""
    # An address begins like others: of webhooks only the whole is a secret.
    is_whole = len(secret) <= _HEAD or "://" in secret
    head, at = secret if is_whole else secret[:_HEAD], 0
    while (start := text.find(head, at)) >= 0:
        at = start + len(head)
        while at < len(text) and at - start < len(secret) and text[at] == secret[at - start]:
            at += 1
        yield start, at


def _cover(text: str, spans: Iterable[Span]) -> str:
    """The text with one mask for each run of spans that overlap.

    All are looked for in the same text: were one masked first, the rest of another that it is a
    part of would be known no more.
    """
    pieces, at = [], 0
    for start, end in sorted(spans):
        if start >= at:
            pieces += [text[at:start], MASK]
        at = max(at, end)
    return "".join([*pieces, text[at:]])


def _mask_libraries() -> None:
    """Let every record of other packages' loggers be masked when it is made."""
    make = logging.getLogRecordFactory()
    if not isinstance(make, _Masked):
        logging.setLogRecordFactory(_Masked(make))


class _Masked:
    """Makes log records; those of other packages, which may hold keys, are masked."""

    def __init__(self, make: Callable[..., logging.LogRecord]) -> None:
        self._make = make

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self._make(*args, **kwargs)
        if record.name.partition(".")[0] != _OURS:
            record.msg, record.args = mask(_format(record)), ()
        return record


def _format(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # its arguments do not fit: logging would print them as they are
        return f"{record.msg} {record.args}"
