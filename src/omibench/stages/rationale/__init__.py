"""Stage `rationale`: worked solutions for problems that lack one, and a topic for each."""

from omibench.stages.rationale.stage import write_rationales

__all__ = ["write_rationales"]
