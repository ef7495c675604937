"""Stage `rationale`: worked solutions for problems that lack one, and topic labels."""

from omibench.stages.rationale.stage import write_rationales

__all__ = ["write_rationales"]
