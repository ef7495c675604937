"""The blocks of all models: local ones, and those behind an API."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from omibench.files.reading import hash_file, read_json
from omibench.models.synthetic.profiles import is_made_up
from omibench.params.blocks import Block, Extra, PlainPath, Rate, Url, Variable
from omibench.params.models.base import (
    ApiModel,
    Draws,
    ImageTokens,
    ModelBlock,
    Positive,
    ServedModel,
)
from omibench.params.roles import Display, Request, Runtime

COMMIT_DIGITS, CODE_DIGITS = 40, 64
"""Hexadecimal digits of a hub commit, and of the SHA-256 of a folder's code."""
_PIN = re.compile(rf"[0-9a-f]{{{COMMIT_DIGITS}}}|[0-9a-f]{{{CODE_DIGITS}}}(\+.+)?")

RECORD_BYTES: Final = 2**20


class JobResources(Block):
    """Cluster resources of the job that loads a local model; they do not affect responses."""

    gpus: Annotated[int, Field(ge=0)] | None = None
    """GPUs, all on one node; default: the number that the model is spread over."""
    gpu_model: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]+$")] | None = None
    """Name of the GPU type on the cluster, such as `a100`; default: any."""
    gpu_maker: Literal["nvidia", "amd"] = "nvidia"
    cpus: Annotated[int, Field(ge=1)] = 4
    memory_gb: Positive = 32.0
    """Main memory in gigabytes (10^9 bytes), without GPU memory."""
    hours: Positive = 24.0
    """Wall time in hours, after which the cluster can end the job; finished answers are kept."""


class LocalModel(ServedModel):
    """The common fields of local engines: one job loads the model for all its requests.

    `id` is a hub id or a folder.
    """

    is_free: ClassVar[bool] = True

    weights: Display[Literal["open", "closed"] | None] = "open"
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    trust_remote_code: bool = False
    """Run the Python code that comes with the model, with your permissions (docs/local_models.md).

    Requires a `revision` that fixes this code: for a hub model the commit (40 hexadecimal digits);
    for a folder the output of `omibench code-hash FOLDER` (64 digits), optionally followed by `+`
    and a note on the weights. Rejected in parameters among results or data.
    """
    resources: Runtime[JobResources] = JobResources()

    @property
    def n_gpus(self) -> int:
        """Number of GPUs that the model is spread over."""
        return 1

    @model_validator(mode="after")
    def _its_code_is_fixed(self) -> Self:
        if self.trust_remote_code and not _PIN.fullmatch(self.revision or ""):
            raise ValueError(
                "trust_remote_code runs third-party code and needs a `revision` that fixes it: "
                f"for a hub model the commit ({COMMIT_DIGITS} hexadecimal digits), for a folder "
                f"the output of `omibench code-hash FOLDER` ({CODE_DIGITS})"
            )
        return self

    @model_validator(mode="after")
    def _fits_its_gpus(self) -> Self:
        gpus = self.resources.gpus
        if gpus is not None and gpus < self.n_gpus:
            raise ValueError(
                f"the model is spread over {self.n_gpus} GPUs, but resources.gpus is {gpus}; "
                "raise it, or lower `gpus`, or tensor_parallel x pipeline_parallel of vLLM"
            )
        return self


ADAPTER_FILES: Final = ("tuned.json", "adapter_config.json")
"""The file that describes an adapter: of stage `tune`, or of peft."""


def hash_adapter(folder: str) -> str | None:
    """Return the SHA-256 of an adapter's weights as hex; None if the folder has none.

    Args:
        folder: Folder of stage `tune`, whose record has the hash, or of peft.

    Raises:
        FileFormatError: The record is not readable.
    """
    record = Path(folder, ADAPTER_FILES[0])
    if record.is_file():
        values = read_json(record, RECORD_BYTES)
        return str(values.get("weights_sha256")) if isinstance(values, dict) else None
    return hash_weights(folder) if Path(folder, ADAPTER_FILES[1]).is_file() else None


def hash_weights(folder: str | Path) -> str:
    """Return the SHA-256 of the names and contents of the weights in a folder and of the
    configuration of their adapter, as hex."""
    digest = hashlib.sha256()
    for path in sorted(Path(folder).iterdir()):
        if path.suffix == ".safetensors" or path.name == ADAPTER_FILES[1]:
            digest.update(f"{path.name}\0{hash_file(path)}\n".encode())
    return digest.hexdigest()


