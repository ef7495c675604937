"""Human review of problems: decisions in plain files, applied when a dataset is frozen."""

from omibench.review.apply import apply
from omibench.review.decisions import Decision, Edit, load_decisions

__all__ = ["Decision", "Edit", "apply", "load_decisions"]
