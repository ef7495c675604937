"""The results of a study: each is a pure function from verdicts to a tidy table."""

from omibench.stages.analyze.results.result import RESULTS, ResultPart, result

__all__ = ["RESULTS", "ResultPart", "result"]
