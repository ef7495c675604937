"""Problems with pictures, and people, for tests of tasks."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from omibench.review.people import Reviewer
from omibench.schemas.problem import Figure, Problem
from review import builders
from small_freeze import make_picture


def make_problem(number: int, folder: Path, **values: Any) -> Problem:
    """A problem with one picture in `folder`/images."""
    content = make_picture(number)
    sha256 = hashlib.sha256(content).hexdigest()
    (folder / "images").mkdir(parents=True, exist_ok=True)
    (folder / f"images/{number}.png").write_bytes(content)
    fields = {
        "question": f"How long is rod {number} in [IMAGE0]?",
        "images": [Figure(file=f"images/{number}.png", sha256=sha256, page=1)],
        "source": "ipho",
        "number": str(number),
        "solution": f"Rod {number} is measured.",
    }
    return builders.make_problem(f"ipho-{number}", **(fields | values))


def make_people() -> list[Reviewer]:
    """Two annotators, one of whom audits as well, an auditor, and a senior."""
    return [
        Reviewer(name="ann", roles=["annotator"], group="expert"),
        Reviewer(name="bob", roles=["annotator", "auditor"]),
        Reviewer(name="cy", roles=["auditor"]),
        Reviewer(name="eve", roles=["senior"]),
    ]
