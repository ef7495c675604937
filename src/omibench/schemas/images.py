"""Pictures of a problem, with paths relative to the file that lists them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from omibench.schemas.problem import Problem, Question

Pictured = TypeVar("Pictured", Problem, Question)


def rebase_images(problem: Pictured, old: Path, new: Path) -> Pictured:
    """Return the problem with image paths relative to folder `new` instead of `old`.

    Paths keep forward slashes. No file is read, copied or moved.
    """
    return problem.model_copy(
        update={
            "images": [
                figure.model_copy(update={"file": _relative(old / figure.file, new)})
                for figure in problem.images
            ]
        }
    )


def _relative(file: Path, folder: Path) -> str:
    return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
