"""Stage `score`: what each response is worth under each rule book and in the eyes of the judge."""

from omibench.stages.score.stage import ScoreFiles, score_cell, score_file

__all__ = ["ScoreFiles", "score_cell", "score_file"]
