"""What the blocks of all models share: identity and display, and what a served model has.

A provider's block derives from `ServedModel`, or from `ApiModel` or `LocalModel` where one fits.
What others ask about a model (is it paid, is it asked in batches, which files does it read) is a
property here, so that a provider of a plug-in answers it as a built-in one does.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from omibench.params.blocks import Block, Name, Rate, Url, Variable
from omibench.params.roles import Display, Request, Role, Runtime, select_fields

COMMIT_DIGITS, CODE_DIGITS = 40, 64
"""Hexadecimal digits of a commit on a hub, and of the SHA-256 of a folder's code."""
_PIN = re.compile(rf"[0-9a-f]{{{COMMIT_DIGITS}}}|[0-9a-f]{{{CODE_DIGITS}}}(\+.+)?")

Positive = Annotated[float, Field(gt=0)]
ImageTokens = Literal["openai-tiles", "openai-patches", "anthropic", "gemini", "qwen-vl"]


class ModelBlock(Block):
    """One model of a study. Its own fields are identity unless they are marked otherwise."""

    is_simulated: ClassVar[bool] = False
    """Whether its answers are made up, so that everything made from them is marked SIMULATED."""
    is_recorded: ClassVar[bool] = False
    """Whether it only repeats responses that were recorded elsewhere, perhaps not all."""

    provider: str
    label: Display[str | None] = None
    """Name in tables and figures; the key of the block when left out."""
    group: Display[str | None] = None
    """Heading under which the model stands in tables."""
    parameters_b: Display[Positive | None] = None
    """Parameters in billions (10^9), all of them, where the maker says."""
    active_parameters_b: Display[Positive | None] = None
    """Those of them that work on one token, where they are fewer (mixture of experts)."""
    weights: Display[Literal["open", "closed"] | None] = None
    """Whether the weights can be downloaded; results can be sliced by it."""
    base: Display[Name | None] = None
    """The model that this one was fine-tuned from (a key of `models`); tables show its gain."""
    family: Display[str | None] = None
    """The series that its maker releases in several sizes, such as `Qwen3-VL`: its models are one
    curve over parameters."""
    variant: Display[Literal["instruct", "thinking"] | None] = None
    """Which of two releases of one size it is, where a family has a model that thinks first and
    one that does not: they are compared (OMIBench, G.3)."""

    @property
    def is_paid(self) -> bool:
        """Whether asking it costs dollars, so that it is held by the study's budget."""
        return False

    @property
    def lacks_price(self) -> bool:
        """Whether it costs an unknown number of dollars, since its block gives no price."""
        return False

    @property
    def is_batch(self) -> bool:
        """Whether it is asked through a provider's batch API."""
        return False

    @property
    def max_images(self) -> int | None:
        """How many images one request may carry; None when there is no limit."""
        return None

    @property
    def gives_reward(self) -> bool:
        """Whether it gives a response a real number and writes no words, as a reward head does."""
        return False

    @property
    def takes_temperature(self) -> bool:
        """Whether it decodes at the temperature of a setting, and at 0 always alike."""
        return True

    @property
    def context(self) -> int | None:
        """Tokens of prompt and reply that fit into it together; None where nobody says."""
        return None

    @property
    def named_settings(self) -> Collection[str]:
        """The settings that its block names."""
        return ()

    def files(self, data: str | None, setting: str | None = None) -> list[str]:
        """The files that it answers from.

        Args:
            data: The study's folder of benchmark files, if it has one.
            setting: The setting that it is asked under; None for all of them.
        """
        return []

    @property
    def identity_fields(self) -> dict[str, Any]:
        """The provider and every identity field that is not at its default."""
        values = self.model_dump(mode="json", exclude_defaults=True)
        return {"provider": self.provider} | select_fields(type(self), values, (Role.IDENTITY,))

    @property
    def store_identity(self) -> dict[str, Any]:
        """What enters the keys of its requests, as far as its block knows it."""
        return self.identity_fields

    @model_validator(mode="after")
    def _active_are_part_of_all(self) -> Self:
        if (self.active_parameters_b or 0) > (self.parameters_b or float("inf")):
            raise ValueError("active_parameters_b is more than parameters_b")
        return self


