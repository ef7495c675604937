"""Stage `infer`: every question of the frozen dataset, put to one model under one setting."""

from omibench.stages.infer.stage import infer_cell, requests_of

__all__ = ["infer_cell", "requests_of"]
