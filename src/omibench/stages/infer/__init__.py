"""infer: every question of the frozen dataset, put to one model under one setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omibench.stages.infer.stage import infer_cell as infer_cell
    from omibench.stages.infer.stage import requests_of as requests_of

__all__ = ["infer_cell", "requests_of"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from omibench.stages.infer import stage

        return getattr(stage, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
