"""Stage `rationale`: worked solutions for problems that lack one, and a topic for each."""

from omibench.rationale.stage import write_rationales

__all__ = ["write_rationales"]
