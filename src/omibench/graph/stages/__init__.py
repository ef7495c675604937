"""Table of stages: from raw exam papers to a report, in the order of the graph.

Slices of the parameters, inputs, provenance, status and the list of files are derived from it;
`dvc.yaml`, the rules and the command line are tested against it. A new stage is a module here
and a line in `STAGES`.
"""

from __future__ import annotations

from omibench.errors import ParamsError
from omibench.graph.stage import Stage
from omibench.graph.stages.aggregate import AGGREGATE
from omibench.graph.stages.analyze import ANALYZE
from omibench.graph.stages.certify import CERTIFY
from omibench.graph.stages.filter import FILTER
from omibench.graph.stages.freeze import FREEZE
from omibench.graph.stages.infer import INFER
from omibench.graph.stages.judge import JUDGE
from omibench.graph.stages.ocr import OCR
from omibench.graph.stages.rationale import RATIONALE
from omibench.graph.stages.saliency import SALIENCY
from omibench.graph.stages.score import SCORE
from omibench.graph.stages.tune import TUNE
from omibench.schemas.validation import suggest_name

STAGES = (
    OCR, FILTER, RATIONALE, FREEZE, TUNE, INFER, SCORE, JUDGE, SALIENCY, AGGREGATE,
    CERTIFY, ANALYZE,
)  # fmt: skip
STAGE_NAMES = tuple(stage.name for stage in STAGES)


def find_stage(rule: str) -> Stage:
    """Return the stage of a rule.

    Args:
        rule: Name of a stage, or of another rule of it, such as `fill`.

    Raises:
        ParamsError: If it does not exist; suggests the nearest name.
    """
    for stage in STAGES:
        if rule in stage.rules:
            return stage
    raise ParamsError(f"{rule!r} is not a stage{suggest_name(rule, STAGE_NAMES)}")
