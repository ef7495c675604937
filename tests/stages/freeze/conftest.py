"""A folder of problems with real pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Figure, Problem
from omibench.schemas.tables import FrozenManifest, write_jsonl
from omibench.stages.freeze import freeze_dataset

Make = Callable[..., Problem]


@pytest.fixture
def picture(tmp_path: Path) -> Callable[[str, int], Figure]:
    """Write a small picture of one grey level under `in/` and return its figure."""

    def made(name: str, grey: int) -> Figure:
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (4, 4), grey).save(path)
        content = path.read_bytes()
        return Figure(file=name, sha256=hashlib.sha256(content).hexdigest(), page=1)

    return made


@pytest.fixture
def make(picture: Callable[[str, int], Figure]) -> Make:
    """A reviewed problem; keywords replace its fields."""

    def made(**fields: Any) -> Problem:
        sound: dict[str, Any] = {
            "id": "physics-1", "question": "From [IMAGE0] and [IMAGE1]: how far?",
            "images": [picture("a.png", 10), picture("b.PNG", 20)], "subject": "physics",
            "source": "physics", "source_sha256": "0" * 64, "number": "1", "pages": [1],
            "answer": ["gold answer"], "solution": "a worked solution", "warnings": ["w: hint"],
        }  # fmt: skip
        return Problem(**(sound | fields))

    return made


STUDY = parse_study({"freeze": {"name": "set", "version": "2.0.1"}}, "test")


@pytest.fixture
def freeze(tmp_path: Path) -> Callable[..., FrozenManifest]:
    """Freeze problems that stand in `in/problems.jsonl`, into the folder `to`."""

    def frozen(*problems: Problem, study: Study = STUDY, to: str = "out") -> FrozenManifest:
        file = tmp_path / "in" / "problems.jsonl"
        write_jsonl(file, problems)
        return freeze_dataset(file, tmp_path / to, study)

    return frozen