class LocalGenerator(LocalModel):
    """A local model that generates text, with or without image input."""

    thinking: bool | None = None
    """`enable_thinking` of the chat template, if the template supports it."""
    max_pixels: Annotated[int, Field(ge=784)] | None = None
    """Maximum pixels of an image; larger ones are scaled down."""
    seed: int = 0
    adapter: PlainPath | None = None
    """Folder of a model of stage `tune`, or of a LoRA adapter (peft) in safetensors, whose weights
    are added to those of `id`. Their hash is part of the identity of its responses."""

    def files(self, data: str | None, setting: str | None = None) -> list[str]:
        """Return the file that describes the adapter; stage `tune` writes its record last."""
        if self.adapter is None:
            return []
        record, own = (f"{self.adapter}/{name}" for name in ADAPTER_FILES)
        return [own if Path(own).is_file() and not Path(record).is_file() else record]

    @property
    def identity_fields(self) -> dict[str, Any]:
        """As for all models, with the hash of the adapter for its folder; `missing` before stage
        `tune`, so that nothing stored or certified is of this model."""
        fields = super().identity_fields
        if self.adapter is not None:
            fields["adapter"] = hash_adapter(self.adapter) or "missing"
        return fields

    def image_options(self, formula: ImageTokens) -> dict[str, Any]:
        """Return `max_pixels` if the formula depends on it."""
        bounded = formula == "qwen-vl" and self.max_pixels
        return {"max_pixels": self.max_pixels} if bounded else {}


# The block of the provider `openai`.

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class OpenAIModel(ApiModel):
    """Any endpoint compatible with the OpenAI API: OpenAI, Gemini, a vLLM server, DashScope, ..."""

    default_url: ClassVar[str] = "https://api.openai.com/v1"
    url_env: ClassVar[str] = "OPENAI_BASE_URL"

    provider: Literal["openai"]
    api: Literal["chat", "responses"] = "chat"
    key_env: Runtime[Variable] = "OPENAI_API_KEY"
    """Environment variable with the API key; the key itself must never be in a file."""
    effort: Effort | None = None
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    detail: Literal["auto", "low", "high"] | None = None
    extra_body: Extra = {}
    """Additional fields of this endpoint, such as chat_template_kwargs; part of identity. Write
    a key in them as `${NAME}`, the name of its environment variable."""
    batch: Runtime[bool] = False
    """Use the batch API: half the price, answers within a day."""

    @property
    def store_identity(self) -> dict[str, Any]:
        """As for all models, and whether the endpoint uses its default sampling."""
        identity = self.identity_fields
        # Keys of billed responses never contained it; certificates always did.
        identity.pop("max_tokens_field", None)
        return identity | ({} if self.can.temperature else {"sampling": "provider_default"})

    def image_options(self, formula: ImageTokens) -> dict[str, Any]:
        """Return `detail` if it is low and the formula depends on it."""
        return {"detail": "low"} if formula == "openai-tiles" and self.detail == "low" else {}


# The block of the provider `anthropic`.


class AnthropicModel(ApiModel):
    """The Anthropic messages API. Its SDK takes no temperature: the provider's default applies."""

    cache_write_factor: ClassVar[float] = 1.25
    default_url: ClassVar[str] = "https://api.anthropic.com"
    url_env: ClassVar[str] = "ANTHROPIC_BASE_URL"
    list_api: ClassVar[Literal["openai", "anthropic"]] = "anthropic"

    provider: Literal["anthropic"]
    key_env: Runtime[Variable] = "ANTHROPIC_API_KEY"
    """Environment variable with the API key; the key itself must never be in a file."""
    thinking: Literal["adaptive", "disabled"] | Annotated[int, Field(ge=1024)] | None = None
    """`adaptive`, `disabled`, or a budget of tokens."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    batch: Runtime[bool] = False
    """Use the batch API: half the price, answers within a day."""

    @property
    def takes_temperature(self) -> bool:
        """Its SDK takes none."""
        return False

    def as_probe(self) -> Self:
        """Return the model without thinking, whose budget is larger than a probe."""
        return super().as_probe().model_copy(update={"thinking": None})


# The block of the provider `inspect`.


class InspectModel(ServedModel):
    """A model of any provider of inspect_ai, with the store, budget and retries of omibench.

    `id` is inspect_ai's name, such as `google/gemini-3-pro`.
    """

    provider: Literal["inspect"]
    base_url: Runtime[Url | None] = None
    key_env: Runtime[Variable | None] = None
    """Environment variable with the API key; without it inspect_ai reads the provider's own."""
    config: Extra = {}
    """Options of inspect_ai's GenerateConfig, such as `reasoning_effort`; part of identity."""
    args: Extra = {}
    """Arguments of inspect_ai's provider (`-M`), such as `responses_api`; part of identity. A
    secret in them is written as `${NAME}`."""


# The block of the provider `google-translate`.


class GoogleTranslateModel(ApiModel):
    """Google Cloud Translation, Basic edition: a translator of problems, and nothing else.

    The input price is that of a million characters, formulas included.
    """

    default_url: ClassVar[str] = "https://translation.googleapis.com"
    url_env: ClassVar[str] = "GOOGLE_TRANSLATE_URL"

    provider: Literal["google-translate"]
    id: str = "nmt"
    key_env: Runtime[Variable] = "GOOGLE_TRANSLATE_API_KEY"
    """Environment variable with the API key; the key itself must never be in a file."""


