"""What to do about an endpoint that cannot be asked: model, address, key and remedy by name."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

from omibench.models.traffic.dispatch import Send, Sent
from omibench.models.traffic.failure import Failure
from omibench.params.models.base import ApiModel
from omibench.schemas.request import Request

PAGE = "is a page of HTML"
"""How a failure says that a login page, a portal or a proxy answered."""
_BY_WORDS = (
    (
        re.compile(r"getaddrinfo|name or service not known|name resolution|nodename|\bDNS\b", re.I),
        "the host is not found: is it spelt right in `base_url`, and is this machine online?",
    ),
    (
        re.compile(r"certificate|\bssl\b|\btls\b|wrong_version|record layer", re.I),
        "there is no TLS that can be trusted: does the address take https, and is its certificate "
        "valid? (SSL_CERT_FILE names certificates of your own)",
    ),
    (
        re.compile(r"refused|all connection attempts failed|unreachable|no route", re.I),
        "nothing listens there: does the server run, and is the port in `base_url` right?",
    ),
)

_BY_STATUS = {
    401: "{key} is not accepted there: is it this endpoint's, whole and still valid?",
    402: "the account of {key} has no money left",
    403: "{key} may not use this model, or not from here: look at the account's rights",
    404: "unknown model or path: is `id` spelt as the provider lists it, and "
    "does `base_url` end as it says (often in /v1)?",
}
_OF_PAGES = (
    "a login page, a portal or a proxy answered in place of the API: is `base_url` the API's own "
    "address (often ending in /v1), and can this machine reach it?"
)


def resolve_address(model: ApiModel) -> str:
    """The address at which a model is asked; Failure masks what may be secret in it."""
    return model.base_url or os.environ.get(model.url_env) or model.default_url


def explain_failure(failure: Failure, name: str, model: ApiModel) -> Failure:
    """The failure with the names of what it concerns and what to do, where that is known."""
    remedy = _remedy(failure, model)
    if remedy is None:
        return failure
    endpoint = f"model {name!r}, id {model.id!r}, at {resolve_address(model)}"
    return replace(failure, message=f"{failure.message} ({endpoint}): {remedy}")


def explain_failures(
    connect: AbstractAsyncContextManager[Send], name: str, model: ApiModel
) -> AbstractAsyncContextManager[Send]:
    """A connection whose failures are explained."""

    @asynccontextmanager
    async def open_connection() -> AsyncIterator[Send]:
        async with connect as send:

            async def explain(requests: Sequence[Request]) -> Sent:
                try:
                    return await send(requests)
                except Failure as failure:
                    raise explain_failure(failure, name, model) from None

            yield explain

    return open_connection()


class Explaining:
    """Any object, its methods' failures explained by `explain`."""

    def __init__(self, of: Any, explain: Callable[[Failure], Failure]) -> None:
        self._of, self._explain = of, explain

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._of, name)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return value(*args, **kwargs)
            except Failure as failure:
                raise self._explain(failure) from None

        return call


def _remedy(failure: Failure, model: ApiModel) -> str | None:
    if failure.refused is not None or failure.content is not None:
        return None
    if failure.status is None:
        return next((remedy for words, remedy in _BY_WORDS if words.search(failure.message)), None)
    if failure.status == 200:
        return _OF_PAGES if PAGE in failure.message else None
    remedy = _BY_STATUS.get(failure.status)
    return remedy.format(key=f"the key from {model.key_env}") if remedy else None
