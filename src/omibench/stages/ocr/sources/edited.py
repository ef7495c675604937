"""Protect manually edited problems from being overwritten."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from omibench.errors import OmibenchError, OutputError
from omibench.files.intake import read_text
from omibench.schemas.pages import OcrReport
from omibench.stages.ocr.sources.check import hash_regular_file


def refuse_edited(out: Path) -> None:
    """Raise OutputError if `problems.jsonl` in `out` differs from the one in its `report.json`.

    Without a readable report the original is unknown, and nothing is rejected.
    """
    problems = out / "problems.jsonl"
    try:
        report = OcrReport.model_validate_json(read_text(out / "report.json"))
    except (OmibenchError, ValidationError):
        return
    if not problems.is_file() or report.problems_sha256 in (None, hash_regular_file(problems)):
        return
    raise OutputError(
        f"{problems} was edited after reading, and the edits would be lost: move the file away and "
        "run the command again. Write corrections in corrections.yaml (docs/corrections.md)"
    )