# The blocks of the embedding providers `openai_embeddings` and `sentence-transformers`.


class EmbeddingModel(ApiModel):
    """An embedding model behind the OpenAI API, such as OpenAI's or that of a vLLM server."""

    default_url: ClassVar[str] = "https://api.openai.com/v1"
    url_env: ClassVar[str] = "OPENAI_BASE_URL"

    provider: Literal["openai_embeddings"]
    key_env: Runtime[Variable] = "OPENAI_API_KEY"
    """Environment variable with the API key; the key itself must never be in a file."""
    batch: Runtime[Literal[False]] = False
    """Always direct requests."""
    dimensions: Annotated[int, Field(ge=1)] | None = None
    """Length of shortened vectors, if the model supports it."""


class SentenceModel(LocalModel):
    """A sentence-transformers model that embeds texts on this machine."""

    provider: Literal["sentence-transformers"]
    device: Runtime[str | None] = None
    """Device such as `cpu` or `cuda`; default: chosen by the package."""
    trust_remote_code: Literal[False] = False
    """Models with custom code are not supported."""


# The blocks of the engines that load a model on this machine: `vllm` and `transformers`.

Count = Annotated[int, Field(ge=1)]
CODE_PLACES: Final = frozenset(
    {
        "model", "revision", "code_revision", "tokenizer", "tokenizer_revision", "hf_config_path",
        "hf_overrides", "speculative_config",
    }
)  # fmt: skip
"""Arguments of vLLM's LLM that set the location of a model or its code."""


class VllmModel(LocalGenerator):
    """Offline batches by vLLM: the model is loaded once for all its requests."""

    provider: Literal["vllm"]
    tensor_parallel: Runtime[Count] = 1
    pipeline_parallel: Runtime[Count] = 1
    max_model_len: Count | None = None
    max_num_seqs: Runtime[Count] = 64
    gpu_memory: Runtime[Rate] = 0.9
    engine: Extra = {}
    """Further arguments of vLLM's LLM under their names; part of identity."""

    @model_validator(mode="after")
    def _engine_brings_no_code(self) -> Self:
        if "trust_remote_code" in self.engine:
            raise ValueError(
                "engine must not contain `trust_remote_code`; set it in the model's block, with "
                "the `revision` that fixes its code"
            )
        places = sorted(CODE_PLACES & self.engine.keys()) if self.trust_remote_code else []
        if places:
            raise ValueError(
                f"engine must not contain `{places[0]}` together with trust_remote_code: the code "
                "that runs would not be fixed by `revision`"
            )
        return self

    @property
    def n_gpus(self) -> int:
        """Number of GPUs that the model is spread over."""
        return self.tensor_parallel * self.pipeline_parallel

    @property
    def context(self) -> int | None:
        """`context_tokens`, or else `max_model_len`."""
        return self.context_tokens or self.max_model_len


class HubModel(LocalModel):
    """The common fields of models that transformers loads."""

    device: Runtime[str | None] = None
    """Device such as `cuda` or `cpu`; default: the first GPU, or else the CPU."""
    gpus: Runtime[Count] = 1
    """Number of GPUs to spread the layers over, if one is too small."""

    @property
    def n_gpus(self) -> int:
        """`gpus`, or 0 if the block disables GPUs or selects the CPU."""
        return 0 if self.device == "cpu" or self.resources.gpus == 0 else self.gpus


class TransformersModel(LocalGenerator, HubModel):
    """Batched generation by transformers, for models or machines without vLLM."""

    provider: Literal["transformers"]
    batch_size: Runtime[Count] = 8
    draws: Draws | None = None
    """Let the model draw: for checkpoints whose vocabulary has tokens of pictures (Emu3)."""


class ChatModel(HubModel):
    """A model whose own code answers by `model.chat`, as InternVL2 does: a row at a time.

    For checkpoints with neither a chat template of messages nor a class in transformers.
    """

    provider: Literal["transformers-chat"]
    tiles: Count | None = None
    """Maximum tiles that a picture is cut into; default: `max_dynamic_patch` of the checkpoint."""
    seed: int = 0

    @model_validator(mode="after")
    def _runs_its_code(self) -> Self:
        if not self.trust_remote_code:
            raise ValueError(
                "`model.chat` is code that comes with the model: read it, then set "
                "`trust_remote_code: true` and its `revision`"
            )
        return self


