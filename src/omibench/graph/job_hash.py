"""The hash of a job of the graph: the parameters that it was given."""

from __future__ import annotations

import hashlib
import json

from omibench.graph.slices import slice_study
from omibench.params.cell import Cell
from omibench.params.study import Study


def job_hash(study: Study, stage: str, cell: Cell | None = None) -> str:
    """The hash that the files of a job carry.

    Args:
        study: The study, or the slice that the job was given.
        stage: The stage.
        cell: The job's cell, where its parameters differ from cell to cell.

    Returns:
        16 hex digits. The code is no part of it: a change of code that changes no row leaves the
        file as it was, so that nothing is rebuilt from it; provenance.json names the code.
    """
    parts = [stage, slice_study(study, stage, cell)]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
