"""What the filter said of problems that reviewers decided on and that never reached them."""

from __future__ import annotations

from pathlib import Path

from omibench.errors import OmibenchError
from omibench.schemas.rejects import Reject
from omibench.schemas.tables import read_parquet


def rejections(problems: Path) -> dict[str, str]:
    """Why problems were rejected on the way to the file `problems`, by id: reasons and evidence.

    The filter's `rejects.parquet` is looked for beside the file and in `filter` beside its folder.
    What is not there, or cannot be read, says nothing: it only explains another error.
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
