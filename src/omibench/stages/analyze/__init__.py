"""Stage `analyze`: turn verdicts into tables with intervals, a report and an explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omibench.stages.analyze.stage import analyze_study

__all__ = ["analyze_study"]


def __getattr__(name: str) -> object:
    """Import the stage when it is used: each start of Snakemake imports only its captions."""
    if name == "analyze_study":
        from omibench.stages.analyze.stage import analyze_study

        return analyze_study
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
