"""Data types of requests: Conversation, Decoding, Request and Response.

A request is keyed by its model-visible part (design, section 5): its conversation, decoding,
sample index and the model's identity. Tags state the purpose of a request; they are outside the
key and never sent. Only the `simulated` and `recorded` providers read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import Field

from omibench.schemas.problem import FrozenModel
from omibench.text.masking import replace_surrogates

Role = Literal[
    "respondent", "judge", "grader", "extractor", "rater", "aligner", "classifier", "marker",
    "referee", "captioner", "perceiver", "translator", "voter", "labeller",
    "page_reader", "formula_reader", "rationale_writer", "scorer", "assessor", "embedder", "tool",
]  # fmt: skip
Outcome = Literal["answered", "truncated", "refused", "empty", "provider_error", "budget_stop"]
NOT_BOUGHT: frozenset[Outcome] = frozenset({"provider_error", "budget_stop"})
"""Outcomes that a later run retries: they are returned but not stored."""
READABLE: tuple[Outcome, ...] = ("answered", "truncated")
"""Outcomes with a text that a person or judge can read."""


class TextPart(FrozenModel):
    """A run of text inside a message."""

    kind: Literal["text"] = "text"
    text: str


ABSENT = "absent:"


class ImagePart(FrozenModel):
    """A picture inside a message, identified by the `sha256` of its bytes; `path` is their
    location.

    For a picture missing from its benchmark, `absent:` and its name replace the hash. `patch`
    (x, y, side; pixels from the top left corner) is a black square drawn over the picture when
    it is shown; the file is unchanged.
    """

    kind: Literal["image"] = "image"
    sha256: str
    path: str = ""
    patch: tuple[int, int, int] | None = None

    @property
    def content_key(self) -> str:
        """Identity of the shown picture: equal for equal bytes with an equal patch."""
        if self.patch is None:
            return self.sha256
        return "-".join([self.sha256, *map(str, self.patch)])

    @property
    def absent(self) -> str | None:
        """Name of a missing picture, which cannot be shown to a model."""
        return self.sha256.removeprefix(ABSENT) if self.sha256.startswith(ABSENT) else None


class DrawnPart(ImagePart):
    """A picture drawn by a model, with its bytes until they are in the store."""

    data: bytes = Field(repr=False)


Part = Annotated[TextPart | ImagePart, Field(discriminator="kind")]


class ToolSpec(FrozenModel):
    """A tool that a model can call: `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]

    def __hash__(self) -> int:  # its schema is a dict, which is not hashable
        return hash((self.name, self.description))


class ToolCall(FrozenModel):
    """One tool call of a model: `arguments` is the unchanged JSON text, valid or not."""

    id: str
    name: str
    arguments: str


class Message(FrozenModel):
    """One turn of a conversation. A `tool` turn contains the result of the call with the id
    `answers`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Part, ...]
    calls: tuple[ToolCall, ...] = ()
    """For an assistant's turn: its tool calls."""
    answers: str | None = None
    carried: str | None = None
    """For an assistant's turn: the `carried` data of its response, for its provider."""


def write_turn(role: Literal["system", "user", "assistant"], text: str) -> Message:
    """Return a turn of one text."""
    return Message(role=role, parts=(TextPart(text=text),))


class Conversation(FrozenModel):
    """Messages of one request, with text and images interleaved in the order they are sent.

    If the last one is the assistant's, the model continues it instead of starting a new turn.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    """Tools offered through the provider's own interface."""

    @property
    def images(self) -> list[ImagePart]:
        """Every image of every message, in order."""
        return [p for m in self.messages for p in m.parts if isinstance(p, ImagePart)]

    @property
    def text(self) -> str:
        """Text of the conversation with `[image]` in place of pictures."""
        return "\n".join(
            p.text if isinstance(p, TextPart) else "[image]" for m in self.messages for p in m.parts
        )


def converse(system: str, parts: Iterable[Part], turns: Sequence[Message] = ()) -> Conversation:
    """Return a conversation: the system's text, if any, earlier turns, and the user's turn."""
    first = (write_turn("system", system),) if system else ()
    return Conversation(messages=(*first, *turns, Message(role="user", parts=tuple(parts))))


class Decoding(FrozenModel):
    """Decoding parameters: temperature in [0, 2], `max_tokens` new tokens, `samples` draws."""

    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    max_tokens: Annotated[int, Field(ge=1)] = 4096
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    samples: Annotated[int, Field(ge=1)] = 1


class Tags(FrozenModel):
    """Purpose of a request. Outside its key, never sent to a model."""

    role: Role
    problem: str
    study: str = ""
    setting: str = ""


class Request(FrozenModel):
    """One draw from one model: sample `index` of a conversation under a decoding."""

    conversation: Conversation
    decoding: Decoding = Decoding()
    index: Annotated[int, Field(ge=0)] = 0
    tags: Tags
    options: tuple[str, ...] = ()
    """Continuations to score by log-probability instead of generating; empty means generate."""


STOPPED = "stopped"
"""`finish_reason` of code whose process ended before it, so that its variables are lost."""


class Usage(FrozenModel):
    """Tokens of one response as reported by the provider; None if not reported."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    audio_input_tokens: int | None = None
    image_input_tokens: int | None = None
    audio_output_tokens: int | None = None
    image_output_tokens: int | None = None


class Response(FrozenModel):
    """Result of one request. A failure is an outcome, never an answer text."""

    text: str
    """Visible text; empty if there is none."""
    outcome: Outcome = "answered"
    """`answered`, or why the text is missing."""
    calls: tuple[ToolCall, ...] = ()
    """Tool calls to run before the model continues."""
    drawn: tuple[ImagePart, ...] = ()
    """Pictures drawn by the model, in order; their bytes are in the store's `images`."""
    drawn_at: tuple[int, ...] = ()
    """For each picture, the number of characters of `text` before it; empty: all follow it."""
    carried: str | None = None
    """JSON that the provider needs back unchanged with the tool results: signed reasoning."""
    option_logprobs: dict[str, float] | None = None
    """Log-probability (nats) of each of the request's options as the continuation."""
    finish_reason: str | None = None
    """As reported by the provider: `stop`, `length`, ..."""
    reasoning: str | None = None
    """Reasoning that the provider returns separately."""
    usage: Usage = Usage()
    """Tokens in and out."""
    cost_usd: float | None = None
    """US dollars; None without a known price."""
    latency_s: float | None = None
    """Seconds from sending to the complete response."""
    provider_id: str | None = None
    simulated: bool = False
    published_verdict: float | None = None
    """Verdict printed with a recorded response, in [0, 1]; None for every other provider."""
    served_model: str | None = None
    """Model reported by the endpoint, if it differs from the requested id."""
    sampling: Literal["provider_default"] | None = None
    """`provider_default` if the endpoint accepted no temperature and sampled with its default."""
    logprob: float | None = None
    """Sum of the log-probabilities (nats) of the response's tokens, if reported."""
    error: str | None = None
    """Why the response is missing, in one line without secrets: for `provider_error`, and for
    `refused` if the endpoint rejected the request.
    """
    passing: bool = False
    """Whether a later retry can succeed; only for `provider_error`."""


Picture = TypeVar("Picture")


def split_at_pictures(
    text: str, pictures: Sequence[Picture], places: Sequence[int]
) -> Iterator[str | Picture]:
    """Yield the runs of a response's text and its pictures in order, without empty runs.

    `places` are as in `Response.drawn_at`; pictures without a place follow the text.
    """
    start = 0
    for number, picture in enumerate(pictures):
        end = places[number] if number < len(places) else len(text)
        if text[start:end]:
            yield text[start:end]
        yield picture
        start = max(start, end)
    if text[start:]:
        yield text[start:]


def list_reply_parts(response: Response, text: str | None = None) -> tuple[Part, ...]:
    """Return a response as parts of the assistant's turn, with its pictures at their places.

    If `text` replaces the response's, the pictures follow it. A picture in the middle of a word of
    the text is kept there. Without text and pictures, nothing is returned.
    """
    places = response.drawn_at if text in (None, response.text) else ()
    runs = split_at_pictures(response.text if text is None else text, response.drawn, places)
    parts = (TextPart(text=run) if isinstance(run, str) else run for run in runs)
    return tuple(part for part in parts if isinstance(part, ImagePart) or part.text.strip())


def write_reply(response: Response, text: str | None = None) -> Message:
    """Return a response as the assistant's turn of the next request; see `list_reply_parts`."""
    parts = list_reply_parts(response, text) or (TextPart(text=""),)
    return Message(role="assistant", parts=parts)


# Tool calls that a model writes as text: fenced blocks, each with one JSON object.
#
# The form is strict: a line ```` ```tool ````, an object with only `tool` and `arguments`, a line
# ```` ``` ````. The calls of a reply are the first run of such blocks; text after them was written
# before any result was known and is ignored.

