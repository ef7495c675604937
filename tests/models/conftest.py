"""A small oracle, and simulated models that answer from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.asks import ask

from model_server.handle import KEY, KEY_ENV
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.models.providers import SimulatedModel
from omibench.schemas.request import Request, Role

ROWS: list[dict[str, Any]] = [
    {
        "id": "mcq", "answer": ["B"], "answer_type": "mcq", "choices": ["A", "B", "C", "D"],
        "difficulty": 0.3, "n_images": 3, "subject": "physics", "topic": "optics",
        "captions": ["A lens of 5 cm.", "A ray."], "translation": "A lens of 5 cm is shown.",
        "rationale": "The lens inverts the picture.", "statement": "Una lente de 5 cm.",
    },
    {
        "id": "number", "answer": ["12.5"], "answer_type": "open", "difficulty": -0.2,
        "subject": "physics", "topic": "mechanics",
    },
    {
        "id": "parts", "answer": ["(a) 3 m", "(b) TRUE"], "answer_type": "open",
        "difficulty": 0.0, "subject": "biology", "topic": "genetics",
    },
    {"id": "word", "answer": ["mitosis"], "answer_type": "open", "subject": "biology"},
    {"id": "word2", "answer": ["osmosis"], "answer_type": "open", "subject": "biology"},
    {"id": "scan#p1", "page_text": "1. A body of 3 kg falls."},
]  # fmt: skip

Make = Callable[..., SimulatedProvider]


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of the models, for tests without `server`."""
    monkeypatch.setenv(KEY_ENV, KEY)


@pytest.fixture
def oracle_file(tmp_path: Path) -> Path:
    path = tmp_path / "oracle.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def simulate(oracle_file: Path) -> Make:
    """Make a simulated model with the given parameters."""

    def make(name: str = "sim", **parameters: object) -> SimulatedProvider:
        values = {"provider": "simulated", "oracle": str(oracle_file), **parameters}
        return SimulatedProvider(name, SimulatedModel.model_validate(values))

    return make


def request(
    problem: str,
    prompt: str = "Give the answer in \\boxed{ANSWER}.",
    role: Role = "respondent",
    index: int = 0,
    setting: str = "cot",
    max_tokens: int = 4096,
) -> Request:
    """One request of a text."""
    return ask(
        prompt, role=role, problem=problem, setting=setting, index=index, max_tokens=max_tokens
    )


def reply(
    model: SimulatedProvider, role: Role, problem: str, prompt: str = "", index: int = 0
) -> str:
    """What a simulated model says in a role."""
    ((_, response),) = model.answer([request(problem, prompt, role, index)])
    assert response.simulated
    return response.text
