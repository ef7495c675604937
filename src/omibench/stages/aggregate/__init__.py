"""Stage `aggregate`: metrics over several samples of each problem."""

from omibench.stages.aggregate.stage import aggregate_cell

__all__ = ["aggregate_cell"]
