"""Stage `certify`: judges against the labels of people, the judge of scores against the rules."""

from omibench.stages.certify.stage import certify_judges

__all__ = ["certify_judges"]