class Can(Block):
    """What an endpoint is declared to do; checked before anything is sent."""

    samples: Runtime[bool] = False
    """Several samples of one conversation in one request (`n`); else one request a sample."""
    seed: Request[bool] = False
    logprobs: Request[bool] = False
    prefill: Request[bool] = False
    """Whether it goes on with a last turn of the assistant where a request says
    `continue_final_message`, as servers of vLLM and SGLang do."""
    temperature: Request[bool] = True
    """Whether the endpoint takes a temperature; where not, what was sampled is recorded so."""
    images: Runtime[Annotated[int, Field(ge=0)] | None] = None
    """Images that one request may carry."""
    image_mb: Runtime[Positive | None] = None
    """Megabytes (10^6 bytes) that one image may have."""


class Limits(Block):
    """What an endpoint allows. Concurrency adapts below `concurrency` by itself."""

    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    concurrency: Annotated[int, Field(ge=1)] = 32
    """Most requests in flight at once, over all processes of this machine each on its own."""
    timeout_s: Positive = 600.0
    """Seconds that one attempt may take."""
    attempts: Annotated[int, Field(ge=1)] = 8
    """Attempts at one request before it ends as `provider_error`."""
    retry_after_s: Positive = 900.0
    """Longest Retry-After that is waited for; a longer one ends the request as it says."""
    outage_s: Positive = 1800.0
    """Seconds that an endpoint may be away, or turn everything away, before it is given up."""
    drain_s: Annotated[float, Field(ge=0)] = 20.0
    """Seconds that requests in flight are waited for once the run was told to stop."""


class Price(Block):
    """US dollars per million tokens, as printed by the provider on a day."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached_input: Annotated[float, Field(ge=0)] | None = None
    batch: Rate = 0.5
    """Share of the price that the batch API costs."""
    as_of: date
    """The day on which the price was read."""


class ServedModel(ModelBlock):
    """What all models have that answer real requests."""

    cache_write_factor: ClassVar[float] = 1.0
    """Price of a token written to a cache over that of an input token, by the provider's list."""

    id: str
    """The served id, as the endpoint or hub knows it."""
    revision: str | None = None
    """Snapshot, quantisation or commit, where the id alone does not fix the weights."""
    endpoint: str = "default"
    """Class of the endpoint, such as `azure` or `self-hosted`, when answers may differ by it."""
    can: Can = Can()
    limits: Runtime[Limits] = Limits()
    price: Runtime[Price | None] = None
    image_tokens: Runtime[ImageTokens | None] = None
    """The provider's published formula for the tokens of an image."""
    context_tokens: Request[Annotated[int, Field(ge=1)] | None] = None
    """Tokens of prompt and reply that it takes together, where candidates are to fit into it."""

    @property
    def is_paid(self) -> bool:
        """Anything with a price is paid."""
        return self.price is not None

    @property
    def lacks_price(self) -> bool:
        """Paid, and without a price."""
        return self.is_paid and self.price is None

    @property
    def max_images(self) -> int | None:
        """As `can.images`."""
        return self.can.images

    @property
    def takes_temperature(self) -> bool:
        """As `can.temperature`."""
        return self.can.temperature

    @property
    def context(self) -> int | None:
        """As `context_tokens`."""
        return self.context_tokens

    def image_options(self, formula: ImageTokens) -> dict[str, Any]:
        """What the block itself says to a formula for the tokens of its images."""
        return {}


