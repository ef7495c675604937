"""Stage `filter`: rejects problems that cannot be asked fairly, each with its reason."""

from omibench.stages.filter.reasons.registry import REASONS
from omibench.stages.filter.stage import FilterSummary, filter_problems

__all__ = ["REASONS", "FilterSummary", "filter_problems"]
