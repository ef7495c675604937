"""The pictures of a problem: paths relative to the file that names them, and their forms."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from omibench.problem import Problem, Question

_MAGIC = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"BM": "bmp"}
HEAD_BYTES = 12
"""From which the form of a picture can be told."""

Pictured = TypeVar("Pictured", Problem, Question)


def rebase_images(problem: Pictured, old: Path, new: Path) -> Pictured:
    """The same problem, its image paths relative to folder `new` in place of folder `old`.

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


def form_of(head: bytes) -> str | None:
    """`png`, `jpeg`, `gif`, `webp` or `bmp` by a file's first 12 bytes; None for anything else."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    return next((form for magic, form in _MAGIC.items() if head.startswith(magic)), None)


def _relative(file: Path, folder: Path) -> str:
    return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
