"""What all blocks of models share: identity, display, and the fields of served models.

A provider's block derives from `ServedModel`, or from `ApiModel` or `local.LocalModel` if one fits.
Everything that other packages need to know about a model (whether it is paid, uses batches, reads
files) is a property here, so that providers of plug-ins work like built-in ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from omibench.params.blocks import Block, Name, Rate, Url, Variable
from omibench.params.roles import Display, Request, Role, Runtime, select_fields

_MONTH = r"\d{4}-\d{2}(-\d{2})?"

Positive = Annotated[float, Field(gt=0)]


def _read_month(value: object) -> str:
    text = value.isoformat() if isinstance(value, date) else str(value)
    try:
        if re.fullmatch(_MONTH, text):
            date.fromisoformat(f"{text}-01"[: len("2025-06-30")])
            return text
    except ValueError:
        pass
    raise ValueError("is not a month or day; write it as 2025-06 or 2025-06-30")


Month = Annotated[str, StringConstraints(pattern=f"^{_MONTH}$"), BeforeValidator(_read_month)]
"""A month or day such as `2025-06`, quoted or not."""
ImageTokens = Literal["openai-tiles", "openai-patches", "anthropic", "gemini", "qwen-vl"]


class ModelBlock(Block):
    """One model of a study. Its fields are identity unless marked otherwise."""

    is_simulated: ClassVar[bool] = False
    """Whether its answers are simulated, so that every result based on them is marked SIMULATED."""
    is_recorded: ClassVar[bool] = False
    """Whether it only replays recorded responses, possibly not all."""
    is_free: ClassVar[bool] = False
    """Whether its requests cost nothing. Any other model needs a price under a study's budget."""

    provider: str
    label: Display[str | None] = None
    """Name in tables and figures; default: the key of the block."""
    group: Display[str | None] = None
    """Heading of the model's group in tables."""
    parameters_b: Display[Positive | None] = None
    """Total parameters in billions (10^9), if published."""
    active_parameters_b: Display[Positive | None] = None
    """Parameters active per token, if fewer (mixture of experts)."""
    weights: Display[Literal["open", "closed"] | None] = None
    """Whether the weights can be downloaded; results can be sliced by it."""
    base: Display[Name | None] = None
    """The model that this one was fine-tuned from (a key of `models`); tables show its gain."""
    family: Display[str | None] = None
    """Model series with several sizes, such as `Qwen3-VL`; its models form one curve over
    parameters."""
    variant: Display[Literal["instruct", "thinking"] | None] = None
    """Distinguishes two releases of one size, if a family has a model with and one without
    thinking: they are compared (OMIBench, G.3)."""
    cutoff: Display[Month | None] = None
    """End of its training data as published, such as `2025-06`: accuracies on older and on newer
    exams are compared."""
    retired: Display[Month | None] = None
    """When its endpoint was or will be shut down, as its provider's documentation says; `plan` and
    `run` remark on it."""

    @property
    def is_paid(self) -> bool:
        """Whether requests cost dollars and count against the study's budget."""
        return not self.is_free

    @property
    def lacks_price(self) -> bool:
        """Whether it costs an unknown amount, because its block has no price."""
        return self.is_paid

    @property
    def is_batch(self) -> bool:
        """Whether it uses a provider's batch API."""
        return False

    @property
    def max_images(self) -> int | None:
        """Maximum images in one request; None without a limit."""
        return None

    @property
    def tools(self) -> frozenset[str] | None:
        """The tools that it carries out for other models instead of answering; None: any, as a
        simulated model does."""
        return frozenset()

    @property
    def gives_reward(self) -> bool:
        """Whether it returns a number per response instead of text, as a reward head does."""
        return False

    @property
    def takes_temperature(self) -> bool:
        """Whether it uses the temperature of a setting, and is deterministic at 0."""
        return True

    @property
    def context(self) -> int | None:
        """Context length of prompt and reply together in tokens; None if unknown."""
        return None

    @property
    def named_settings(self) -> Collection[str]:
        """The settings listed in its block."""
        return ()

    def files(self, data: str | None, setting: str | None = None) -> list[str]:
        """Return the files with its answers.

        Args:
            data: The study's folder of benchmark files, if any.
            setting: One setting; None for all of them.
        """
        return []

    @property
    def identity_fields(self) -> dict[str, Any]:
        """The provider and every identity field with a non-default value."""
        values = self.model_dump(mode="json", exclude_defaults=True)
        return {"provider": self.provider} | select_fields(type(self), values, (Role.IDENTITY,))

    @property
    def store_identity(self) -> dict[str, Any]:
        """The part of the keys of its requests that its block determines."""
        return self.identity_fields

    @model_validator(mode="after")
    def _active_are_part_of_all(self) -> Self:
        if (self.active_parameters_b or 0) > (self.parameters_b or float("inf")):
            raise ValueError("active_parameters_b is larger than parameters_b")
        return self


