"""Cells whose setting lets the model use tools: through the store, every API and a stop midway."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image, ImageDraw

from model_server.handle import KEY_ENV, ServerHandle
from omibench.errors import ImageCountError, ParamsError
from omibench.models.client.ask import Asker
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Figure, Question
from omibench.schemas.request import Request, Response, write_call
from omibench.schemas.tables import ResponseRow, read_parquet, write_jsonl
from omibench.stages.infer import infer_cell
from omibench.store.compaction import compact_partition
from omibench.store.merge import merge_store
from omibench.store.share import absorb, export, write_increment
from omibench.store.store import partition_folders
from omibench.store.verify import verify_store

BOX = {"image": "image_1", "box": [0.1, 0.1, 0.6, 0.6]}
CALLS = [
    {"name": "crop", "arguments": BOX},
    {"name": "draw_lines", "arguments": {"image": "result_1", "lines": [[0, 0, 1, 1]]}},
    {"name": "crop", "arguments": "{broken"},
]
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhg"
    "GAWjR9awAAAABJRU5ErkJggg=="
)
REPLIES: dict[str, Any] = {
    "stubborn": {"text": write_call("look", '{"image": "image_1"}')},
    "hostile": {"text": "```tool\n" * 100 + "[" * 9000},
    "draws": {"text": "\\boxed{5}", "images": [PICTURE]},
    "silent": {"text": "", "calls": CALLS[:1], "rounds": 99},
    "plain": {"text": "\\boxed{2}", "calls": CALLS[:2], "says": "Closer."},
}
Make = Callable[..., Study]


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {"replies": REPLIES}


def frozen(tmp_path: Path, *questions: str) -> Path:
    """questions.jsonl of problems with two small pictures each."""
    folder = tmp_path / "results" / "freeze"
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = []
    for n, text in enumerate(questions):
        figures = []
        for i in range(2):
            image = Image.new("RGB", (160, 120), (40 * n + 20, 90, 200 - 60 * i))
            ImageDraw.Draw(image).ellipse((30, 20, 90, 100), outline="white", width=3)
            name = f"images/{n}-{i}.png"
            image.save(folder / name)
            data = (folder / name).read_bytes()
            figures.append(Figure(file=name, sha256=hashlib.sha256(data).hexdigest()))
        rows.append(Question(id=f"p{n}", question=f"{text}: [IMAGE0] [IMAGE1]?", images=figures))
    write_jsonl(folder / "questions.jsonl", rows)
    return folder / "questions.jsonl"


@pytest.fixture
def make(tmp_path: Path) -> Make:
    oracle = [{"id": f"p{n}", "answer": ["12"]} for n in range(2)]
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))

    def study(tools: dict[str, Any] | None = None, **model: Any) -> Study:
        setting = {"tools": tools} if tools is not None else {}
        block = {"provider": "simulated", "oracle": str(tmp_path / "oracle.jsonl")}
        if model:
            block = {"provider": "openai", "id": "stub-model", "key_env": KEY_ENV, **model}
        values = {
            "study": {"name": "test", "store": str(tmp_path / "store")},
            "data": str(tmp_path),
            "models": {"m": block},
            "settings": {"s": setting},
            "infer": {"models": ["m"], "settings": ["s"]},
        }
        return parse_study(values, "test")

    return study


def rows(questions: Path, study: Study) -> pl.DataFrame:
    out = questions.parent / "out.parquet"
    infer_cell(questions, out, study, Cell("m", "s"))
    return read_parquet(out, ResponseRow)


def store_of(study: Study) -> Path:
    return Path(study.study.store)


def sound(study: Study) -> None:
    store = store_of(study)
    assert verify_store(store, partition_folders(store)).faults == []


@pytest.mark.parametrize("style", ["native", "text"])
@pytest.mark.parametrize("manner", ["free", "sketch", "slow", "flow"])
def test_stand_ins_go_through_the_loop(tmp_path: Path, make: Make, style: str, manner: str) -> None:
    questions = frozen(tmp_path, "plain", "plain")
    study = make({"style": style, "manner": manner})
    found = rows(questions, study)
    stages = {"slow": 2, "flow": 3}.get(manner, 1)
    assert [len(steps) for steps in found["steps"]] == [stages] * 2
    assert found["simulated"].all()
    assert found["text"].str.contains("boxed").all()
    (folder,) = (tmp_path / "results" / "pictures").glob("*")
    assert len(list(folder.glob("crop.*.png"))) == 2
    sound(study)
    same = rows(questions, study)
    assert same.equals(found)
    bare = rows(questions, make())
    assert bare["text"].to_list() == found["text"].to_list()


@pytest.mark.slow
@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_a_loop_is_bought_once_at_every_api(
    tmp_path: Path, make: Make, server: ServerHandle, api: str
) -> None:
    questions = frozen(tmp_path, "plain", "plain")
    study = make({}, **at(server, api))
    found = rows(questions, study)
    assert found["text"].to_list() == ["\\boxed{2}"] * 2
    assert [len(steps) for steps in found["steps"]] == [1, 1]
    paid = server.stats()["requests"]
    assert paid == 4
    for folder in partition_folders(store_of(study)):
        compact_partition(folder)
    assert rows(questions, study).equals(found)
    assert server.stats()["requests"] == paid
    assert found["input_tokens"].min() > (2 + 4) * 256
    sound(study)


def at(server: ServerHandle, api: str) -> dict[str, Any]:
    if api == "messages":
        return {"provider": "anthropic", "base_url": server.anthropic_url}
    return {"base_url": server.openai_url, "api": api}


def test_a_run_that_is_stopped_midway_goes_on_where_it_was(
    tmp_path: Path, make: Make, server: ServerHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = frozen(tmp_path, "plain", "plain")
    study = make({}, **at(server, "chat"))
    keyed, turns = Asker.ask_with_keys, []

    def stopped(self: Asker, requests: Sequence[Request]) -> list[tuple[str, Response]]:
        turns.append(len(requests))
        if len(turns) == 2:
            raise KeyboardInterrupt
        return keyed(self, requests)

    monkeypatch.setattr(Asker, "ask_with_keys", stopped)
    with pytest.raises(KeyboardInterrupt):
        rows(questions, study)
    monkeypatch.setattr(Asker, "ask_with_keys", keyed)
    assert (turns, server.stats()["requests"]) == ([2, 2], 2)
    shutil.rmtree(tmp_path / "results" / "pictures")
    assert rows(questions, study)["text"].to_list() == ["\\boxed{2}"] * 2
    assert server.stats()["requests"] == 4


def test_samples_loop_each_on_their_own(tmp_path: Path, make: Make) -> None:
    questions = frozen(tmp_path, "plain")
    study = make({})
    setting = study.settings["s"]
    three = setting.model_copy(
        update={"decoding": setting.decoding.model_copy(update={"samples": 3})}
    )
    found = rows(questions, study.model_copy(update={"settings": {"s": three}}))
    assert found["index"].to_list() == [0, 1, 2]
    assert found["key"].n_unique() == 3


@pytest.mark.parametrize("word", ["stubborn", "hostile"])
def test_replies_that_only_call_end_at_the_last_turn(
    tmp_path: Path, make: Make, server: ServerHandle, word: str
) -> None:
    questions = frozen(tmp_path, word)
    found = rows(questions, make({"style": "text", "max_turns": 4}, **at(server, "chat")))
    assert [len(steps) for steps in found["steps"]] == [3]
    assert found["outcome"].to_list() == ["answered"]
    assert found["text"][0].startswith("```tool")


def test_pictures_that_tools_made_are_bounded(
    tmp_path: Path, make: Make, server: ServerHandle
) -> None:
    questions = frozen(tmp_path, "stubborn")
    study = make({"style": "text", "images": 4, "max_turns": 8}, **at(server, "chat"))
    rows(questions, study)
    shown = [entry["images"] for entry in server.stats()["contents"].values()]
    assert max(map(len, shown)) == 4


def test_a_model_that_takes_fewer_pictures_is_refused_at_the_start(
    tmp_path: Path, make: Make, server: ServerHandle
) -> None:
    questions = frozen(tmp_path, "plain")
    study = make({}, **at(server, "chat"), can={"images": 9})
    with pytest.raises(ImageCountError, match=r"'s'.*16 pictures.*set `tools.images` to 9"):
        rows(questions, study)
    assert server.stats()["requests"] == 0


def test_tools_without_pictures_are_refused(make: Make) -> None:
    study = make({}).model_dump(mode="json", exclude_unset=True)
    study["settings"]["s"]["images"] = "none"
    with pytest.raises(ParamsError, match="tools need the pictures, but images: none"):
        parse_study(study, "test")


def test_drawn_pictures_live_in_the_store_and_travel_with_it(
    tmp_path: Path, make: Make, server: ServerHandle
) -> None:
    questions = frozen(tmp_path, "draws")
    study = make(**at(server, "chat"))
    found = rows(questions, study)
    store = store_of(study)
    sha256 = hashlib.sha256(base64.b64decode(PICTURE.partition(",")[2])).hexdigest()
    assert found["drawn"].to_list() == [[sha256]]
    kept = store / "images" / sha256[:2] / sha256
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == sha256
    lines = "".join(path.read_text() for path in store.glob("*/*.jsonl"))
    assert f'"drawn":[{{"sha256":"{sha256}"}}]' in lines
    (folder,) = partition_folders(store)
    compact_partition(folder)
    sound(study)
    merge_store(store, tmp_path / "merged")
    write_increment(store, tmp_path / "archive")
    absorb(tmp_path / "archive", tmp_path / "pulled")
    for other in (tmp_path / "merged", tmp_path / "pulled"):
        assert verify_store(other, partition_folders(other)).faults == []
        (other / "images" / sha256[:2] / sha256).unlink()
        (fault,) = verify_store(other, partition_folders(other)).faults
        assert fault.where == sha256[:12]
    export([folder], tmp_path / "all.jsonl")
    (line,) = (tmp_path / "all.jsonl").read_text().splitlines()
    assert json.loads(line)["response"]["drawn"] == [{"sha256": sha256}]
    export([folder], tmp_path / "all.parquet")
    paid = server.stats()["requests"]
    assert rows(questions, study)["text"].to_list() == ["\\boxed{5}"]
    assert server.stats()["requests"] == paid
