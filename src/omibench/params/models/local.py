"""The blocks of the engines that load a model on this machine: `vllm` and `transformers`."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from omibench.params.blocks import Extra, Rate
from omibench.params.models.base import LocalGenerator, LocalModel
from omibench.params.roles import Runtime

Count = Annotated[int, Field(ge=1)]
CODE_PLACES: Final = frozenset(
    {
        "model", "revision", "code_revision", "tokenizer", "tokenizer_revision", "hf_config_path",
        "hf_overrides", "speculative_config",
    }
)  # fmt: skip
"""Arguments of vLLM's LLM that say where a model, and the code that comes with it, is found."""


class VllmModel(LocalGenerator):
    """Offline batches by vLLM: the model is loaded once for all that it is asked."""

    provider: Literal["vllm"]
    tensor_parallel: Runtime[Count] = 1
    pipeline_parallel: Runtime[Count] = 1
    max_model_len: Count | None = None
    max_num_seqs: Runtime[Count] = 64
    gpu_memory: Runtime[Rate] = 0.9
    engine: Extra = {}
    """More arguments of vLLM's LLM, as it spells them; part of identity."""

    @model_validator(mode="after")
    def _engine_brings_no_code(self) -> Self:
        if "trust_remote_code" in self.engine:
            raise ValueError(
                "engine must not say `trust_remote_code`: say it in the model's own block, with "
                "the `revision` that fixes its code"
            )
        places = sorted(CODE_PLACES & self.engine.keys()) if self.trust_remote_code else []
        if places:
            raise ValueError(
                f"engine must not say `{places[0]}` together with trust_remote_code: what runs "
                "would not be what `revision` fixes"
            )
        return self

    @property
    def n_gpus(self) -> int:
        """Over how many GPUs the model is spread."""
        return self.tensor_parallel * self.pipeline_parallel

    @property
    def context(self) -> int | None:
        """As `context_tokens`, or else `max_model_len`."""
        return self.context_tokens or self.max_model_len


class TransformersModel(LocalGenerator):
    """Batched generation by transformers, where vLLM does not fit."""

    provider: Literal["transformers"]
    batch_size: Runtime[Count] = 8
    device: Runtime[str | None] = None
    """`cuda`, `cpu`, ...; the first GPU, or else the CPU, when left out."""
    gpus: Runtime[Count] = 1
    """GPUs over which the layers are spread, where one does not hold them."""

    @property
    def n_gpus(self) -> int:
        """As `gpus`, unless the block gives none to the model or keeps it on the CPU."""
        return 0 if self.device == "cpu" or self.resources.gpus == 0 else self.gpus


class RewardModel(LocalModel):
    """A reward model by transformers: a language model whose head gives a response one number.

    It marks responses for `best-of-n` (EMMA, C.4) and answers nothing.
    """

    provider: Literal["transformers-reward"]
    batch_size: Runtime[Count] = 8
    device: Runtime[str | None] = None
    """`cuda`, `cpu`, ...; the first GPU, or else the CPU, when left out."""
    gpus: Runtime[Count] = 1
    """GPUs over which the layers are spread, where one does not hold them."""
    max_model_len: Count | None = None
    """Tokens of question and response that it takes together; what is longer gets no mark. The
    positions of the checkpoint when left out."""

    @property
    def gives_reward(self) -> bool:
        """It does nothing else."""
        return True

    @property
    def max_images(self) -> int | None:
        """None at all: it reads text alone."""
        return 0

    @property
    def n_gpus(self) -> int:
        """As `gpus`, unless the block gives none to the model or keeps it on the CPU."""
        return 0 if self.device == "cpu" or self.resources.gpus == 0 else self.gpus
