"""Vectors of texts through the store: bought once, read back as they came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model_server.handle import KEY_ENV, ServerHandle
from omibench.errors import ModelError
from omibench.models.api.failures import Failure
from omibench.models.client.ask import open_asker
from omibench.models.openai import EmbeddingProvider
from omibench.params.models.providers import EmbeddingModel
from omibench.params.study import Study, parse_study
from omibench.schemas.request import Tags
from omibench.stages.rationale.labels.clusters import build_text_request

pytest.importorskip("openai")
BLOCK = EmbeddingModel(provider="openai_embeddings", id="vectors")
PRICE = {"input": 2.0, "output": 0.0, "as_of": "2026-11-01"}


def build_study(server: ServerHandle, folder: Path, **fields: Any) -> Study:
    block = {
        "provider": "openai_embeddings", "id": "vectors", "key_env": KEY_ENV,
        "base_url": f"{server.base_url}/v1", "price": PRICE,
    }  # fmt: skip
    return parse_study(
        {"study": {"store": str(folder / "store")}, "models": {"vec": block | fields}}, "test"
    )


def test_a_vector_is_bought_once(server: ServerHandle, tmp_path: Path) -> None:
    study, texts = build_study(server, tmp_path), ["aerial", "optics"]
    for base_url in (f"{server.base_url}/v1", "http://127.0.0.1:9/v1"):
        block = study.models["vec"].model_copy(update={"base_url": base_url})
        with open_asker(study.model_copy(update={"models": {"vec": block}}), "vec") as ask:
            responses = ask([build_text_request(text, "s") for text in texts])
        assert [json.loads(r.text) for r in responses] == [[2, 1, 1, 0, 0], [0, 0, 1, 1, 0]]
        assert [r.cost_usd for r in responses] == [2e-6, 2e-6]


def test_dimensions_are_asked_for_and_are_another_model(
    server: ServerHandle, tmp_path: Path
) -> None:
    study = build_study(server, tmp_path, dimensions=2)
    with open_asker(study, "vec") as ask:
        (response,) = ask([build_text_request("aerial", "s")])
    assert json.loads(response.text) == [2, 1]
    assert study.models["vec"].store_identity != BLOCK.store_identity


def test_it_answers_nothing_else(server: ServerHandle, tmp_path: Path) -> None:
    request = build_text_request("a", "s")
    asked = request.model_copy(update={"tags": Tags(role="labeller", problem="p")})
    with (
        open_asker(build_study(server, tmp_path), "vec") as ask,
        pytest.raises(ModelError, match=r"'vec': only embeds texts, but has the role labeller"),
    ):
        ask([asked])


@pytest.mark.parametrize(
    "reply",
    [
        None, [], {}, {"data": []}, {"data": [{"embedding": []}]},
        {"data": [{"embedding": "AAAA"}]}, {"data": [{"embedding": [1, None]}]},
        {"data": [{"embedding": [float("inf")]}]}, {"data": [{"embedding": [1]}] * 2},
    ],
)  # fmt: skip
def test_a_body_without_a_vector_is_a_failure(reply: object) -> None:
    with pytest.raises(Failure):
        EmbeddingProvider("vec", BLOCK).read_reply(reply)
