"""What blocks of models on this machine share: weights, code of their own, adapters, resources."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from omibench.files.reading import hash_file, read_json
from omibench.params.blocks import Block, PlainPath
from omibench.params.models.base import ImageTokens, Positive, ServedModel
from omibench.params.roles import Display, Runtime

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
