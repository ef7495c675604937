"""certify: agreement of judges with human labels."""

from __future__ import annotations

from omibench.graph.stage import Blocks, GraphJob, ResultFile, Stage, drop, pick
from omibench.params.runtime import RUNTIME_INFER
from omibench.params.study import Study
from omibench.schemas.certificate import Certificate, DisagreementRow, ReasoningCertificates

_KEYS = {
    "study": ("seed",),
    "certify": ("labels", "disagreements"),
    "analyze": ("main_scorer", "confidence"),
}
"""Inputs of certificates in blocks with more fields. The study's name, which a certificate carries
to other studies, reaches the job by the environment."""


def _files(study: Study, job: GraphJob) -> list[str | None]:
    return [study.certify.labels]


def _select_blocks(study: Study, job: GraphJob, blocks: Blocks) -> Blocks:
    return {name: pick(blocks.get(name, {}), keys) for name, keys in _KEYS.items()} | {
        "infer": drop(blocks.get("infer", {}), RUNTIME_INFER),
        "score": blocks.get("score", {}),
        "judge": blocks.get("judge", {}),
        "settings": {
            name: pick(block, ("decoding", "aggregate"))
            for name, block in blocks.get("settings", {}).items()
        },
        "models": blocks.get("models", {}),
    }


CERTIFY = Stage(
    "certify",
    target="analyze",
    params=("study", "models", "settings", "infer", "score", "judge", "certify", "analyze"),
    inputs=("freeze", "infer", "score", "judge"),
    narrows_models=True,
    files=_files,
    select_blocks=_select_blocks,
    outputs=(
        ResultFile(
            "certify/certificate.json", Certificate, "agreement of the judge with human labels"
        ),
        ResultFile(
            "certify/reasoning.json",
            ReasoningCertificates,
            "agreement of the judges of reasoning with human labels",
        ),
        ResultFile(
            "certify/disagreements.jsonl",
            DisagreementRow,
            "disagreements of scorer and judge, for reading",
        ),
    ),
)
