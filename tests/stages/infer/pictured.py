"""A frozen dataset with real pictures, and a study that shows them under several conditions."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from PIL import Image
from tests.stages.infer.conftest import Make, study_maker

from omibench.params.study import Study
from omibench.schemas.problem import Figure, Question
from omibench.schemas.tables import write_jsonl

WORDS = {"show": "captions", "model": "eyes"}


def pictured_questions(tmp_path: Path) -> Path:
    """Three problems, each with two pictures."""
    folder = tmp_path / "results" / "freeze"
    (folder / "images").mkdir(parents=True)
    rows = []
    for n in range(3):
        figures = []
        for i in range(2):
            path = folder / "images" / f"{n}-{i}.png"
            Image.effect_noise((64, 48), 20 + 10 * n + i).save(path)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            figures.append(Figure(file=f"images/{path.name}", sha256=digest))
        rows.append(Question(id=f"p{n}", question="[IMAGE0] or [IMAGE1]?", images=figures))
    write_jsonl(folder / "questions.jsonl", rows)
    return folder / "questions.jsonl"


def pictured_study(tmp_path: Path) -> Study:
    """Two models under captions by a third, twice; a composite; and blurred pictures."""
    make: Make = study_maker(tmp_path)
    oracle = [
        {"id": f"p{n}", "answer": [str(n)], "captions": [f"cart {n}", f"road {n}"]}
        for n in range(3)
    ]
    path = tmp_path / "oracle.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in oracle))
    sim: dict[str, Any] = {"provider": "simulated", "oracle": str(path)}
    blurred = {"show": "degraded", "by": ["blur"], "grade": 1}
    settings: dict[str, Any] = {
        "words": {"images": WORDS, "decoding": {"samples": 2, "temperature": 0.6}},
        "again": {"images": WORDS, "prompt": "direct"},
        "joined": {"images": "composite"},
        "worse": {"images": blurred},
    }
    return make(
        models={"a": sim, "b": {**sim, "seed": 1}, "eyes": {**sim, "seed": 2}},
        settings=settings,
        infer={"models": ["a", "b"], "settings": list(settings)},
    )
