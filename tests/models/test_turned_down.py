"""Requests that are turned down for what they hold: an outcome, kept, and never asked again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.asks import ask
from tests.models.apis import KEY_ENV, PRICE, openai_model, provider
from tests.models.batch.conftest import FAST
from tests.stages.infer.conftest import study_maker

from model_server.handle import ServerHandle
from omibench.errors import ModelError
from omibench.models.client.ask import ask as ask_once
from omibench.models.openai import OpenAIProvider
from omibench.models.provider import Folders, Provider
from omibench.params.setting import Cell
from omibench.schemas.problem import Question
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import ResponseRow, read_parquet, write_jsonl
from omibench.stages.infer import infer_cell
from omibench.store.store import Store


def through(folder: Path, model: Provider, requests: list[Request]) -> list[Response]:
    with Store(folder / "store") as store:
        return ask_once(requests, model, store)


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_a_cell_with_thirty_of_them_is_built_and_built_again(
    server: ServerHandle, api: str, tmp_path: Path
) -> None:
    server.configure(too_long=["Long"])
    base = server.anthropic_url if api == "messages" else server.openai_url
    kind = {"provider": "anthropic"} if api == "messages" else {"provider": "openai", "api": api}
    block = kind | {"id": "stub-model", "base_url": base, "key_env": KEY_ENV}
    study = study_maker(tmp_path)(models={"m": block}, infer={"models": ["m"], "settings": ["cot"]})
    questions = tmp_path / "freeze" / "questions.jsonl"
    texts = [f"Short {n}" for n in range(6)] + [f"Long {n}" for n in range(30)]
    write_jsonl(questions, [Question(id=f"p{n}", question=text) for n, text in enumerate(texts)])
    asked = []
    for _ in range(2):
        infer_cell(questions, tmp_path / "cell.parquet", study, Cell("m", "cot"))
        frame = read_parquet(tmp_path / "cell.parquet", ResponseRow)
        assert Counter(frame["outcome"]) == {"answered": 6, "refused": 30}
        turned = frame.filter(outcome="refused")
        assert set(turned["finish_reason"]) == {"context_length_exceeded"}
        assert turned["error"].str.contains("maximum context length is 10 tokens").all()
        stats = server.stats(contents=False)
        asked.append((stats["requests"], stats["rejected"]))
        (tmp_path / "cell.parquet").unlink()
    assert asked == [(6, 30)] * 2


def test_a_cell_that_lacks_only_what_is_turned_down_is_built(
    server: ServerHandle, tmp_path: Path
) -> None:
    # An error that is not about the content: kept by nobody, and no reason to give up the cell.
    model = provider(server, "chat", limits={"concurrency": 4})
    good = [ask(f"Good {n}") for n in range(40)]
    through(tmp_path, model, good)
    server.configure(rejects=["seed"])
    odd = [ask(f"Odd {n}", temperature=0.5) for n in range(25)]
    strange = provider(server, "chat", limits={"concurrency": 4}, can={"seed": True})
    found = through(tmp_path, strange, good + odd)
    assert Counter(r.outcome for r in found) == {"answered": 40, "provider_error": 25}
    with pytest.raises(ModelError, match="rejects every request"):
        through(tmp_path, strange, odd)


@pytest.mark.parametrize("others", [1, 0])
def test_through_batches(server: ServerHandle, tmp_path: Path, others: int) -> None:
    server.configure(too_long=["Long"], batch_s=0.0)
    block = openai_model(server, batch=True, price=PRICE)
    model = OpenAIProvider("gpt", block, Folders(batches=tmp_path / "batches"))
    model.poll_interval = FAST
    requests = [ask("Long"), *[ask(f"q{n}") for n in range(others)]]
    found = through(tmp_path, model, requests)
    assert found[0].outcome == ("refused" if others else "provider_error")
    assert [r.outcome for r in found[1:]] == ["answered"] * others
