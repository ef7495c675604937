"""Score: what each response is worth under each rule book and in the eyes of the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omibench.stages.score.stage import score_cell as score_cell
    from omibench.stages.score.stage import score_file as score_file

__all__ = ["score_cell", "score_file"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from omibench.stages.score import stage

        return getattr(stage, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
