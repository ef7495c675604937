"""rationale: worked solutions for problems without one, and topics."""

from __future__ import annotations

from omibench.graph.stage import GraphJob, ResultFile, Stage, model_files
from omibench.params.study import Study
from omibench.schemas.curation import LabelRow, RationaleCandidate
from omibench.schemas.problem import Problem


def _models(study: Study, job: GraphJob) -> list[str]:
    return study.rationale.models


def _files(study: Study, job: GraphJob) -> list[str]:
    files = [file for name in _models(study, job) for file in model_files(study, name)]
    return [*study.rationale.files, *files]


RATIONALE = Stage(
    "rationale",
    target="freeze",
    params=("study", "models", "rationale"),
    inputs=("filter",),
    plugins=("scorers", "providers"),
    models=_models,
    files=_files,
    outputs=(
        ResultFile("rationale/problems.jsonl", Problem, "the same with rationale and topic"),
        ResultFile(
            "rationale/candidates.jsonl", RationaleCandidate, "every solution written by a model"
        ),
        ResultFile("rationale/labels.jsonl", LabelRow, "labels with their source and reason"),
        ResultFile("rationale/labels.yaml", None, "subfields of each subject, for you to edit"),
    ),
)
