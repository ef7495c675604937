r"""A reply that holds half an emoji (`\ud83d`): no request, no file and no later run stumbles."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from pydantic import BaseModel
from tests.asks import ask
from tests.models.apis import KEY_ENV, openai_model
from tests.models.batch.conftest import FAST
from tests.stages.infer.conftest import Make, study_maker
from tests.store.filling import fill, partition_folder, segments, texts

from model_server.faults import HALF_EMOJI
from model_server.handle import ServerHandle
from omibench.models.client.ask import ask as ask_once
from omibench.models.openai import OpenAIProvider
from omibench.models.provider import Folders
from omibench.params.setting import Cell
from omibench.schemas.problem import Question
from omibench.schemas.request import read_calls
from omibench.schemas.tables import (
    ResponseRow,
    content_hash,
    read_parquet,
    write_json,
    write_jsonl,
    write_parquet,
    write_text,
)
from omibench.stages.infer import infer_cell
from omibench.store.segments import encode_line, parse_line, parse_response
from omibench.store.share import as_object, export
from omibench.store.store import Store

REPLY = f"{HALF_EMOJI} \\boxed{{A}}"
CLEAN = "\ufffd \\boxed{A}"


@pytest.fixture
def study(tmp_path: Path) -> Make:
    return study_maker(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_a_cell_is_bought_written_and_built_again(
    server: ServerHandle, api: str, tmp_path: Path, study: Make
) -> None:
    server.configure(replies={"Problem": REPLY})
    base = server.anthropic_url if api == "messages" else server.openai_url
    block = {"id": "stub-model", "base_url": base, "key_env": KEY_ENV}
    kind = {"provider": "anthropic"} if api == "messages" else {"provider": "openai", "api": api}
    made = study(models={"m": block | kind}, infer={"models": ["m"], "settings": ["cot"]})
    questions = tmp_path / "freeze" / "questions.jsonl"
    write_jsonl(questions, [Question(id=f"p{n}", question=f"Problem {n}") for n in range(2)])
    for out in (tmp_path / "one.parquet", tmp_path / "two.parquet"):
        infer_cell(questions, out, made, Cell("m", "cot"))
        frame = read_parquet(out, ResponseRow)
        assert frame["text"].to_list() == [CLEAN, CLEAN]
        assert frame["outcome"].to_list() == ["answered", "answered"]
    assert server.stats()["requests"] == 2


def test_batches_are_collected(server: ServerHandle, tmp_path: Path) -> None:
    server.configure(replies={"q": REPLY}, batch_s=0.0)
    model = openai_model(server, batch=True)
    batches = OpenAIProvider("gpt", model, Folders(batches=tmp_path / "batches"))
    batches.poll_interval = FAST
    with Store(tmp_path / "store") as store:
        (response,) = ask_once([ask("q")], batches, store)
    assert response.text == CLEAN


def test_tools_are_called_by_their_own_names() -> None:
    call = '```tool\n{"tool": "\\ud83d", "arguments": {"\\ude00": "a"}}\n```'
    written = read_calls(call)
    assert written is not None
    assert (written.calls[0].name, json.loads(written.calls[0].arguments)) == (
        "\ufffd", {"\ufffd": "a"},
    )  # fmt: skip


def test_a_line_that_an_earlier_version_wrote_is_read(tmp_path: Path) -> None:
    key, other = fill(tmp_path, range(2))
    (path,) = segments(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    halved = [_halved(line) if key.encode() in line else line for line in lines]
    path.write_bytes(b"".join(halved))
    assert texts(tmp_path, [key, other]) == ["answer \ufffd", "answer 1 é"]
    for out in ("all.jsonl", "all.parquet"):
        assert export([partition_folder(tmp_path)], tmp_path / out).rows == 2
    assert "answer \ufffd" in pl.read_parquet(tmp_path / "all.parquet")["text"].to_list()
    body = parse_line(next(line for line in halved if key.encode() in line))
    assert as_object({}, key, body)["response"]["text"] == "answer \ufffd"
    assert rb"\ud83d" in body.response, "the line itself stays as it is"


def _halved(line: bytes) -> bytes:
    """The line with half an emoji in its response, sealed again."""
    body = parse_line(line)
    new = body.response.replace(b"answer 0 \\u00e9", b"answer \\ud83d")
    assert new != body.response
    return encode_line(json.loads(line)["key"], body._replace(response=new))


def test_a_field_of_a_later_version_beside_half_an_emoji() -> None:
    found = parse_response(rb'{"text":"\ud83d","later":{"x":"\ude00"}}')
    assert found.text == "\ufffd"


class Row(BaseModel):
    text: str
    many: list[str] = []


def test_no_file_is_refused_for_it(tmp_path: Path) -> None:
    rows = [Row(text="a \ud83d", many=["\ude00", "b"]), Row(text="é😀")]
    write_parquet(tmp_path / "a.parquet", rows, Row)
    assert pl.read_parquet(tmp_path / "a.parquet")["text"].to_list() == ["a \ufffd", "é😀"]
    write_jsonl(tmp_path / "a.jsonl", rows)
    first = json.loads((tmp_path / "a.jsonl").read_text("utf-8").splitlines()[0])
    assert first == {"text": "a \ufffd", "many": ["\ufffd", "b"]}
    write_json(tmp_path / "a.json", {"\ud83d": "\ude00"})
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == {"\ufffd": "\ufffd"}
    write_json(tmp_path / "b.json", rows[0])
    write_text(tmp_path / "a.txt", "x\ud83d\n")
    assert (tmp_path / "a.txt").read_text("utf-8") == "x\ufffd\n"
    assert content_hash(rows) == content_hash([Row(text="a \ufffd", many=["\ufffd", "b"]), rows[1]])
