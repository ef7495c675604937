"""The blocks of the engines that load a model on this machine: `vllm` and `transformers`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.params.blocks import Extra, Rate
from omibench.params.models.base import LocalModel
from omibench.params.roles import Runtime

Count = Annotated[int, Field(ge=1)]


class VllmModel(LocalModel):
    """Offline batches by vLLM: the model is loaded once for all that it is asked."""

    provider: Literal["vllm"]
    tensor_parallel: Runtime[Count] = 1
    pipeline_parallel: Runtime[Count] = 1
    max_model_len: Count | None = None
    max_num_seqs: Runtime[Count] = 64
    gpu_memory: Runtime[Rate] = 0.9
    engine: Extra = {}
    """More arguments of vLLM's LLM, as it spells them; part of identity."""

    @property
    def n_gpus(self) -> int:
        """Over how many GPUs the model is spread."""
        return self.tensor_parallel * self.pipeline_parallel


class TransformersModel(LocalModel):
    """Batched generation by transformers, where vLLM does not fit."""

    provider: Literal["transformers"]
    batch_size: Runtime[Count] = 8
    device: Runtime[str | None] = None
    """`cuda`, `cpu`, ...; the first GPU, or else the CPU, when left out."""

    @property
    def n_gpus(self) -> int:
        """One GPU, unless the block gives none to the model or keeps it on the CPU."""
        return 0 if self.device == "cpu" or self.resources.gpus == 0 else 1