class ApiModel(ServedModel):
    """A model behind an API: an address, a key and, mostly, a bill."""

    default_url: ClassVar[str] = ""
    """Where the provider's client sends what has no `base_url`."""
    url_env: ClassVar[str] = ""
    """The environment variable by which users of the provider's client give another address."""
    list_api: ClassVar[Literal["openai", "anthropic"]] = "openai"
    """In whose form its endpoint lists the models that it serves."""

    base_url: Runtime[Url | None] = None
    key_env: Runtime[Variable] = "OMIBENCH_API_KEY"
    """Environment variable that holds the key; the key itself never stands in a file."""
    batch: Runtime[bool] = False
    """Ask through the provider's batch API, at less than the full price and within a day."""

    @property
    def is_paid(self) -> bool:
        """An API costs dollars, also where the block gives no price."""
        return True

    @property
    def is_batch(self) -> bool:
        """As the field `batch`."""
        return self.batch

    def as_probe(self) -> Self:
        """The model as one small request asks it: directly, with no switch that makes it large."""
        return self.model_copy(update={"batch": False})


class JobResources(Block):
    """What the job that loads a local model asks of a cluster; nothing of it enters a response."""

    gpus: Annotated[int, Field(ge=0)] | None = None
    """GPUs, all on one node; as many as the model is spread over when left out."""
    gpu_model: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]+$")] | None = None
    """The GPUs' name on the cluster, such as `a100`; any will do when left out."""
    gpu_maker: Literal["nvidia", "amd"] = "nvidia"
    cpus: Annotated[int, Field(ge=1)] = 4
    memory_gb: Positive = 32.0
    """Main memory in gigabytes (10^9 bytes), not the GPUs' own."""
    hours: Positive = 24.0
    """Wall time after which the cluster may end the job; what was answered by then is kept."""


class LocalModel(ServedModel):
    """What local engines share: one job loads the model for all that it is asked.

    `id` is a hub id or a folder.
    """

    weights: Display[Literal["open", "closed"] | None] = "open"
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    trust_remote_code: bool = False
    """Run the Python code that comes with the model, with your rights (docs/local_models.md).

    Only together with a `revision` that fixes this code: of a hub model the commit, 40 hexadecimal
    digits; of a folder what `omibench code-hash FOLDER` prints, 64, after which `+` and a note may
    say which weights they are. Never taken from parameters that lie among results or data.
    """
    resources: Runtime[JobResources] = JobResources()

    @property
    def n_gpus(self) -> int:
        """Over how many GPUs the model is spread."""
        return 1

    @model_validator(mode="after")
    def _its_code_is_fixed(self) -> Self:
        if self.trust_remote_code and not _PIN.fullmatch(self.revision or ""):
            raise ValueError(
                "trust_remote_code runs code of others and needs a `revision` that fixes it: of a "
                f"hub model the commit ({COMMIT_DIGITS} hexadecimal digits), of a folder what "
                f"`omibench code-hash FOLDER` prints ({CODE_DIGITS})"
            )
        return self

    @model_validator(mode="after")
    def _fits_its_gpus(self) -> Self:
        gpus = self.resources.gpus
        if gpus is not None and gpus < self.n_gpus:
            raise ValueError(
                f"the model is spread over {self.n_gpus} GPUs, and resources.gpus is {gpus}: raise "
                "it, or lower `gpus`, or tensor_parallel x pipeline_parallel of vLLM"
            )
        return self


class LocalGenerator(LocalModel):
    """A local model that answers in words, perhaps about pictures."""

    thinking: bool | None = None
    """`enable_thinking` of the chat template, where the template reads it."""
    max_pixels: Annotated[int, Field(ge=784)] | None = None
    """Pixels to which one image is scaled down at most."""
    seed: int = 0

    def image_options(self, formula: ImageTokens) -> dict[str, Any]:
        """`max_pixels`, where the formula depends on it."""
        bounded = formula == "qwen-vl" and self.max_pixels
        return {"max_pixels": self.max_pixels} if bounded else {}
