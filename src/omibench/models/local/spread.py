"""Where the layers of a model go that one GPU does not hold."""

from __future__ import annotations

from typing import Any

from omibench.errors import ModelError
from omibench.extras import install_command, missing_modules

EXTRA = "transformers"


def spread_layers(name: str, n_gpus: int, torch: Any) -> dict[str, Any]:
    """Where the layers of a model go that one GPU does not hold: by what is free on each.

    Args:
        name: The model's name in the study.
        n_gpus: Over how many GPUs it is spread.
        torch: The package.

    Returns:
        What transformers is told besides; nothing for a single GPU or none.

    Raises:
        ModelError: There are fewer GPUs, or the package is absent that spreads layers.
    """
    if n_gpus < 2:
        return {}
    if (present := torch.cuda.device_count()) < n_gpus:
        raise ModelError(f"model {name!r}: gpus is {n_gpus}, and torch sees {present} here")
    if missing_modules(("accelerate",)):
        raise ModelError(
            f"model {name!r}: gpus: {n_gpus} spreads its layers by the package accelerate, which "
            f"is not installed: {install_command(EXTRA)}"
        )
    free = {gpu: torch.cuda.mem_get_info(gpu)[0] for gpu in range(n_gpus)}
    return {"device_map": "auto", "max_memory": free}
