"""Stage `saliency`: which parts of its pictures a choice rests on (USNCO-V, Methods)."""

from omibench.stages.saliency.stage import saliency_cell

__all__ = ["saliency_cell"]
