"""Stage `analyze`: turn verdicts into tables with intervals, a report and an explorer."""

from omibench.stages.analyze.stage import analyze_study

__all__ = ["analyze_study"]
