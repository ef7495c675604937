"""plan: what a study would ask, what it would cost and what it could see, before anything is sent.

And after a run: what was expected beside what it took.
"""

from __future__ import annotations

from omibench.plan.after import compare_study, render_comparison
from omibench.plan.build import plan_study
from omibench.plan.text import render

__all__ = ["compare_study", "plan_study", "render", "render_comparison"]
