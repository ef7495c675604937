"""Stage `judge`: judgements of the reasoning in responses, and of error types.

Verdicts on correctness are the stage `score`'s; this stage does not change scores.
"""

from omibench.stages.judge.material import CellFiles
from omibench.stages.judge.stage import judge_cell

__all__ = ["CellFiles", "judge_cell"]
