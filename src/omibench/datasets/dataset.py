"""Output of an adapter: questions and answers in the same order, and the folder of pictures."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from omibench.schemas.problem import Answer, Question


class Dataset(NamedTuple):
    """A benchmark after reading. Paths of pictures are relative to `folder`."""

    questions: list[Question]
    answers: list[Answer]
    folder: Path
