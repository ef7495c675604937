"""Stage `freeze`: questions, answers and images of a reviewed dataset in separate files."""

from omibench.stages.freeze.stage import freeze_dataset

__all__ = ["freeze_dataset"]
