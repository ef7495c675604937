"""plan: the requests of a study, their cost and its statistical power, before anything is sent.

After a run: the expected cost next to the actual one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omibench.plan.after import compare_study as compare_study
    from omibench.plan.after import render_comparison as render_comparison
    from omibench.plan.build import plan_study as plan_study
    from omibench.plan.text import render as render

__all__ = ["compare_study", "plan_study", "render", "render_comparison"]


def __getattr__(name: str) -> Any:
    # Each start of Snakemake imports `plan.rehearsal`, which needs none of these.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from omibench.plan import after, build, text

    return next(getattr(module, name) for module in (after, build, text) if hasattr(module, name))
