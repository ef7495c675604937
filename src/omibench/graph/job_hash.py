"""Hash of a job of the graph: its parameters."""

from __future__ import annotations

import hashlib
import json

from omibench.graph.slices import slice_study
from omibench.params.cell import Cell
from omibench.params.study import Study


def job_hash(study: Study, stage: str, cell: Cell | None = None) -> str:
    """Return the hash stored in the files of a job.

    Args:
        study: The study, or the job's slice.
        stage: The stage.
        cell: The job's cell, if its parameters differ between cells.

    Returns:
        16 hex digits. The code is not included: a change of code that changes no row leaves the
            file unchanged, so that nothing is rebuilt from it. provenance.json contains the hash
            of the code.
    """
    parts = [stage, slice_study(study, stage, cell)]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
