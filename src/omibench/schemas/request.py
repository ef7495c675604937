"""The nouns of asking: Conversation, Decoding, Request and Response.

A request is keyed by what a model can see of it (design, section 5): its conversation, decoding,
sample index and the model's identity. Tags say what a request is for; they are outside the key
and never sent. Only the `simulated` and `recorded` providers read them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from omibench.schemas.problem import Noun

Role = Literal[
    "respondent", "judge", "grader", "extractor", "rater", "aligner", "classifier", "marker",
    "referee", "captioner", "perceiver", "translator", "voter", "labeller",
    "page_reader", "formula_reader", "rationale_writer", "scorer", "assessor", "embedder",
]  # fmt: skip
Outcome = Literal["answered", "truncated", "refused", "empty", "provider_error", "budget_stop"]
NOT_BOUGHT: frozenset[Outcome] = frozenset({"provider_error", "budget_stop"})
"""Outcomes that a later run tries again: they are returned, and not kept as an answer."""


class TextPart(Noun):
    """A run of text inside a message."""

    kind: Literal["text"] = "text"
    text: str


ABSENT = "absent:"


class ImagePart(Noun):
    """A picture inside a message: `sha256` of its bytes is its identity, `path` finds them.

    For one that is absent from its benchmark, `absent:` and its name stand for the hash. `patch`
    (x, y, side; pixels from the top left corner) is a black square that is laid over the picture
    when it is shown; the file stays as it is.
    """

    kind: Literal["image"] = "image"
    sha256: str
    path: str = ""
    patch: tuple[int, int, int] | None = None

    @property
    def content_key(self) -> str:
        """What is shown, as one word: equal for equal bytes under an equal patch."""
        if self.patch is None:
            return self.sha256
        return "-".join([self.sha256, *map(str, self.patch)])

    @property
    def absent(self) -> str | None:
        """The name of a picture that is not there, which no model can be shown."""
        return self.sha256.removeprefix(ABSENT) if self.sha256.startswith(ABSENT) else None


class DrawnPart(ImagePart):
    """A picture fresh from a model, its bytes with it until the store has them."""

    data: bytes = Field(repr=False)


Part = Annotated[TextPart | ImagePart, Field(discriminator="kind")]


class ToolSpec(Noun):
    """A tool that a model may call: `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]

    def __hash__(self) -> int:  # its schema is a dict, which has none
        return hash((self.name, self.description))


class ToolCall(Noun):
    """One call that a model made: `arguments` is the JSON text as it came, valid or not."""

    id: str
    name: str
    arguments: str


class Message(Noun):
    """One turn of a conversation. A `tool` turn holds what the call with the id `answers` gave."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Part, ...]
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant's turn: the tools that it called."""
    answers: str | None = None
    carried: str | None = None
    """Of an assistant's turn: its response's `carried`, for the provider that wrote it."""


class Conversation(Noun):
    """The messages of one request, text and images interleaved in the order they are sent.

    Where the last one is the assistant's, the model goes on with it, instead of beginning a turn.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    """Tools that are offered through the provider's own interface."""

    @property
    def images(self) -> list[ImagePart]:
        """Every image of every message, in order."""
        return [p for m in self.messages for p in m.parts if isinstance(p, ImagePart)]

    @property
    def text(self) -> str:
        """The words of the conversation with `[image]` where a picture stands."""
        return "\n".join(
            p.text if isinstance(p, TextPart) else "[image]" for m in self.messages for p in m.parts
        )


class Decoding(Noun):
    """How to decode: temperature in [0, 2], at most `max_tokens` new tokens, `samples` draws."""

    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    max_tokens: Annotated[int, Field(ge=1)] = 4096
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    samples: Annotated[int, Field(ge=1)] = 1


class Tags(Noun):
    """What a request is for. Outside its key, never sent to a model."""

    role: Role
    problem: str
    study: str = ""
    setting: str = ""


class Request(Noun):
    """One draw from one model: sample `index` of a conversation under a decoding."""

    conversation: Conversation
    decoding: Decoding = Decoding()
    index: Annotated[int, Field(ge=0)] = 0
    tags: Tags
    options: tuple[str, ...] = ()
    """Score these continuations by their log-probability instead of generating; empty: generate."""


class Usage(Noun):
    """Tokens of one response as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class Response(Noun):
    """What came back for one request. A failure is an outcome, never an answer text."""

    text: str
    """The visible answer; empty where there is none."""
    outcome: Outcome = "answered"
    """`answered`, or why there is no answer."""
    calls: tuple[ToolCall, ...] = ()
    """Tools that the model calls before it goes on."""
    drawn: tuple[ImagePart, ...] = ()
    """Pictures that the model drew; their bytes lie in the store's `images`."""
    carried: str | None = None
    """JSON that the provider wants back unchanged when its tools are answered: signed thinking."""
    option_logprobs: dict[str, float] | None = None
    """Log-probability (nats) of each of the request's options as what comes next."""
    finish_reason: str | None = None
    """As the provider says it: `stop`, `length`, ..."""
    reasoning: str | None = None
    """The thinking that the provider gives apart from the answer."""
    usage: Usage = Usage()
    """Tokens in and out."""
    cost_usd: float | None = None
    """US dollars; None where no price is known."""
    latency_s: float | None = None
    """Seconds from sending to the whole answer."""
    provider_id: str | None = None
    simulated: bool = False
    published_verdict: float | None = None
    """The verdict printed beside a recorded response, in [0, 1]; None for every other provider."""
    served_model: str | None = None
    """What the endpoint said that it was, where that is not the id that was asked for."""
    sampling: Literal["provider_default"] | None = None
    """`provider_default` where the endpoint took no temperature: it sampled as it always does."""
    logprob: float | None = None
    """Sum of the log-probabilities (nats) of the answer's tokens, where the endpoint gives them."""
    error: str | None = None
    """Why there is no answer, in one line without secrets: for `provider_error`, and for `refused`
    where the endpoint turned the request down."""
    passing: bool = False
    """Whether asking again later may go better; only for `provider_error`."""
