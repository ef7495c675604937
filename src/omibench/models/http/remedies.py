"""Remedies for an endpoint that cannot be reached, with model, address and key variable."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from omibench.models.traffic.failure import Failure
from omibench.params.models.base import ApiModel

PAGE = "is a page of HTML"
"""Text by which a failure reports a login page, a portal or a proxy."""
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
