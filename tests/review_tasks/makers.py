"""Problems with pictures, and people, for tests of tasks."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from omibench.review.people import Reviewer
from omibench.schemas.problem import Choice, Figure, Problem
from small_freeze import make_picture


def make_problem(number: int, folder: Path, **values: Any) -> Problem:
    """A problem with one picture in `folder`/images."""
    content = make_picture(number)
    sha256 = hashlib.sha256(content).hexdigest()
    (folder / "images").mkdir(parents=True, exist_ok=True)
    (folder / f"images/{number}.png").write_bytes(content)
    fields: dict[str, Any] = {
        "id": f"ipho-{number}",
        "question": f"How long is rod {number} in [IMAGE0]?",
        "images": [Figure(file=f"images/{number}.png", sha256=sha256, page=1)],
        "choices": [Choice(label="A", text="1 m"), Choice(label="B", text="2 m")],
        "subject": "physics",
        "source": "ipho",
        "source_sha256": "0" * 64,
        "number": str(number),
        "pages": [1],
        "answer": ["A"],
        "solution": f"Rod {number} is measured.",
    }
    return Problem(**(fields | values))


def make_people() -> list[Reviewer]:
    """Two annotators, one of whom audits as well, an auditor, and a senior."""
    return [
        Reviewer(name="ann", roles=["annotator"], group="expert"),
        Reviewer(name="bob", roles=["annotator", "auditor"]),
        Reviewer(name="cy", roles=["auditor"]),
        Reviewer(name="eve", roles=["senior"]),
    ]
