"""The blocks under `models:` in params.yaml: one class a provider.

A model's identity, which enters the key of its requests, is what changes its answers: provider,
served id, revision, endpoint class and the switches below marked so; never its URL, key, limits,
price, label or group.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from omibench.params.blocks import Block, Extra, Name, Rate, Url, Variable

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Positive = Annotated[float, Field(gt=0)]


TOLD = frozenset({"label", "group", "parameters_b", "active_parameters_b", "base"})
"""What tables say of a model: no part of its identity, and a change of it asks nothing anew."""


class Slips(Block):
    """Shares of responses in which a simulated respondent slips in one way; at most 1 in all."""

    no_box: Rate = 0.0
    """The answer stands in the last sentence, without a box."""
    letter_in_sentence: Rate = 0.0
    """Multiple choice: only "so option (B) fits best" names the letter."""
    units: Rate = 0.0
    """A unit is added inside the box."""
    two_boxes: Rate = 0.0
    """An intermediate result is boxed before the answer."""
    refusal: Rate = 0.0
    truncation: Rate = 0.0
    repetition: Rate = 0.0
    """The response repeats one sentence without end."""


class ModelBlock(Block):
    label: str | None = None
    """Name in tables and figures; the key of the block when left out."""
    group: str | None = None
    """Heading under which the model stands in tables."""
    parameters_b: Positive | None = None
    """Parameters in billions (10^9), all of them, where the maker says."""
    active_parameters_b: Positive | None = None
    """Those of them that work on one token, where they are fewer (mixture of experts)."""
    base: Name | None = None
    """The model that this one was fine-tuned from (a key of `models`); tables show its gain."""

    @model_validator(mode="after")
    def _active_are_part_of_all(self) -> Self:
        if (self.active_parameters_b or 0) > (self.parameters_b or float("inf")):
            raise ValueError("active_parameters_b is more than parameters_b")
        return self


class SimulatedModel(ModelBlock):
    """A seeded stand-in for a model, in any role, marked SIMULATED wherever it shows.

    As a respondent: P(correct) = guess + (1 - guess) * sigmoid(ability + setting_effects[setting]
    - image_penalty * (n_images - 2) - difficulty), with guess = 1 / number of choices.
    """

    provider: Literal["simulated"]
    oracle: str
    """What the simulation knows: a file with one JSON line a problem, or `synthetic:<study>` where
    the benchmark is made up. Its content is part of the identity."""
    seed: int = 0
    ability: float = 0.0
    setting_effects: dict[str, float] = {}
    image_penalty: float = 0.0
    slips: Slips = Slips()
    true_positive_rate: Rate = 1.0
    """As judge: share of right answers that it calls consistent."""
    false_positive_rate: Rate = 0.0
    """As judge: share of wrong answers that it calls consistent."""
    error_rate: Rate = 0.0
    """As captioner, translator, labeller, page reader or writer: share of flawed replies."""


class RecordedModel(ModelBlock):
    """Replays published responses from files, one list of files a setting."""

    provider: Literal["recorded"]
    responses: dict[str, list[str]]
    """Setting -> files (Parquet or JSONL), relative to the study's `data` folder."""
    partial: bool = False
    """The files hold only a part of the items; the others are left out of the model's cells."""


class Can(Block):
    """What an endpoint is declared to do; checked before anything is sent."""

    samples: bool = False
    """Several samples of one conversation in one request (`n`); else one request a sample."""
    seed: bool = False
    logprobs: bool = False
    temperature: bool = True
    """Whether the endpoint takes a temperature; where not, what was sampled is recorded so."""
    images: Annotated[int, Field(ge=0)] | None = None
    """Images that one request may carry."""
    image_mb: Positive | None = None
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


ImageTokens = Literal["openai-tiles", "openai-patches", "anthropic", "gemini", "qwen-vl"]


