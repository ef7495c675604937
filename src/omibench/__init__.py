"""omibench: evaluation of vision-language models on multi-image reasoning, as one graph.

`__all__` lists the Python API (docs/python.md). Each name is imported on first use, so that
`import omibench` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omibench.answers.compare import AnswerComparison as AnswerComparison
    from omibench.answers.compare import compare_answers as compare_answers
    from omibench.answers.comparison import PartResult as PartResult
    from omibench.api.conversations import build_conversation as build_conversation
    from omibench.api.releases import Release as Release
    from omibench.api.releases import load_release as load_release
    from omibench.api.results import ResultTables as ResultTables
    from omibench.api.results import load_results as load_results
    from omibench.api.run_comparisons import compare_runs as compare_runs
    from omibench.api.scoring import score as score
    from omibench.api.studies import describe_plan as describe_plan
    from omibench.api.studies import load_study as load_study
    from omibench.api.studies import plan_study as plan_study
    from omibench.datasets.registry import benchmark as benchmark
    from omibench.errors import ArgumentError as ArgumentError
    from omibench.errors import OmibenchError as OmibenchError
    from omibench.judges.registry import judge as judge
    from omibench.models.registry import provider as provider
    from omibench.params.setting import Setting as Setting
    from omibench.params.study import Study as Study
    from omibench.plan.rows import Plan as Plan
    from omibench.run_comparison.report import RunComparison as RunComparison
    from omibench.schemas.problem import Answer as Answer
    from omibench.schemas.problem import Question as Question
    from omibench.schemas.request import Conversation as Conversation
    from omibench.schemas.request import Response as Response
    from omibench.schemas.verdict import ScoredItem as ScoredItem
    from omibench.schemas.verdict import Verdict as Verdict
    from omibench.scorers.registry import scorer as scorer
    from omibench.settings.registry import condition as condition
    from omibench.settings.registry import prompt as prompt
    from omibench.stages.analyze.figures.figure import figure as figure
    from omibench.stages.analyze.results.result import result as result
    from omibench.stages.analyze.sections.section import section as section
    from omibench.stages.filter.reasons.registry import reason as reason
    from omibench.stages.ocr.engines.registry import engine as engine
    from omibench.statistics.paired import AccuracyDifference as AccuracyDifference

__version__ = "0.1.0"

_HOMES = {
    "omibench.answers.compare": ("AnswerComparison", "compare_answers"),
    "omibench.answers.comparison": ("PartResult",),
    "omibench.api.conversations": ("build_conversation",),
    "omibench.api.releases": ("Release", "load_release"),
    "omibench.api.results": ("ResultTables", "load_results"),
    "omibench.api.run_comparisons": ("compare_runs",),
    "omibench.api.scoring": ("score",),
    "omibench.api.studies": ("describe_plan", "load_study", "plan_study"),
    "omibench.datasets.registry": ("benchmark",),
    "omibench.errors": ("ArgumentError", "OmibenchError"),
    "omibench.judges.registry": ("judge",),
    "omibench.models.registry": ("provider",),
    "omibench.params.setting": ("Setting",),
    "omibench.params.study": ("Study",),
    "omibench.plan.rows": ("Plan",),
    "omibench.scorers.registry": ("scorer",),
    "omibench.run_comparison.report": ("RunComparison",),
    "omibench.schemas.problem": ("Answer", "Question"),
    "omibench.schemas.request": ("Conversation", "Response"),
    "omibench.schemas.verdict": ("ScoredItem", "Verdict"),
    "omibench.settings.registry": ("condition", "prompt"),
    "omibench.stages.analyze.figures.figure": ("figure",),
    "omibench.stages.analyze.results.result": ("result",),
    "omibench.stages.analyze.sections.section": ("section",),
    "omibench.stages.filter.reasons.registry": ("reason",),
    "omibench.stages.ocr.engines.registry": ("engine",),
    "omibench.statistics.paired": ("AccuracyDifference",),
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
    "benchmark",
    "build_conversation",
    "compare_answers",
    "compare_runs",
    "condition",
    "describe_plan",
    "engine",
    "figure",
    "judge",
    "load_release",
    "load_results",
    "load_study",
    "plan_study",
    "prompt",
    "provider",
    "reason",
    "result",
    "score",
    "scorer",
    "section",
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
