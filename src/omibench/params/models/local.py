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


class TransformersModel(LocalGenerator):
    """Batched generation by transformers, for models or machines without vLLM."""

    provider: Literal["transformers"]
    batch_size: Runtime[Count] = 8
    device: Runtime[str | None] = None
    """Device such as `cuda` or `cpu`; default: the first GPU, or else the CPU."""
    gpus: Runtime[Count] = 1
    """Number of GPUs to spread the layers over, if one is too small."""

    @property
    def n_gpus(self) -> int:
        """`gpus`, or 0 if the block disables GPUs or selects the CPU."""
        return 0 if self.device == "cpu" or self.resources.gpus == 0 else self.gpus


class RewardModel(LocalModel):
    """A reward model by transformers: a language model whose head returns one number per response.

    It marks responses for `best-of-n` (EMMA, C.4) and generates no answers.
    """

    provider: Literal["transformers-reward"]
    batch_size: Runtime[Count] = 8
    device: Runtime[str | None] = None
    """Device such as `cuda` or `cpu`; default: the first GPU, or else the CPU."""
    gpus: Runtime[Count] = 1
    """Number of GPUs to spread the layers over, if one is too small."""
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

    @property
    def n_gpus(self) -> int:
        """`gpus`, or 0 if the block disables GPUs or selects the CPU."""
        return 0 if self.device == "cpu" or self.resources.gpus == 0 else self.gpus
