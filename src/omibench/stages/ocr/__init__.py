"""Stage `ocr`: exam papers in, problems with their figures, choices and answers out."""

from omibench.stages.ocr.stage import read_papers

__all__ = ["read_papers"]
