"""What a model sees of a request in one form for all APIs, and what the server knows of each."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import orjson

from model_server.config import Config, Kind

IN_TURNS = {"model", "messages", "input", "system", "instructions"}
BOOKKEEPING = {"metadata", "user", "store", "stream", "service_tier", "safety_identifier"}
UNSEEN = IN_TURNS | BOOKKEEPING | {"prompt_cache_key"}
"""Body fields that are no decoding: they stand in the turns, or no model sees them."""
MAGIC = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


class Refused(Exception):
    """A request that the server turns down with `status` and the error of type `kind`."""

    def __init__(self, status: int, kind: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status, self.kind, self.message, self.param = status, kind, message, param


def bad(message: str, param: str | None = None) -> Refused:
    """A 400 in the words that both APIs use."""
    return Refused(400, "invalid_request_error", message, param)


@dataclass(frozen=True, slots=True)
class Picture:
    """One received image: the SHA-256 of its decoded bytes, and their number."""

    sha256: str
    size: int


@lru_cache(maxsize=256)  # k samples of a problem send the same pictures k times
def picture(data: str, media_type: str) -> Picture:
    """Decode a base64 image and see that its bytes are of the media type. Raises Refused."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise bad(f"Invalid base64 image: {error}") from error
    found = next((kind for magic, kind in MAGIC.items() if raw.startswith(magic)), "unknown")
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        found = "image/webp"
    if found != media_type:
        raise bad(f"The image is declared as {media_type} but its bytes are {found}")
    return Picture(hashlib.sha256(raw).hexdigest(), len(raw))


def picture_of_url(url: str) -> Picture:
    """Decode a `data:` URL; other URLs are refused, since nothing may leave the machine."""
    head, comma, data = url.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        raise bad("Only data: URLs with base64 are served here")
    return picture(data, head[len("data:") : -len(";base64")])


def uniform(*parts: object) -> float:
    """A number in [0, 1) that follows from the parts."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest()) / 2**56


Part = str | Picture


@dataclass(frozen=True)
class Asked:
    """A parsed request. `top_logprobs` is None when none were asked."""

    model: str
    turns: tuple[tuple[str, tuple[Part, ...]], ...]
    decoding: Mapping[str, Any]
    max_tokens: int | None = None
    n: int = 1
    temperature: float | None = None
    seed: int | None = None
    top_logprobs: int | None = None
    thinks: bool = True
    may_call: bool = False
    """Whether tools are on offer."""
    rounds: int = 0
    """Turns of the history that called tools."""

    @cached_property
    def text(self) -> str:
        """All text of all turns."""
        return "\n".join(p for _, parts in self.turns for p in parts if isinstance(p, str))

    @cached_property
    def images(self) -> list[Picture]:
        """All images of all turns, in order."""
        return [p for _, parts in self.turns for p in parts if isinstance(p, Picture)]

    @cached_property
    def turns_key(self) -> str:
        """A hash of model, text and images: what the answer follows from."""
        turns = [
            [role, [[p] if isinstance(p, str) else p.sha256 for p in parts]]
            for role, parts in self.turns
        ]
        return hashlib.sha256(orjson.dumps([self.model, turns])).hexdigest()[:24]

    @cached_property
    def key(self) -> str:
        """A hash of all that a model sees, decoding too: what is bought once."""
        seen = [self.turns_key, self.decoding]
        return hashlib.sha256(orjson.dumps(seen, option=orjson.OPT_SORT_KEYS)).hexdigest()[:24]


def decoding(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body that change how a model answers. An explicit null is no field."""
    return {k: v for k, v in body.items() if k not in UNSEEN and v is not None}


def need(body: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    """A required field of the right type. Raises Refused."""
    value = body.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise bad(f"Missing or invalid required parameter: '{name}'", name)
    return value


def positive(body: Mapping[str, Any], name: str, most: int = 10**7) -> int | None:
    """An optional whole number from 1 to `most`. Raises Refused."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise bad(f"Invalid '{name}': expected a whole number from 1 to {most}", name)
    return value


# What the server needs to know of an API: how to read a request and how to word its replies.


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
    check_key(headers, config)
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


def check_key(headers: Mapping[str, str], config: Config) -> None:
    """Check the key in the header of either API. Raises Refused."""
    key = headers.get("x-api-key") or headers.get("Authorization", "").removeprefix("Bearer ")
    if config.api_keys is not None and key not in config.api_keys:
        raise Refused(401, "authentication_error", "Incorrect or missing API key.")
