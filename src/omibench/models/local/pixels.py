"""The option of an image processor that scales pictures down to a number of pixels."""

from __future__ import annotations

from typing import Any

from omibench.errors import ModelError
from omibench.models.local.identity import one_line, require
from omibench.models.local.own_code import Checkpoint, load_errors
from omibench.params.models.base import LocalGenerator


def pixel_size(
    model: LocalGenerator, name: str, extra: str, checkpoint: Checkpoint
) -> dict[str, int] | None:
    """Return the `size` of an image processor for `max_pixels`; None if it is not set.

    Processors of the Qwen-VL kind count pixels: `shortest_edge` and `longest_edge` of their size
    are areas.

    Args:
        model: The model's block.
        name: Its key in params.yaml.
        extra: The extra of the engine that loads it.
        checkpoint: The checkpoint to load, from `locate_checkpoint`.

    Raises:
        ModelError: The processor does not count pixels, so that nothing would be scaled, or cannot
            be read.
    """
    if model.max_pixels is None:
        return None
    transformers = require("transformers", extra, name)
    try:
        processor: Any = transformers.AutoImageProcessor.from_pretrained(
            checkpoint.place,
            revision=checkpoint.revision,
            trust_remote_code=model.trust_remote_code,
        )
    except load_errors(model) as error:
        raise ModelError(
            f"model {name!r}: {model.id} has no readable image processor, which `max_pixels` "
            f"needs: {one_line(error)}; remove `max_pixels`"
        ) from error
    parameters = getattr(getattr(processor, "valid_kwargs", None), "__annotations__", {})
    size = dict(processor.size)
    if "max_pixels" not in parameters or not size.get("shortest_edge"):
        raise ModelError(
            f"model {name!r}: the image processor of {model.id} ({type(processor).__name__}) does "
            "not scale to a number of pixels; remove `max_pixels`"
        )
    min_pixels = min(int(size["shortest_edge"]), model.max_pixels)
    return {"shortest_edge": min_pixels, "longest_edge": model.max_pixels}
