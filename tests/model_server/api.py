"""What the server needs to know of an API: how to read a request and how to word its replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from model_server.asked import Asked, Refused, bad
from model_server.config import Config, Kind


@dataclass(frozen=True)
class Api:
    """One endpoint that generates.

    `parse` reads a body (raises Refused), `render` writes an answer (its `kind` is a fault that
    changes what a 200 says, or ok), `error` an error.
    """

    name: str
    route: str
    parse: Callable[[Mapping[str, Any]], Asked]
    render: Callable[..., dict[str, Any]]
    error: Callable[[Refused], dict[str, Any]]
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Errors that have another status here than at the others."""


ERRORS: dict[Kind, tuple[int, str, str]] = {
    "rate_limit": (429, "rate_limit_error", "Rate limit reached. Please slow down."),
    "quota": (429, "insufficient_quota", "You exceeded your current quota."),
    "server_error": (500, "api_error", "The server had an error processing your request."),
    "unavailable": (503, "api_error", "The service is temporarily unavailable."),
    "overloaded": (529, "overloaded_error", "Overloaded"),
}


def refusal(kind: Kind) -> Refused | None:
    """The error that a fault answers with; None for the faults that are no error reply."""
    return Refused(*ERRORS[kind]) if kind in ERRORS else None


def admit(body: Mapping[str, Any], headers: Mapping[str, str], config: Config) -> None:
    """Check the key, the parameters and the model. Raises Refused."""
    if config.api_keys is not None and presented_key(headers) not in config.api_keys:
        raise Refused(401, "authentication_error", "Incorrect or missing API key.")
    for name in body:
        if name in config.rejects:
            raise bad(f"Unsupported parameter: '{name}' is not supported with this model.", name)
    if body.get("stream"):
        raise bad("This server does not stream.", "stream")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise bad("Missing or invalid required parameter: 'model'", "model")
    if not config.any_model and model not in config.models:
        raise Refused(404, "not_found_error", f"The model '{model}' does not exist", "model")


def presented_key(headers: Mapping[str, str]) -> str:
    """The key of either API's header."""
    return headers.get("x-api-key") or headers.get("Authorization", "").removeprefix("Bearer ")
