"""Stage `judge`: what judges say of the reasoning in responses, and of why answers are wrong.

Verdicts on correctness are the stage `score`'s; nothing here changes a score.
"""

from omibench.stages.judge.material import CellFiles
from omibench.stages.judge.stage import judge_cell

__all__ = ["CellFiles", "judge_cell"]
