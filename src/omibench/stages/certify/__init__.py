"""Stage `certify`: judges compared with human labels, and score judges with rules."""

from omibench.stages.certify.stage import certify_judges

__all__ = ["certify_judges"]
