"""omibench: evaluation of vision-language models on multi-image reasoning, as one graph.

`__all__` lists the Python API (docs/python.md). Each name is imported on first use, so that
`import omibench` is fast.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from omibench.moved import MovedModules

if TYPE_CHECKING:
    from omibench.answers.compare import AnswerComparison, PartResult, compare_answers
    from omibench.answers.judges.registry import judge
    from omibench.answers.scorers.registry import scorer
    from omibench.api.comparisons import compare_runs
    from omibench.api.releases import Release, load_release
    from omibench.api.results import ResultTables, load_results
    from omibench.api.scoring import score
    from omibench.api.studies import build_conversation, describe_plan, load_study, plan_study
    from omibench.datasets.generators.registry import generator
    from omibench.datasets.registry import benchmark
    from omibench.errors import ArgumentError, OmibenchError
    from omibench.models.registry import provider
    from omibench.params.setting import Setting
    from omibench.params.study import Study
    from omibench.results.comparison.report import RunComparison
    from omibench.results.statistics.paired import AccuracyDifference
    from omibench.schemas.problem import Answer, Question
    from omibench.schemas.request import Conversation, Response
    from omibench.schemas.verdict import ScoredItem, Verdict
    from omibench.settings.registry import condition, prompt, strategy
    from omibench.stages.aggregate.registry import aggregation
    from omibench.stages.analyze.figures.figure import figure
    from omibench.stages.analyze.results.result import result
    from omibench.stages.analyze.sections.section import section
    from omibench.stages.filter.reasons.registry import model_reason, reason
    from omibench.stages.ocr.engines.registry import engine
    from omibench.study.plan.plan import Plan

__version__ = "0.1.0"

# First: the search by path would load a second copy from the folder of a moved package.
sys.meta_path.insert(0, MovedModules())

_HOMES = {
    "omibench.answers.compare": ("AnswerComparison", "PartResult", "compare_answers"),
    "omibench.api.releases": ("Release", "load_release"),
    "omibench.api.results": ("ResultTables", "load_results"),
    "omibench.api.comparisons": ("compare_runs",),
    "omibench.api.scoring": ("score",),
    "omibench.api.studies": (
        "build_conversation",
        "describe_plan",
        "load_study",
        "plan_study",
    ),
    "omibench.datasets.generators.registry": ("generator",),
    "omibench.datasets.registry": ("benchmark",),
    "omibench.errors": ("ArgumentError", "OmibenchError"),
    "omibench.answers.judges.registry": ("judge",),
    "omibench.models.registry": ("provider",),
    "omibench.params.setting": ("Setting",),
    "omibench.params.study": ("Study",),
    "omibench.study.plan.plan": ("Plan",),
    "omibench.answers.scorers.registry": ("scorer",),
    "omibench.results.comparison.report": ("RunComparison",),
    "omibench.schemas.problem": ("Answer", "Question"),
    "omibench.schemas.request": ("Conversation", "Response"),
    "omibench.schemas.verdict": ("ScoredItem", "Verdict"),
    "omibench.settings.registry": ("condition", "prompt", "strategy"),
    "omibench.stages.aggregate.registry": ("aggregation",),
    "omibench.stages.analyze.figures.figure": ("figure",),
    "omibench.stages.analyze.results.result": ("result",),
    "omibench.stages.analyze.sections.section": ("section",),
    "omibench.stages.filter.reasons.registry": ("model_reason", "reason"),
    "omibench.stages.ocr.engines.registry": ("engine",),
    "omibench.results.statistics.paired": ("AccuracyDifference",),
}  # fmt: skip
"""Module of each public name."""

__all__ = [
    "AccuracyDifference",
    "Answer",
    "AnswerComparison",
    "ArgumentError",
    "Conversation",
    "OmibenchError",
    "PartResult",
    "Plan",
    "Question",
    "Release",
    "Response",
    "ResultTables",
    "RunComparison",
    "ScoredItem",
    "Setting",
    "Study",
    "Verdict",
    "__version__",
    "aggregation",
    "benchmark",
    "build_conversation",
    "compare_answers",
    "compare_runs",
    "condition",
    "describe_plan",
    "engine",
    "figure",
    "generator",
    "judge",
    "load_release",
    "load_results",
    "load_study",
    "model_reason",
    "plan_study",
    "prompt",
    "provider",
    "reason",
    "result",
    "score",
    "scorer",
    "section",
    "strategy",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(module), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
