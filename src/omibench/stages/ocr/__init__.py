"""The stage `ocr`: read exam papers into problems with figures, choices and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omibench.stages.ocr.stage import read_papers

__all__ = ["read_papers"]


def __getattr__(name: str) -> object:
    """Import the stage when it is used: the processes that read one paper each do without it."""
    if name == "read_papers":
        from omibench.stages.ocr.stage import read_papers

        return read_papers
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
