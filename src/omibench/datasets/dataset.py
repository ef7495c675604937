"""What an adapter gives: questions and answers in one order, and where their pictures stand."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from omibench.schemas.problem import Answer, Question


class Dataset(NamedTuple):
    """A benchmark as it was read. Paths of pictures are relative to `folder`."""

    questions: list[Question]
    answers: list[Answer]
    folder: Path
