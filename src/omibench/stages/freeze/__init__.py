"""Stage `freeze`: questions, answers and images of a reviewed dataset, apart from each other."""

from omibench.stages.freeze.stage import freeze_dataset

__all__ = ["freeze_dataset"]
