"""API keys: read when they are needed and never shown.

A key is an environment variable, or a line `NAME=value` in the file at OMIBENCH_KEYS, readable only
by its owner. Error messages of providers pass through `masking.mask`.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import SecretStr

from omibench.errors import ModelError, reason_of
from omibench.models.api.failures import Failure
from omibench.models.api.replies import PAGE
from omibench.params.models.base import ApiModel, ServedModel
from omibench.text.masking import remember, with_secrets

KEYS_FILE = "OMIBENCH_KEYS"
A = TypeVar("A", bound=ApiModel)
S = TypeVar("S", bound=ServedModel)


def read_key(name: str) -> SecretStr:
    """Return the key called `name`. From now on `masking.mask` hides it.

    Raises ModelError with the name if the key is missing, or if others can read the key file.
    """
    value = os.environ.get(name, "").strip() or _from_file(name)
    if not value:
        file = os.environ.get(KEYS_FILE)
        raise ModelError(
            f"the key {name} is missing: set the environment variable {name}"
            + (f" or add the line {name}=... to {file}" if file else f" (or {KEYS_FILE}, a file)")
            + "; if the server needs no key, any value works"
        )
    remember(value)
    return SecretStr(value)


def with_own_secrets(model: S) -> S:
    """Return the block as it is sent, with secrets in place of their names. Never stored.

    Args:
        model: A block with mappings (`blocks.Extra`) that can refer to secrets as `${NAME}`.

    Raises:
        ModelError: See `read_key`.
    """
    named = {name: value for name, value in model if isinstance(value, dict)}
    filled = {
        name: with_secrets(value, lambda key: read_key(key).get_secret_value())
        for name, value in named.items()
    }
    return model if filled == named else model.model_copy(update=filled)


def _from_file(name: str) -> str:
    file = os.environ.get(KEYS_FILE)
    if not file:
        return ""
    path = Path(file).expanduser()
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise ModelError(
                f"{path}: other users can read this key file; make it private: chmod 600 {path}"
            )
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise ModelError(
            f"{path}: the key file ({KEYS_FILE}) cannot be read: {reason_of(error)}"
        ) from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: the key file ({KEYS_FILE}) is not text") from None
    pairs = (line.removeprefix("export ").partition("=") for line in map(str.strip, lines))
    keys = {key.strip(): value.strip().strip("'\"") for key, _, value in pairs if key[:1] != "#"}
    return keys.get(name, "")


# Remedies for an endpoint that cannot be reached, with model, address and key variable.

_BY_WORDS = (
    (
        re.compile(r"getaddrinfo|name or service not known|name resolution|nodename|\bDNS\b", re.I),
        (
            "host not found; check the spelling of `base_url` and the network connection of "
            "this machine"
        ),
    ),
    (
        re.compile(r"certificate|\bssl\b|\btls\b|wrong_version|record layer", re.I),
        "no trusted TLS connection; check that the address supports https with a valid "
        "certificate (set SSL_CERT_FILE for custom certificates)",
    ),
    (
        re.compile(r"refused|all connection attempts failed|unreachable|no route", re.I),
        "nothing listens there; check that the server is running and the port in `base_url`",
    ),
)

_BY_STATUS = {
    401: "{key} is not accepted; check that it belongs to this endpoint, is complete and still "
    "valid",
    402: "the account of {key} has no credit left",
    403: "{key} has no access to this model, or not from here; check the account's permissions",
    404: "unknown model or path; check that `id` matches the provider's list and that `base_url` "
    "has the right ending (often /v1)",
}
_OF_PAGES = (
    "a login page, a portal or a proxy answered instead of the API; check that `base_url` is the "
    "address of the API (often ending in /v1) and that this machine can reach it"
)


def resolve_address(model: ApiModel) -> str:
    """Return the address of a model; Failure masks possible secrets in it."""
    return model.base_url or os.environ.get(model.url_env) or model.default_url


def explain_failure(failure: Failure, name: str, model: ApiModel) -> Failure:
    """Add model, address and, if known, a remedy to a failure."""
    remedy = _remedy(failure, model)
    if remedy is None:
        return failure
    endpoint = f"model {name!r}, id {model.id!r}, at {resolve_address(model)}"
    return replace(failure, message=f"{failure.message} ({endpoint}): {remedy}")


def _remedy(failure: Failure, model: ApiModel) -> str | None:
    if failure.refused is not None or failure.content is not None:
        return None
    if failure.status is None:
        return next((remedy for words, remedy in _BY_WORDS if words.search(failure.message)), None)
    if failure.status == 200:
        return _OF_PAGES if PAGE in failure.message else None
    remedy = _BY_STATUS.get(failure.status)
    return remedy.format(key=f"the key from {model.key_env}") if remedy else None
