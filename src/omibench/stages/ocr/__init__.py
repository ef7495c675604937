"""Stage `ocr`: exam papers in, problems with their figures, choices and answers out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omibench.stages.ocr.stage import read_papers

__all__ = ["read_papers"]


def __getattr__(name: str) -> Any:
    if name == "read_papers":
        from omibench.stages.ocr.stage import read_papers

        return read_papers
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
