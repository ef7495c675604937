"""Stage `score`: verdicts on each response by every scorer and by judges."""

from omibench.stages.score.stage import ScoreFiles, score_cell, score_file

__all__ = ["ScoreFiles", "score_cell", "score_file"]