class RewardModel(HubModel):
    """A reward model by transformers: a language model whose head returns one number per response.

    It marks responses for `best-of-n` (EMMA, C.4) and generates no answers.
    """

    provider: Literal["transformers-reward"]
    batch_size: Runtime[Count] = 8
    max_model_len: Count | None = None
    """Maximum tokens of question and response together; longer input gets no mark. Default: the
    maximum positions of the checkpoint."""

    @property
    def gives_reward(self) -> bool:
        """Always true."""
        return True

    @property
    def max_images(self) -> int | None:
        """None: it takes only text."""
        return 0


# The block of the provider `recorded`.


class RecordedModel(ModelBlock):
    """Replays published responses from files, one list of files per setting."""

    is_recorded: ClassVar[bool] = True
    is_free: ClassVar[bool] = True

    provider: Literal["recorded"]
    responses: Request[dict[str, list[str]]]
    """Setting -> files (Parquet or JSONL), relative to the study's `data` folder."""
    partial: Request[bool] = False
    """The files cover only part of the items; the others are omitted from the model's cells."""

    @property
    def named_settings(self) -> Collection[str]:
        """The settings with recorded responses."""
        return self.responses

    def files(self, data: str | None, setting: str | None = None) -> list[str]:
        """Return the files of one setting, or of all."""
        groups = [self.responses.get(setting, [])] if setting else self.responses.values()
        return [str(Path(data or ".") / file) for group in groups for file in group]


# The block of the provider `simulated`.


class Slips(Block):
    """Shares of responses with one kind of slip of a simulated respondent; at most 1 in total."""

    no_box: Rate = 0.0
    """The answer is in the last sentence, without a box."""
    letter_in_sentence: Rate = 0.0
    """Multiple choice: the letter is only in "so option (B) fits best"."""
    units: Rate = 0.0
    """A unit is added inside the box."""
    two_boxes: Rate = 0.0
    """An intermediate result is boxed before the answer."""
    refusal: Rate = 0.0
    truncation: Rate = 0.0
    repetition: Rate = 0.0
    """The response repeats one sentence endlessly."""


class SimulatedModel(ModelBlock):
    """A seeded simulation of a model in any role, marked SIMULATED wherever it is shown.

    As a respondent: P(correct) = guess + (1 - guess) * sigmoid(ability + setting_effects[setting]
    - image_penalty * (n_images - 2) - difficulty), with guess = 1 / number of choices. Samples of
    one problem share part of their randomness (`lasting_share`), which does not change this mean.
    The defaults of `lasting_share`, `usual_mistake`, `discernment` and `lasting_taste` are fitted
    to EMMA, table 3 (benchmarks/simulated_samples.md).
    """

    is_simulated: ClassVar[bool] = True
    is_free: ClassVar[bool] = True

    provider: Literal["simulated"]
    oracle: str
    """Source of the known answers: a file with one JSON line per problem, or `synthetic:<study>`
    for a synthetic benchmark. Its content is part of the identity."""
    seed: int = 0
    ability: float = 0.0
    setting_effects: dict[str, float] = {}
    image_penalty: float = 0.0
    slips: Slips = Slips()
    lasting_share: Rate = 0.7
    """Share of the variance of the logit's residual that is drawn once per model and problem,
    for all samples and settings; the rest is drawn per sample. 0: independent samples."""
    usual_mistake: Rate = 0.6
    """Share of wrong answers that equal the model's usual wrong answer to the problem."""
    true_positive_rate: Rate = 1.0
    """As judge: share of right answers judged consistent."""
    false_positive_rate: Rate = 0.0
    """As judge: share of wrong answers judged consistent."""
    discernment: Annotated[float, Field(allow_inf_nan=False)] = 0.4
    """As a judge that chooses among samples: the advantage of a right over a wrong response in
    standard deviations of its view; below 0 it prefers wrong ones."""
    lasting_taste: Rate = 0.8
    """As such a judge: share of the variance of its view that depends only on the answer and is
    the same in every prompt; the rest is drawn per prompt."""
    error_rate: Rate = 0.0
    """As captioner, translator, labeller, page reader or writer: share of flawed replies."""
    draws: Draws | None = None
    """As respondent: the pictures in each reply, which say SIMULATED."""
    reward: bool = False
    """Simulate a reward head: return a number per response instead of text."""

    @property
    def tools(self) -> frozenset[str] | None:
        """None: it simulates any tool."""
        return None

    @property
    def gives_reward(self) -> bool:
        """See `reward`."""
        return self.reward

    @property
    def max_images(self) -> int | None:
        """None as a reward head, unlimited in all other roles."""
        return 0 if self.reward else None

    @property
    def named_settings(self) -> Collection[str]:
        """The settings with an effect on its ability."""
        return self.setting_effects

    def files(self, data: str | None, setting: str | None = None) -> list[str]:
        """Return the `oracle` file, if it is a file."""
        return [] if is_made_up(self.oracle) else [self.oracle]
