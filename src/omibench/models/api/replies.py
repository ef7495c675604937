"""What all providers' requests and replies share: pictures, prices, samples, reasoning, tools."""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from omibench.errors import ImageCountError, MissingInputError, ModelError
from omibench.files.pictures import detect_form
from omibench.files.reading import open_regular, read_bytes
from omibench.models.api.failures import Failure
from omibench.models.drawn import MOST_PICTURES, decode_picture, skip_picture
from omibench.models.provider import add_logprobs, make_scored_response
from omibench.params.models.base import Price, ServedModel
from omibench.schemas.request import (
    DrawnPart,
    ImagePart,
    Message,
    Outcome,
    Request,
    Response,
    TextPart,
    ToolCall,
    ToolSpec,
    Usage,
    write_turn,
)
from omibench.text.masking import mask_keys, may_hold_surrogates, replace_surrogates

try:  # 2.6 times as fast; encoding took a quarter of the sending time
    from pybase64 import b64encode
except ImportError:  # without the extra `api`
    from base64 import b64encode  # type: ignore[assignment]

MEGABYTE = 1e6
CACHE_BYTES = 64 * 2**20
_FORMS = ("png", "jpeg", "gif", "webp")
"""Picture formats that the APIs accept."""


class PicturePayload(NamedTuple):
    """A picture in a body: its media type, and its base64 or a placeholder."""

    media_type: str
    data: str

    @property
    def url(self) -> str:
        """The picture as a data URL."""
        return f"data:{self.media_type};base64,{self.data}"


Show = Callable[[ImagePart], PicturePayload]
"""How a body gets its pictures: encoded in place, or as a mark that is replaced when sent."""


def media_type(head: bytes) -> str | None:
    """Return the media type by the first 12 bytes of a picture; None if no API accepts it."""
    form = detect_form(head)
    return f"image/{form}" if form in _FORMS else None


class PictureCache:
    """Base64 of pictures by SHA-256; the most recent `cache_bytes` stay in memory."""

    def __init__(self, cache_bytes: int = CACHE_BYTES) -> None:
        self._room = cache_bytes
        self._held = 0
        self._encoded: OrderedDict[str, bytes] = OrderedDict()
        self._facts: dict[str, tuple[str, int]] = {}

    def check(self, requests: Iterable[Request], most_mb: float | None) -> None:
        """Check the format of each distinct picture, and its size against `most_mb` (10^6 bytes).

        Raises MissingInputError or ModelError with the problem, the file and a remedy.
        """
        for request in requests:
            for image in request.conversation.images:
                if image.content_key in self._facts:
                    continue
                _, size = self._read_facts(image)
                if most_mb is not None and size > most_mb * MEGABYTE:
                    del self._facts[image.content_key]
                    raise ModelError(
                        f"problem {request.tags.problem!r}: {image.path} has "
                        f"{size / MEGABYTE:.2f} MB, but the model accepts {most_mb:g} MB per "
                        "image (`can.image_mb`); pictures are never scaled down automatically, "
                        "so make it smaller"
                    )

    def media_type(self, image: ImagePart) -> str:
        """Return its media type by its first bytes; PNG if it has a patch. Raises as `encode`."""
        return self._read_facts(image)[0]

    def size(self, image: ImagePart) -> int:
        """Return the bytes of its file, or of the PNG with its patch. Raises as `encode`."""
        return self._read_facts(image)[1]

    def encode(self, image: ImagePart) -> bytes:
        """Return its bytes as base64. Raises as `read`."""
        cached = self._encoded.get(image.content_key)
        if cached is not None:
            self._encoded.move_to_end(image.content_key)
            return cached
        encoded = b64encode(self.read(image))
        self._encoded[image.content_key] = encoded
        self._held += len(encoded)
        while self._held > self._room:
            self._held -= len(self._encoded.popitem(last=False)[1])
        return encoded

    def read(self, image: ImagePart) -> bytes:
        """Return the bytes to send. Raises MissingInputError, or ModelError if they changed."""
        data = read_bytes(_locate(image))
        if hashlib.sha256(data).hexdigest() != image.sha256:
            raise ModelError(
                f"{image.path}: its content differs from the dataset ({image.sha256[:12]}); "
                "restore the file or freeze the dataset again"
            )
        return _draw_patch(image) if image.patch else data

    def inline(self, image: ImagePart) -> PicturePayload:
        """Return the picture with its base64 in place: a `Show`."""
        return PicturePayload(self.media_type(image), self.encode(image).decode("ascii"))

    def _read_facts(self, image: ImagePart) -> tuple[str, int]:
        facts = self._facts.get(image.content_key)
        if facts is None and image.patch:
            facts = self._facts[image.content_key] = ("image/png", len(_draw_patch(image)))
        elif facts is None:
            with open_regular(_locate(image)) as file:
                kind, size = media_type(file.read(12)), file.seek(0, 2)
            if kind is None:
                raise ModelError(
                    f"{image.path}: is not a PNG, JPEG, GIF or WebP, the formats that providers "
                    "accept; convert the picture"
                )
            facts = self._facts[image.content_key] = (kind, size)
        return facts


