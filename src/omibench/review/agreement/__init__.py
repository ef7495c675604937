"""How far people who read the same agree, field by field."""

from omibench.review.agreement.figures import measure_agreement

__all__ = ["measure_agreement"]
