"""filter: removal of problems that cannot be evaluated fairly."""

from __future__ import annotations

from omibench.graph.stage import GraphJob, ResultFile, Stage, list_model_files, prompt_file
from omibench.params.study import Study
from omibench.schemas.curation import FilterJudgement, Reject
from omibench.schemas.problem import Problem


def _files(study: Study, job: GraphJob) -> list[str | None]:
    return [
        *study.filter.files,
        *(prompt_file(screen.prompt) for screen in study.filter.screens.values()),
        *list_model_files(study, study.filter.models),
    ]


FILTER = Stage(
    "filter",
    target="freeze",
    params=("study", "models", "filter"),
    inputs=("ocr",),
    plugins=("reasons", "model_reasons", "prompts", "conditions", "providers"),
    models=lambda study, job: study.filter.models,
    files=_files,
    outputs=(
        ResultFile("filter/problems.jsonl", Problem, "problems that pass the filter"),
        ResultFile("filter/rejects.parquet", Reject, "removed problems, with reason and evidence"),
        ResultFile("filter/rejects.html", None, "the same with pictures; open it in a browser"),
        ResultFile("filter/formulas/{file}", None, "KaTeX, if the page contains formulas"),
        ResultFile("filter/formulas/fonts/{file}", None, "its fonts"),
        ResultFile("filter/judgements.parquet", FilterJudgement, "model judgements, if any"),
    ),
)
