"""Vectors of a sentence-transformers model: loaded without code of others, once."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from omibench.errors import ModelError
from omibench.models.registry import open_provider
from omibench.params.models.providers import SentenceModel
from omibench.schemas.request import Tags
from omibench.stages.rationale.labels.clusters import build_text_request

BLOCK = SentenceModel(provider="sentence-transformers", id="some/model", revision="a" * 40)


class FakeSentences:
    """Stands in the place of the package's class: the length of a text and its first letter."""

    loads: list[dict[str, Any]] = []

    def __init__(self, name: str, **options: Any) -> None:
        if name == "absent":
            raise OSError("no such model\nand many lines more")
        self.loads.append({"name": name, **options})

    def encode(self, text: str, **_: Any) -> np.ndarray[Any, Any]:
        return np.array([len(text), ord(text[0])], dtype=np.float32)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = FakeSentences  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr("omibench.models.local.sentences.require_extra", lambda *_: None)
    monkeypatch.setattr(FakeSentences, "loads", [])
    return FakeSentences.loads


def test_each_text_has_its_vector(fake: list[dict[str, Any]]) -> None:
    requests = [build_text_request(text, "s") for text in ("ab", "b")]
    answers = list(open_provider("vec", BLOCK).answer(requests))
    assert [json.loads(response.text) for _, response in answers] == [[2, 97], [1, 98]]
    (load,) = fake
    assert (load["name"], load["revision"]) == ("some/model", "a" * 40)
    assert load["trust_remote_code"] is False


def test_it_answers_nothing_else(fake: list[dict[str, Any]]) -> None:
    request = build_text_request("a", "s")
    asked = request.model_copy(update={"tags": Tags(role="respondent", problem="p")})
    with pytest.raises(ModelError, match="only embeds texts"):
        list(open_provider("vec", BLOCK).answer([asked]))
    assert not FakeSentences.loads


def test_a_model_that_is_not_there_is_one_line(fake: list[dict[str, Any]]) -> None:
    block = BLOCK.model_copy(update={"id": "absent"})
    with pytest.raises(ModelError, match=r"absent cannot be loaded: no such model$"):
        list(open_provider("vec", block).answer([build_text_request("a", "s")]))
    assert not fake


def test_code_of_others_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="trust_remote_code"):
        SentenceModel.model_validate(BLOCK.model_dump() | {"trust_remote_code": True})
