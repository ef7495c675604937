"""rationale: worked solutions for problems without one, and topics."""

from __future__ import annotations

from omibench.graph.stage import GraphJob, ResultFile, Stage, list_model_files
from omibench.params.study import Study
from omibench.schemas.curation import LabelRow, RationaleCandidate
from omibench.schemas.problem import Problem


def _files(study: Study, job: GraphJob) -> list[str]:
    return [*study.rationale.files, *list_model_files(study, study.rationale.models)]


RATIONALE = Stage(
    "rationale",
    target="freeze",
    params=("study", "models", "rationale"),
    inputs=("filter",),
    plugins=("scorers", "providers"),
    models=lambda study, job: study.rationale.models,
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