OPENING, CLOSING = "```tool", "```"
NOT_YET = "do not solve the problem yet"
"""Part of the instructions in a turn that only reads the pictures."""
LONGEST = 8000
"""Maximum characters of one call; longer ones are not parsed."""


class ReplyWithCalls(NamedTuple):
    """A reply with calls: the text before them, and the calls.

    An invalid block has the name "" and the reason as its arguments.
    """

    before: str
    calls: list[ToolCall]


def write_call(name: str, arguments: str) -> str:
    """Format a call as a model writes it; `arguments` is JSON text."""
    return f'{OPENING}\n{{"tool": {json.dumps(name)}, "arguments": {arguments}}}\n{CLOSING}'


def read_calls(text: str) -> ReplyWithCalls | None:
    """Parse the calls in a reply; None if it makes none. Never raises, takes linear time."""
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if line.rstrip() == OPENING), None)
    if first is None:
        return None
    blocks = _blocks(lines[first:])
    calls = [_call(f"call_{n}", body) for n, body in enumerate(blocks, start=1)]
    return ReplyWithCalls("\n".join(lines[:first]).strip(), calls)


def _blocks(lines: list[str]) -> Iterator[str]:
    """Return the bodies of the first run of blocks; an unclosed block ends with the text."""
    body: list[str] | None = None
    for line in lines:
        stripped = line.rstrip()
        if body is not None and stripped == CLOSING:
            yield "\n".join(body)
            body = None
        elif body is not None:
            body.append(line)
        elif stripped == OPENING:
            body = []
        elif stripped:
            return
    if body is not None:
        yield "\n".join(body)


def _call(id: str, body: str) -> ToolCall:
    try:
        name, arguments = _parts(body)
    except (ValueError, RecursionError) as error:
        return ToolCall(id=id, name="", arguments=str(error))
    return ToolCall(id=id, name=name, arguments=json.dumps(arguments))


def _parts(body: str) -> tuple[str, dict[str, Any]]:
    if len(body) > LONGEST:
        raise ValueError(f"it has {len(body)} characters, and {LONGEST} are read")
    try:
        call = json.loads(body, strict=False)  # code is written with its line ends
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg} at character {error.pos}") from None
    is_call = isinstance(call, dict) and set(call) == {"tool", "arguments"}
    if not is_call or not isinstance(call["tool"], str) or not isinstance(call["arguments"], dict):
        raise ValueError('it is no object {"tool": "<name>", "arguments": {...}}')
    return replace_surrogates(call["tool"]), replace_surrogates(call["arguments"])
