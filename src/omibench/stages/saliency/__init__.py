"""Stage `saliency`: the parts of pictures that a choice depends on (USNCO-V, Methods)."""

from omibench.stages.saliency.stage import saliency_cell

__all__ = ["saliency_cell"]