class ServedModel(ModelBlock):
    """What all models have that answer real requests."""

    id: str
    """The served id, as the endpoint or hub knows it."""
    revision: str | None = None
    """Snapshot, quantisation or commit, where the id alone does not fix the weights."""
    endpoint: str = "default"
    """Class of the endpoint, such as `azure` or `self-hosted`, when answers may differ by it."""
    can: Can = Can()
    limits: Limits = Limits()
    price: Price | None = None
    image_tokens: ImageTokens | None = None
    """The provider's published formula for the tokens of an image."""


class OpenAIModel(ServedModel):
    """Any endpoint that speaks the OpenAI API: OpenAI, Gemini's, a vLLM server, DashScope, ..."""

    provider: Literal["openai"]
    base_url: Url | None = None
    api: Literal["chat", "responses"] = "chat"
    key_env: Variable = "OPENAI_API_KEY"
    """Environment variable that holds the key; the key itself never stands in a file."""
    effort: Effort | None = None
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    detail: Literal["auto", "low", "high"] | None = None
    extra_body: Extra = {}
    """Fields that this endpoint alone knows, such as chat_template_kwargs; part of identity. A key
    among them is written `${NAME}`, the name of its environment variable."""
    batch: bool = False
    """Ask through the batch API, at half the price and within a day."""


class AnthropicModel(ServedModel):
    """The Anthropic messages API. Its SDK takes no temperature: sampling is the provider's."""

    provider: Literal["anthropic"]
    base_url: Url | None = None
    key_env: Variable = "ANTHROPIC_API_KEY"
    thinking: Literal["adaptive", "disabled"] | Annotated[int, Field(ge=1024)] | None = None
    """`adaptive`, `disabled`, or a budget of tokens."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    batch: bool = False


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
    """What local engines share: `id` is a hub id or a folder."""

    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    thinking: bool | None = None
    """`enable_thinking` of the chat template, where the template reads it."""
    max_pixels: Annotated[int, Field(ge=784)] | None = None
    """Pixels to which one image is scaled down at most."""
    seed: int = 0
    resources: JobResources = JobResources()

    @property
    def spread(self) -> int:
        """Over how many GPUs the model is spread."""
        return 1

    @model_validator(mode="after")
    def _fits_its_gpus(self) -> Self:
        gpus = self.resources.gpus
        if gpus is not None and gpus < self.spread:
            raise ValueError(
                f"the model is spread over {self.spread} GPUs (tensor_parallel x "
                f"pipeline_parallel), and resources.gpus is {gpus}: raise it or lower those"
            )
        return self


class VllmModel(LocalModel):
    """Offline batches by vLLM: the model is loaded once for all that it is asked."""

    provider: Literal["vllm"]
    tensor_parallel: Annotated[int, Field(ge=1)] = 1
    pipeline_parallel: Annotated[int, Field(ge=1)] = 1
    max_model_len: Annotated[int, Field(ge=1)] | None = None
    max_num_seqs: Annotated[int, Field(ge=1)] = 64
    gpu_memory: Rate = 0.9
    engine: Extra = {}
    """More arguments of vLLM's LLM, as it spells them; part of identity."""

    @property
    def spread(self) -> int:
        """Over how many GPUs the model is spread."""
        return self.tensor_parallel * self.pipeline_parallel


class TransformersModel(LocalModel):
    """Batched generation by transformers, where vLLM does not fit."""

    provider: Literal["transformers"]
    batch_size: Annotated[int, Field(ge=1)] = 8
    device: str | None = None
    """`cuda`, `cpu`, ...; the first GPU, or else the CPU, when left out."""

    @property
    def spread(self) -> int:
        """One GPU, unless the block gives none to the model or keeps it on the CPU."""
        return 0 if self.device == "cpu" or self.resources.gpus == 0 else 1


Model = Annotated[
    SimulatedModel | RecordedModel | OpenAIModel | AnthropicModel | VllmModel | TransformersModel,
    Field(discriminator="provider"),
]
