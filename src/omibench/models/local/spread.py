"""Spread the layers of a model that does not fit on one GPU."""

from __future__ import annotations

from typing import Any

from omibench.errors import ModelError
from omibench.extras import install_command, missing_modules

EXTRA = "transformers"


def spread_layers(name: str, n_gpus: int, torch: Any) -> dict[str, Any]:
    """Return the options that spread a model's layers over GPUs by their free memory.

    Args:
        name: The model's name in the study.
        n_gpus: The number of GPUs to spread it over.
        torch: The package.

    Returns:
        Additional arguments for transformers; empty for one GPU or none.

    Raises:
        ModelError: Fewer GPUs are present, or the package that spreads layers is missing.
    """
    if n_gpus < 2:
        return {}
    if (present := torch.cuda.device_count()) < n_gpus:
        raise ModelError(
            f"model {name!r}: gpus is {n_gpus}, but torch finds {present} on this machine"
        )
    if missing_modules(("accelerate",)):
        raise ModelError(
            f"model {name!r}: gpus: {n_gpus} needs the package accelerate, which is not "
            f"installed: {install_command(EXTRA)}"
        )
    free = {gpu: torch.cuda.mem_get_info(gpu)[0] for gpu in range(n_gpus)}
    return {"device_map": "auto", "max_memory": free}
