"""An edit by hand of the problems that were read is not overwritten."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from omibench.errors import OmibenchError, OutputError
from omibench.files.intake import read_text
from omibench.schemas.pages import OcrReport
from omibench.stages.ocr.sources.check import hash_regular_file


def refuse_edited(out: Path) -> None:
    """Raise OutputError where `problems.jsonl` in `out` is not what its `report.json` tells of.

    Without a report that can be read nothing says what was written, and nothing is refused.
    """
    problems = out / "problems.jsonl"
    try:
        report = OcrReport.model_validate_json(read_text(out / "report.json"))
    except (OmibenchError, ValidationError):
        return
    if not problems.is_file() or report.problems_sha256 in (None, hash_regular_file(problems)):
        return
    raise OutputError(
        f"{problems} was edited after it was read, and the edit would be lost: move the file away "
        "and run the command again. Correct what was misread in corrections.yaml "
        "(docs/building.md#corrections)"
    )