class Capabilities(Block):
    """Declared abilities of an endpoint; checked before anything is sent."""

    samples: Runtime[bool] = False
    """Several samples of one conversation per request (`n`); otherwise one request per sample."""
    seed: Request[bool] = False
    logprobs: Request[bool] = False
    prefill: Request[bool] = False
    """Whether it continues a final assistant turn if a request sets `continue_final_message`, as
    vLLM and SGLang servers do."""
    temperature: Request[bool] = True
    """Whether the endpoint takes a temperature; if not, the responses are stored as sampled by
    default."""
    images: Runtime[Annotated[int, Field(ge=0)] | None] = None
    """Maximum images per request."""
    image_mb: Runtime[Positive | None] = None
    """Maximum size of one image in megabytes (10^6 bytes)."""


class Limits(Block):
    """Limits of an endpoint. Concurrency adapts automatically up to `concurrency`."""

    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    concurrency: Annotated[int, Field(ge=1)] = 32
    """Maximum requests in flight, per process of this machine."""
    timeout_s: Positive = 600.0
    """Time limit of one attempt in seconds."""
    attempts: Annotated[int, Field(ge=1)] = 8
    """Attempts per request before it ends as `provider_error`."""
    retry_after_s: Positive = 900.0
    """Longest Retry-After to wait for; a longer one ends the request."""
    outage_s: Positive = 1800.0
    """Seconds that an endpoint can be unavailable or reject everything before it is given up."""
    drain_s: Annotated[float, Field(ge=0)] = 20.0
    """Seconds to wait for requests in flight after the run was told to stop."""


NAMED_PRICES: Final[Mapping[str, str]] = {
    "cached_input": "input",
    "audio_input": "input",
    "image_input": "input",
    "audio_output": "output",
    "image_output": "output",
    "reasoning": "output",
}
"""The prices of tokens with a name, and the total that contains these tokens."""


class Draws(Block):
    """The pictures that a model can draw within a reply."""

    pictures: Annotated[int, Field(ge=1, le=16)] = 4
    """Maximum pictures of one reply."""
    tokens: Annotated[int, Field(ge=2, le=100_000)]
    """Output tokens of one picture. A local model draws squares of at most so many tokens."""


