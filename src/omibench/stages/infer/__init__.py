"""Stage `infer`: responses of one model to every frozen question in one setting."""

from omibench.settings.tasks import list_requests
from omibench.stages.infer.stage import infer_cell

__all__ = ["infer_cell", "list_requests"]
