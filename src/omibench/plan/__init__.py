"""plan: the requests of a study, their cost and its statistical power, before anything is sent.

After a run: the expected cost next to the actual one.
"""

from __future__ import annotations

from omibench.plan.after import compare_study, render_comparison
from omibench.plan.build import plan_study
from omibench.plan.text import render

__all__ = ["compare_study", "plan_study", "render", "render_comparison"]