class Price(Block):
    """US dollars per million tokens, as published by the provider on the given day."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached_input: Annotated[float, Field(ge=0)] | None = None
    audio_input: Annotated[float, Field(ge=0)] | None = None
    """Tokens of sound; default: as `input`. The same holds for the other prices by name."""
    image_input: Annotated[float, Field(ge=0)] | None = None
    """Tokens of pictures, if the provider counts them separately."""
    reasoning: Annotated[float, Field(ge=0)] | None = None
    audio_output: Annotated[float, Field(ge=0)] | None = None
    image_output: Annotated[float, Field(ge=0)] | None = None
    batch: Rate = 0.5
    """Price of the batch API as a share of the full price."""
    as_of: date
    """Day of the price list."""

    def compute_dollars(
        self,
        input_tokens: float,
        output_tokens: float,
        cached_tokens: float = 0,
        *,
        batch: bool,
        **named: float | None,
    ) -> float:
        """Return the cost of token counts in US dollars.

        Args:
            input_tokens: All tokens of the input, including those with a name.
            output_tokens: All tokens of the output, including those with a name.
            cached_tokens: Tokens of the input read from a cache.
            batch: Whether the batch API was used.
            named: Counts of `NAMED_PRICES` as in `Usage` (`audio_input_tokens`, ...). A token costs
                one price: that of the first name in `NAMED_PRICES` that has a price.
        """
        left = {"input": input_tokens, "output": output_tokens}
        dollars = 0.0
        for name, side in NAMED_PRICES.items():
            price = getattr(self, name)
            tokens = cached_tokens if name == "cached_input" else named.get(f"{name}_tokens") or 0
            if price is not None:
                paid = min(tokens, left[side])
                left[side] -= paid
                dollars += paid * price
        dollars = (dollars + left["input"] * self.input + left["output"] * self.output) / 1e6
        return dollars * self.batch if batch else dollars

    def highest(self, side: str) -> float:
        """Return the highest price of a token of the `input` or `output`."""
        names = [side, *(name for name, of in NAMED_PRICES.items() if of == side)]
        return max(getattr(self, name) or 0.0 for name in names)


class ServedModel(ModelBlock):
    """The common fields of models that answer real requests."""

    cache_write_factor: ClassVar[float] = 1.0
    """Price of a token written to a cache relative to an input token, by the provider's list."""

    id: str
    """The served id, as used by the endpoint or hub."""
    revision: str | None = None
    """Snapshot, quantisation or commit, if the id alone does not determine the weights."""
    endpoint: str = "default"
    """Class of the endpoint, such as `azure` or `self-hosted`, if answers can depend on it."""
    can: Capabilities = Capabilities()
    limits: Runtime[Limits] = Limits()
    price: Runtime[Price | None] = None
    image_tokens: Runtime[ImageTokens | None] = None
    """The provider's published formula for the tokens of an image."""
    draws: Runtime[Draws | None] = None
    """What the model draws, for the estimate of costs: until replies of it are stored, a plan
    expects `pictures` in each."""
    context_tokens: Request[Annotated[int, Field(ge=1)] | None] = None
    """Context length of prompt and reply together in tokens, needed to fit candidates into it."""

    @property
    def is_paid(self) -> bool:
        """A model is paid unless it is declared free and has no price either."""
        return not self.is_free or self.price is not None

    @property
    def lacks_price(self) -> bool:
        """Paid, but without a price."""
        return self.is_paid and self.price is None

    @property
    def max_images(self) -> int | None:
        """See `can.images`."""
        return self.can.images

    @property
    def takes_temperature(self) -> bool:
        """See `can.temperature`."""
        return self.can.temperature

    @property
    def context(self) -> int | None:
        """See `context_tokens`."""
        return self.context_tokens

    def image_options(self, formula: ImageTokens) -> dict[str, Any]:
        """Return the options of the block for a formula of image tokens."""
        return {}


class ApiModel(ServedModel):
    """A model behind an API: with an address, a key and usually a price."""

    default_url: ClassVar[str] = ""
    """Address used without a `base_url`."""
    url_env: ClassVar[str] = ""
    """Environment variable of the provider's client for another address."""
    list_api: ClassVar[Literal["openai", "anthropic"]] = "openai"
    """The API by which its endpoint lists the served models."""

    base_url: Runtime[Url | None] = None
    key_env: Runtime[Variable] = "OMIBENCH_API_KEY"
    """Environment variable with the API key; the key itself must never be in a file."""
    batch: Runtime[bool] = False
    """Use the provider's batch API: cheaper, answers within a day."""

    @property
    def is_batch(self) -> bool:
        """See the field `batch`."""
        return self.batch

    def as_probe(self) -> Self:
        """Return the model for one small request: direct, without options that enlarge it."""
        return self.model_copy(update={"batch": False})


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return `Model`, which tests of plug-ins of version 0.1 import from here."""
        if name != "Model":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from omibench.params.models.registry import Model

        return Model
