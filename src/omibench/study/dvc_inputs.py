"""Hashes of what each stage of dvc.yaml reads, so that DVC notices a change of any of it.

dvc.yaml of a study cannot list these inputs: the parameters name them, and can name others later.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from omibench.graph.code_hash import Snapshot
from omibench.graph.inputs import list_all_files
from omibench.graph.provenance import try_hash
from omibench.graph.stages import STAGES
from omibench.params.study import Study
from omibench.schemas.tables import write_json
from omibench.stages.ocr.corrections.entry import list_correction_inputs
from omibench.stages.ocr.sources.manifest import list_inputs

INPUTS: Final = "inputs"
"""The folder of these hashes among the results, and its stage in dvc.yaml."""


def write_input_hashes(study: Study) -> None:
    """Write `<results>/inputs/<stage of dvc.yaml>.json`: SHA-256 of each file, hash of the code.

    The code includes packages, plug-ins and the version of Python, as in the rules of the graph. A
    missing file has an empty hash.

    Args:
        study: The study; paths are relative to the working folder.

    Raises:
        OmibenchError: The manifest of papers or the corrections cannot be read.
    """
    papers: list[str] = []
    if study.ocr.sources:
        papers = [*list_inputs(Path(study.ocr.sources)), *list_correction_inputs(study.ocr)]
    hash_stage = Snapshot(study).hash_stage
    for target in dict.fromkeys(stage.target for stage in STAGES):
        stages = [stage for stage in STAGES if stage.target == target]
        files = list_all_files(study, {rule for stage in stages for rule in stage.rules})
        if target == "freeze":
            files += papers
        hashes = {
            "files": {file: try_hash(Path(file)) for file in sorted({*files})},
            "code": {stage.name: hash_stage(stage.name) for stage in stages},
        }
        path = Path(study.study.results, INPUTS, f"{target}.json")
        write_json(path, hashes)
