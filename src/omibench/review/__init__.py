"""Human review of problems: decisions in plain files, applied when a dataset is frozen."""

from omibench.review.apply import Decision, Edit, apply, load_decisions

__all__ = ["Decision", "Edit", "apply", "load_decisions"]
