"""Stage `analyze`: from verdicts to tables with honest intervals, report and explorer."""

from omibench.stages.analyze.stage import analyze_study

__all__ = ["analyze_study"]
