"""Agreement between reviewers of the same tasks, per field."""

from omibench.review.agreement.figures import measure_agreement

__all__ = ["measure_agreement"]
