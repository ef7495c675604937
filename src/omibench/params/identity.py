"""The identity of a model in certificates: what of its block changes its answers."""

from __future__ import annotations

from typing import Any

from omibench.params.model import TOLD, Model


def identity_of(model: Model) -> dict[str, Any]:
    """What of a model's block changes its answers, not how it is reached, shown and paid."""
    return model.model_dump(mode="json", exclude_defaults=True, exclude=_NOT_IDENTITY) | {
        "provider": model.provider
    }


_NOT_IDENTITY = {
    *TOLD, "base_url", "key_env", "limits", "price", "can", "image_tokens", "batch",
    "responses", "partial", "resources", "batch_size", "device", "gpu_memory", "max_num_seqs",
}  # fmt: skip
