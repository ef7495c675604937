"""A frozen dataset of three problems with pictures, and studies that ask about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Choice, Figure, Question
from omibench.schemas.tables import write_jsonl

Make = Callable[..., Study]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return frozen_questions(tmp_path)


@pytest.fixture
def study(tmp_path: Path) -> Make:
    return study_maker(tmp_path)


def frozen_questions(tmp_path: Path) -> Path:
    """questions.jsonl of three problems with two pictures each."""
    folder = tmp_path / "freeze"
    (folder / "images").mkdir(parents=True)
    rows = []
    for n in range(3):
        figures = []
        for i in range(2):
            content = f"picture {n} {i}".encode()
            (folder / "images" / f"{n}-{i}.png").write_bytes(content)
            sha256 = hashlib.sha256(content).hexdigest()
            figures.append(Figure(file=f"images/{n}-{i}.png", sha256=sha256))
        choices = [Choice(label=x, text=f"option {x}") for x in "ABCD"] if n == 0 else None
        text = f"Problem {n}: [IMAGE0] and [IMAGE1]?"
        rows.append(Question(id=f"p{n}", question=text, images=figures, choices=choices))
    write_jsonl(folder / "questions.jsonl", rows)
    return folder / "questions.jsonl"


def study_maker(tmp_path: Path) -> Make:
    """Make a study with one simulated and one recorded model; keyword arguments replace blocks."""
    oracle = [
        {"id": "p0", "answer": ["C"], "answer_type": "mcq", "choices": list("ABCD")},
        {"id": "p1", "answer": ["12"]},
        {"id": "p2", "answer": ["1.5"]},
    ]
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))
    published = [{"pid": f"p{n}", "response": f"It is {n}."} for n in range(2)]
    (tmp_path / "gpt.jsonl").write_text("".join(json.dumps(row) + "\n" for row in published))

    def make(**blocks: Any) -> Study:
        values: dict[str, Any] = {
            "study": {"name": "test", "store": str(tmp_path / "store")},
            "data": str(tmp_path),
            "models": {
                "sim": {"provider": "simulated", "oracle": str(tmp_path / "oracle.jsonl")},
                "gpt": {"provider": "recorded", "responses": {"cot": ["gpt.jsonl"]}},
            },
            "settings": {
                "cot": {},
                "first": {"images": "first"},
                "many": {"prompt": "direct", "decoding": {"samples": 3, "temperature": 0.6}},
            },
            "infer": {"models": ["sim"], "settings": ["cot", "first", "many"]},
        }
        return parse_study({**values, **blocks}, "test")

    return make
