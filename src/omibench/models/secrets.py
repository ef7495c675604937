"""Keys of providers: read when they are needed, shown to nobody.

A key stands in the environment, or in the file that OMIBENCH_KEYS names: one `NAME=value` a line,
readable by its owner alone. What providers say of their errors passes through `mask`.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

from pydantic import SecretStr

from omibench.errors import ModelError, reason_of

KEYS_FILE = "OMIBENCH_KEYS"
SHOWN = "***"
_SHORTEST = 6
"""A shorter word is no secret (servers without keys get one such as `EMPTY`)."""
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|gsk|xai|AIza|hf|sess)[-_][\w-]{12,}|(?<=Bearer )\S+|(?<=://)[^\s/@]+(?=@)"
)
_LOGGERS = ("openai", "anthropic", "openai._base_client", "anthropic._base_client", "httpx2")
_known: set[str] = set()


def read_key(name: str) -> SecretStr:
    """The key called `name`. From now on `mask` knows it.

    Raises ModelError with the name when there is none, or when others may read the file of keys.
    """
    value = os.environ.get(name, "").strip() or _from_file(name)
    if not value:
        file = os.environ.get(KEYS_FILE)
        raise ModelError(
            f"the key {name} is missing: set the environment variable {name}"
            + (f" or add a line {name}=... to {file}" if file else f" (or {KEYS_FILE}, a file)")
            + "; a server that asks for no key takes any value"
        )
    if len(value) >= _SHORTEST:
        _known.add(value)
        _mask_logs()
    return SecretStr(value)


def mask(text: str) -> str:
    """The text with *** in place of every key that was read, and of what looks like one."""
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, SHOWN)
    return _LOOKS_SECRET.sub(SHOWN, text)


def _from_file(name: str) -> str:
    file = os.environ.get(KEYS_FILE)
    if not file:
        return ""
    path = Path(file).expanduser()
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise ModelError(
                f"{path}: others may read this file of keys; make it yours alone: chmod 600 {path}"
            )
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise ModelError(
            f"{path}: the file of keys ({KEYS_FILE}) cannot be read: {reason_of(error)}"
        ) from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: the file of keys ({KEYS_FILE}) is no text") from None
    pairs = (line.removeprefix("export ").partition("=") for line in map(str.strip, lines))
    found = {key.strip(): value.strip().strip("'\"") for key, _, value in pairs if key[:1] != "#"}
    return found.get(name, "")


class _Mask(logging.Filter):
    """Masks what a provider's library logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = mask(record.getMessage()), ()
        return True


_FILTER = _Mask()


def _mask_logs() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)  # a filter that is there is not added again
