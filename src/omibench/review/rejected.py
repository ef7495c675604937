"""Reasons why the filter rejected problems that reviewers decided on."""

from __future__ import annotations

from pathlib import Path

from omibench.errors import OmibenchError
from omibench.schemas.rejects import Reject
from omibench.schemas.tables import read_parquet


def rejections(problems: Path) -> dict[str, str]:
    """Return the reasons and evidence for problems rejected before the file `problems`, by id.

    The filter's `rejects.parquet` is searched next to the file and in `filter` next to its folder.
    A missing or unreadable file is ignored, since it would only explain another error.
    """
    for folder in (problems.parent, problems.parent.parent / "filter"):
        path = folder / "rejects.parquet"
        if path.is_file():
            try:
                rows = [Reject(**row) for row in read_parquet(path, Reject).to_dicts()]
            except (OmibenchError, ValueError):
                return {}
            return {row.id: _words(row) for row in rows}
    return {}


def _words(row: Reject) -> str:
    return ", ".join(
        f"{reason} ({evidence})"
        for reason, evidence in zip(row.reasons, row.evidences, strict=False)
    )
