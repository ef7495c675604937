"""Stage `infer`: every question of the frozen dataset, put to one model under one setting."""

from omibench.settings.threads import list_requests
from omibench.stages.infer.stage import infer_cell

__all__ = ["infer_cell", "list_requests"]
