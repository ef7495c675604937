"""Lone surrogates (`\\ud83d`, half an emoji), which JSON allows but UTF-8 does not."""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

from glyphtex import lazy_re as re

_LONE = re.compile("[\ud800-\udfff]")
_IN_JSON = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")


def replace_surrogates(value: Any) -> Any:
    """Replace each lone surrogate in a JSON value, including keys, by U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else _LONE.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [replace_surrogates(entry) for entry in value]
    if isinstance(value, dict):
        return {replace_surrogates(k): replace_surrogates(v) for k, v in value.items()}
    return value


def may_hold_surrogates(data: bytes) -> bool:
    """Return whether JSON text can contain one; valid pairs also count."""
    return _IN_JSON.search(data) is not None


# Secrets masked in everything that is printed, logged or stored.
#
# Error texts from outside are masked first and cut afterwards: a cut in the middle of a key would
# leave an unrecognisable part.

Span = tuple[int, int]
MASK = "***"
MOST_SAID = 300
"""Maximum characters shown of an external error text."""
_SHORTEST = 6
"""A shorter word is not a secret (servers without keys get a word such as `EMPTY`)."""
_HEAD = 10
"""Number of first or last characters that reveal a secret, even if the rest is cut off."""
_LONG = 16
"""A key with fewer characters, or without a digit, can be a word of a response (`not-needed`)."""
_NAME = (
    r"(?:x[-_])?(?:(?:api|access|secret|app|subscription|private|auth)[-_]?)(?:key|token|secret)"
    r"|client[-_]?secret|authorization|proxy-authorization|secret|password|passwd|credentials?"
)
SECRET_NAME = re.compile(rf"{_NAME}|(?:\w+[-_])+(?:api[-_]?key|auth)", re.IGNORECASE)
"""Names of fields that contain secrets, matched in full."""
_MAYBE_NAME = re.compile(r"key|token|bearer|auth|(?:session|bearer)[-_]?token", re.IGNORECASE)
"""Names of fields that contain a secret unless the value is a word."""
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
"""Every secret read so far, in all spellings in which it can return."""
_long: dict[str, bytes] = {}
"""Secrets that are not ordinary words, each with a part that has only one JSON spelling."""


def remember(secret: str) -> None:
    """Register a secret for `mask`, and mask the logs of provider libraries from now on."""
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
    """Replace every registered secret in a text, and anything that looks like one, by ***.

    The start or the end of a secret also counts, because the recipient can have cut it.
    """
    spans = list(_lookalikes(text))
    backwards = text[::-1]
    for secret in _secrets:
        spans += _places(text, secret)
        ends = _places(backwards, secret[::-1])
        spans += [(len(text) - end, len(text) - start) for start, end in ends]
    return _cover(text, spans)


def mask_keys(value: Any, body: bytes) -> Any:
    """Replace long registered keys in the JSON value of a reply's `body` by ***.

    A gateway can repeat the request headers, also in a stored response. Nothing else in a
    response is changed, whatever it looks like.
    """
    for secret, part in _long.items():
        if part in body:
            value = _replace(value, secret)
    return value


def looks_secret(text: str) -> bool:
    """Return whether a text contains anything that looks like a secret, registered or not."""
    return _cover(text, _lookalikes(text)) != text


def mask_line(text: str, limit: int = MOST_SAID) -> str:
    """Return an external text as one line: masked, then cut to `limit` characters."""
    line = mask(" ".join(replace_surrogates(text).split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def masked_values(value: Any) -> Any:
    """Replace secrets in plain values (JSON) by ***, by field name or appearance."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [masked_values(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _masked_field(name, entry) for name, entry in value.items()}
    return value


def literal_secret(value: Any) -> str | None:
    """Return the name of the first field of plain values (JSON) that contains a secret, or None.

    `${NAME}` in place of a secret refers to an environment variable and is allowed.
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
    """Replace each `${NAME}` in plain values (JSON) by the secret that `read` returns.

    Only in fields for secrets: elsewhere `${NAME}` is ordinary text.
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
    """Return whether a field of this name contains a secret."""
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
    """Yield the positions of text that looks like a secret."""
    for match in _LOOKS_SECRET.finditer(text):
        yield match.span()
    for pattern in (_BEARER, _FIELD, _QUERY):
        for match in pattern.finditer(text):
            yield match.end(1), match.end()


def _places(text: str, secret: str) -> Iterator[Span]:
    """Return the position of a secret in a text, or of its longest matching start."""
    # Addresses share their start with others: of webhooks only the whole is a secret.
    is_whole = len(secret) <= _HEAD or "://" in secret
    head, at = secret if is_whole else secret[:_HEAD], 0
    while (start := text.find(head, at)) >= 0:
        at = start + len(head)
        while at < len(text) and at - start < len(secret) and text[at] == secret[at - start]:
            at += 1
        yield start, at


def _cover(text: str, spans: Iterable[Span]) -> str:
    """Replace each run of overlapping spans by one mask.

    All spans are found in the original text: masking one first would hide the rest of another
    that overlaps it.
    """
    pieces, at = [], 0
    for start, end in sorted(spans):
        if start >= at:
            pieces += [text[at:start], MASK]
        at = max(at, end)
    return "".join([*pieces, text[at:]])


def _mask_libraries() -> None:
    """Mask every record of other packages' loggers when it is created."""
    make = logging.getLogRecordFactory()
    if not isinstance(make, _Masked):
        logging.setLogRecordFactory(_Masked(make))


class _Masked:
    """Log record factory; records of other packages, which can contain keys, are masked."""

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
    except Exception:  # its arguments do not fit: logging would print them unchanged
        return f"{record.msg} {record.args}"
