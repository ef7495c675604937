"""Studies that watch an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Question
from omibench.schemas.tables import write_jsonl
from omibench.study.reevaluate.candidates import ModelCandidate

PRICE = {"input": 2.0, "output": 10.0, "as_of": "2026-11-21"}
TEMPLATE: dict[str, Any] = {"provider": "openai", "base_url": "http://x/v1", "price": PRICE}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Ten frozen questions."""
    path = tmp_path / "questions.jsonl"
    write_jsonl(path, [Question(id=str(n), question=f"What is {n}?") for n in range(10)])
    return path


def watching(**changes: Any) -> Study:
    """A study with one model, two settings and a watch that wants `new-*`."""
    study: dict[str, Any] = {
        "study": {"name": "s"},
        "models": {"old": TEMPLATE | {"id": "old"}},
        "settings": {"cot": {}, "direct": {"decoding": {"max_tokens": 100}}},
        "infer": {"models": ["old"], "settings": ["cot", "direct"]},
        "reevaluate": {
            "watch": {"lab": {"kind": "endpoint", "match": ["new-*", "*/new-*"], "model": TEMPLATE}}
        },
    }
    return parse_study(study | changes, "test")


def watching_with(new: ModelCandidate, **infer: Any) -> Study:
    """The study to which a new model was added."""
    models = {"old": TEMPLATE | {"id": "old"}, new.name: new.block}
    listed = {"models": list(models), "settings": ["cot", "direct"]}
    return watching(models=models, infer=listed | infer)