def _draw_patch(image: ImagePart) -> bytes:
    from io import BytesIO

    from omibench.models.local.prompts import decode

    written = BytesIO()
    decode(image).save(written, "PNG")
    return written.getvalue()


def _locate(image: ImagePart) -> Path:
    if not image.path:
        raise MissingInputError(f"image {image.sha256[:12]}: cannot be read, it has no file")
    return Path(image.path)


# A JSON body with pictures inserted while it is sent, so that none waits in memory.

_PIECE = 1 << 18
"""Bytes of text per piece."""
_MARK = f"<{token_hex(16)}>"
"""Placeholder of a picture. It is random per process, so no text of a conversation contains it."""


class RequestBody:
    """The bytes of one request, generated while it is sent; it can be sent again.

    Otherwise 256 requests in flight with three pictures of 300 kB each would take 300 MB.
    """

    def __init__(self, texts: Sequence[bytes], images: Sequence[ImagePart], pictures: PictureCache):
        self._texts, self._images, self._pictures = texts, images, pictures
        encoded = sum(4 * ((pictures.size(image) + 2) // 3) for image in images)
        self.length = sum(map(len, texts)) + encoded
        self.left = False
        """Whether the last bytes may have been sent: before that, the request is neither
        answered nor billed."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces():
            yield piece

    def read(self) -> bytes:
        """Return all bytes at once."""
        return b"".join(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        for text, image in zip(self._texts, self._images, strict=False):
            yield text
            yield self._pictures.encode(image)
        last = self._texts[-1]
        tail_start = max(0, len(last) - 1) // _PIECE * _PIECE
        for start in range(0, tail_start, _PIECE):
            yield last[start : start + _PIECE]
        self.left = True
        yield last[tail_start:]

    @property
    def headers(self) -> dict[str, str]:
        """Length and type, known before sending."""
        return {"content-type": "application/json", "content-length": str(self.length)}


def assemble_body(
    build: Callable[[Show], dict[str, Any]], request: Request, pictures: PictureCache
) -> RequestBody:
    """Build the body of a request, with its pictures still in their files.

    Raises ImageCountError if the body shows other pictures than the conversation, by number or
    order.
    """
    parts: list[ImagePart] = []

    def show(image: ImagePart) -> PicturePayload:
        parts.append(image)
        return PicturePayload(pictures.media_type(image), f"{_MARK}{len(parts) - 1}{_MARK}")

    text = json.dumps(build(show), separators=(",", ":"))
    pieces = text.split(_MARK)
    meant = request.conversation.images
    sent = [parts[int(number)] for number in pieces[1::2]]
    if sent != meant:
        raise ImageCountError(
            f"problem {request.tags.problem!r}: the conversation has {len(meant)} images and the "
            f"body {len(sent)}, or their order differs; nothing was sent. This is a bug in "
            "omibench"
        )
    return RequestBody([piece.encode() for piece in pieces[::2]], sent, pictures)


# The common parts of all providers' replies: price, split samples, separate reasoning.

_CLOSE = "</think>"
_OPEN = re.compile(r"\s*<think>")
_SNAPSHOT = re.compile(r"[-@:](?:\d{4}-?\d{2}-?\d{2}|\d{3,4}|latest|preview|exp)(?=[-@:]|$)")

CUT = {
    "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"
}  # fmt: skip
"""Finish reasons of replies that reached a limit of tokens."""
_BROKEN_OFF = {
    "error", "abort", "aborted", "cancelled", "canceled", "failed", "timeout", "network_error",
    "server_error", "engine_error", "internal_error", "insufficient_system_resource",
    "malformed_function_call",
}  # fmt: skip
"""Finish reasons of replies that the server did not finish (vLLM, SGLang, OpenRouter, DeepSeek,
GLM, Gemini)."""
MOST_LISTED = 20
"""Maximum alternatives of one token that endpoints list."""
IMPOSSIBLE = -9999.0
"""Value that endpoints return instead of a log-probability for excluded tokens."""
PAGE = "is a page of HTML"
"""Text by which a failure reports a login page, a portal or a proxy."""
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,4000}?-->\s*)?<(?:!doctype\s+html|html)\b", re.I | re.S
)

Json = Mapping[str, Any]
MARK = "\ufffc"
"""Marks a picture while a text is split: Unicode's object replacement character."""


def is_broken_off(response: Response) -> bool:
    """Whether the server did not finish a response."""
    return (response.finish_reason or "").lower() in _BROKEN_OFF


def compute_cost(price: Price | None, usage: Usage, *, batch: bool = False) -> float | None:
    """Return the cost of one call in US dollars; None without a price or a token count."""
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    named = usage.model_dump(exclude={"input_tokens", "output_tokens", "cached_tokens"})
    return price.compute_dollars(
        usage.input_tokens, usage.output_tokens, usage.cached_tokens or 0, batch=batch, **named
    )


def is_counted(usage: Usage) -> bool:
    """Return whether the provider counted tokens: then even a reply without content is billed."""
    return usage.input_tokens is not None or usage.output_tokens is not None


def divide_usage(usage: Usage, samples: int) -> list[Usage]:
    """Divide the tokens of one call over its samples as evenly as whole numbers allow.

    A provider counts tokens per call, not per sample; the shares add up to its count.
    """
    counts = usage.model_dump()
    return [
        Usage(
            **{
                name: None if total is None else total // samples + (i < total % samples)
                for name, total in counts.items()
            }
        )
        for i in range(samples)
    ]


def add_costs(
    responses: Sequence[Response],
    usage: Usage,
    model: ServedModel,
    reply: Json,
    batch: bool,
) -> list[Response]:
    """Add the facts of a call to its samples: tokens, dollars, serving model."""
    cost = compute_cost(model.price, usage, batch=batch)
    served = as_text(reply.get("model"))
    shared = {
        "cost_usd": None if cost is None else cost / len(responses),
        "provider_id": as_text(reply.get("id")) or None,
        "served_model": served if served and served != model.id else None,
        "sampling": None if model.can.temperature else "provider_default",
    }
    usages = divide_usage(usage, len(responses))
    return [
        response.model_copy(update={**shared, "usage": sample_usage})
        for response, sample_usage in zip(responses, usages, strict=True)
    ]


def split_reasoning(text: str, reasoning: str) -> tuple[str, str | None]:
    """Split the answer from the reasoning that some models write as `<think>...</think>`.

    The opening tag can be in the prompt: then everything up to the last closing tag is reasoning.
    Reasoning that is never closed leaves no answer.
    """
    if _CLOSE in text:
        thought, _, text = text.rpartition(_CLOSE)
        reasoning += _OPEN.sub("", thought, count=1)
        text = text.lstrip()
    elif opened := _OPEN.match(text):
        reasoning, text = reasoning + text[opened.end() :], ""
    return text, reasoning.strip() or None


class Reply(NamedTuple):
    """A reply's text and reasoning, and the pictures drawn in it, with their places in the text."""

    text: str
    reasoning: str | None
    drawn: tuple[DrawnPart, ...] = ()
    drawn_at: tuple[int, ...] = ()


def split_reply(pieces: Iterable[str | DrawnPart | None], reasoning: str = "") -> Reply:
    """Split text and pictures in sequence as `split_reasoning` splits text.

    A picture that was drawn within the reasoning stands before the text. At most `MOST_PICTURES`
    are kept; a skipped one is None.
    """
    marked: list[str] = []
    drawn: list[DrawnPart] = []
    for piece in pieces:
        if isinstance(piece, str):
            marked.append(piece.replace(MARK, ""))
        elif piece is not None and len(drawn) < MOST_PICTURES:
            marked.append(MARK)
            drawn.append(piece)
        elif piece is not None:
            skip_picture(f"only {MOST_PICTURES} are kept per reply")
    text, thoughts = split_reasoning("".join(marked), reasoning)
    if not drawn:
        return Reply(text, thoughts)
    runs = text.split(MARK)
    ends = [*accumulate(map(len, runs[:-1]))]
    places = (*[0] * (len(drawn) - len(ends)), *ends)
    thoughts = thoughts and thoughts.replace(MARK, "")
    return Reply("".join(runs), thoughts, tuple(drawn), places)


def classify_outcome(text: str, *, cut: bool, refused: bool, called: bool = False) -> Outcome:
    """Return the outcome of a finished reply; without text or calls it is `empty`."""
    if refused:
        return "refused"
    if cut:
        return "truncated"
    return "answered" if text.strip() or called else "empty"


def same_family(requested: str, served: str) -> bool:
    """Return whether the model `served` can be the requested one: an alias or a dated snapshot."""
    requested_stem, served_stem = _stem(requested), _stem(served)
    return requested_stem.startswith(served_stem) or served_stem.startswith(requested_stem)


def parse_json(body: bytes) -> Any:
    """Parse the JSON value of a body without lone surrogates and known keys.

    Raises ValueError if it is not JSON or nested too deeply.
    """
    try:
        value = json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    value = mask_keys(value, body)
    return replace_surrogates(value) if may_hold_surrogates(body) else value


def parse_reply(content: bytes) -> Any:
    """Parse the JSON of an endpoint's reply; Failure if it is none.

    The SDKs parse replies leniently (a page of HTML becomes a str, a truncated body a partial
    object), so the raw reply is parsed here. A page, as portals and proxies send it, is free: the
    request reached no model.
    """
    try:
        return parse_json(content)
    except ValueError:
        if _PAGE.match(content):
            page = unreadable(f"{PAGE} ({len(content)} bytes)")
            raise replace(page, maybe_paid=False) from None
        raise unreadable(f"is truncated or not JSON ({len(content)} bytes)") from None


def as_object(value: object) -> Json:
    """Return the value if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_objects(value: object) -> list[Json]:
    """Return the objects of a JSON list; empty for anything else."""
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, list) else []


def count(value: object) -> int | None:
    """Return a number of tokens from a provider's value, or None."""
    tokens = number(value)
    return int(tokens) if tokens is not None and tokens >= 0 else None


def number(value: object) -> float | None:
    """Return a finite JSON number, or None: Python's parser accepts NaN and Infinity."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None  # type: ignore[arg-type]


def as_text(value: object) -> str:
    """Return the value if it is text, else an empty text."""
    return value if isinstance(value, str) else ""


def no_answer() -> Failure:
    """Build the failure of a reply without content that nothing shows to be an answer."""
    return unreadable("contains neither an answer nor a count of tokens")


def unreadable(defect: str) -> Failure:
    """Build the failure of a 200 without a valid reply: possibly billed, and worth a retry."""
    return Failure(f"the reply {defect}", status=200, transient=True)


def _stem(model: str) -> str:
    """Return the stem of a model name: `gpt-5` for `models/GPT-5-2026-01-02` and `openai/gpt-5`."""
    return _SNAPSHOT.sub("", model.lower().rsplit("/", 1)[-1])


# Turns with tools in the format of the APIs, and the calls in replies.

MOST_CALLS = 64
"""Maximum calls kept per reply."""


def move_pictures(
    messages: Sequence[Message], roles: Collection[str] = ("tool",)
) -> Iterator[Message]:
    """Rearrange turns for APIs that take only text in the turns of `roles`.

    The pictures of neighbouring tool turns follow in a user turn, each with its text, before the
    user's next words; so do those of an assistant's turn, without its text.
    """
    waiting: list[Message] = []
    for message in messages:
        drawn = tuple(part for part in message.parts if isinstance(part, ImagePart))
        if drawn and message.role in roles and message.role == "assistant":
            waiting.append(message.model_copy(update={"parts": drawn}))
            words = _texts(message) or write_turn("assistant", "[image]").parts
            yield message.model_copy(update={"parts": words})
            continue
        if message.role == "tool" and "tool" not in roles:
            yield message
            continue
        if message.role == "tool":
            yield message.model_copy(update={"parts": _texts(message)})
            waiting += [message] if len(_texts(message)) < len(message.parts) else []
            continue
        parts = tuple(part for turn in waiting for part in turn.parts)
        waiting = []
        if parts and message.role == "user":
            yield message.model_copy(update={"parts": (*parts, *message.parts)})
            continue
        if parts:
            yield Message(role="user", parts=parts)
        yield message
    if waiting:
        yield Message(role="user", parts=tuple(part for turn in waiting for part in turn.parts))


def join_texts(message: Message) -> str:
    """Return the text of a turn."""
    return "\n".join(part.text for part in _texts(message))


def describe_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Return tools in the format of chat completions and chat templates."""
    return [{"type": "function", "function": tool.model_dump()} for tool in tools]


def read_chat_calls(message: Json) -> tuple[ToolCall, ...]:
    """Return the calls in a message of a chat completion."""
    return tuple(
        parse_call(call.get("id"), function.get("name"), function.get("arguments"))
        for call in as_objects(message.get("tool_calls"))[:MOST_CALLS]
        for function in [as_object(call.get("function"))]
    )


def read_chat_pieces(message: Json) -> Iterator[str | DrawnPart | None]:
    """Return the text and the pictures of a chat completion in sequence.

    The pictures are in its content, or in `images`, which follow the text.
    """
    content = message.get("content")
    if isinstance(content, str):
        yield content
    for part in [*as_objects(content), *as_objects(message.get("images"))]:
        yield as_text(part.get("text"))
        yield decode_picture(_in_part(part))


def _in_part(part: Json) -> str:
    """Return the base64 of a part in any known format; empty for other parts."""
    url = part.get("image_url")
    places: tuple[object, ...] = (
        url if isinstance(url, str) else as_object(url).get("url"),
        as_object(part.get("inline_data") or part.get("inlineData")).get("data"),
        as_object(part.get("source")).get("data"),
        part.get("b64_json"),
    )
    return next(filter(None, map(as_text, places)), "")


def parse_call(id: object, name: object, arguments: object) -> ToolCall:
    """Parse a call of a server: its arguments are JSON text or, against the specification, JSON."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolCall(id=as_text(id), name=as_text(name), arguments=written)


def _texts(message: Message) -> tuple[TextPart, ...]:
    return tuple(part for part in message.parts if not isinstance(part, ImagePart))


def score_from_list(response: Response, reply: object, options: Sequence[str]) -> Response:
    """Read the options' scores from the listed alternatives of a one-token chat completion.

    Spellings that differ only in white space are added up. An option that is not listed has no
    log-probability; if none is listed, the request failed.
    """
    choices = as_objects(as_object(reply).get("choices"))
    content = as_objects(as_object(choices[0].get("logprobs")).get("content")) if choices else []
    listed = as_objects(content[0].get("top_logprobs")) if content else []
    logprobs = {option: value for option in options if (value := _sum(listed, option)) is not None}
    if not logprobs:
        reason = "lists none of the options" if listed else "contains no log-probabilities"
        failed = f"the endpoint's reply {reason}: it cannot score options"
        return response.model_copy(
            update={"text": "", "outcome": "provider_error", "error": failed, "passing": False}
        )
    fields = {"text", "outcome", "finish_reason", "option_logprobs", "logprob"}
    scored = make_scored_response(logprobs).model_dump(include=fields)
    return response.model_copy(update=scored)


def _sum(listed: Sequence[Json], option: str) -> float | None:
    spellings = [row for row in listed if as_text(row.get("token")).strip() == option]
    values = [number(row.get("logprob")) for row in spellings]
    logprobs = [min(0.0, v) for v in values if v is not None and v > IMPOSSIBLE]
    return add_logprobs(logprobs) if logprobs else None
