"""Stage `filter`: problems that cannot be asked fairly are turned away, each with its reason."""

from omibench.filter.reasons import REASONS
from omibench.filter.stage import FilterSummary, filter_problems

__all__ = ["REASONS", "FilterSummary", "filter_problems"]
