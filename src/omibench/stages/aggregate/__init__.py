"""Stage `aggregate`: what several samples of one problem are worth together."""

from omibench.stages.aggregate.stage import aggregate_cell

__all__ = ["aggregate_cell"]
