"""The way to an answer: captions, turns and made pictures, as the store holds them."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.stages.analyze.conftest import HOSTILE, Folders, make_study
from tests.stages.analyze.pages import Page

from omibench.params.setting import Cell
from omibench.schemas.problem import Question
from omibench.schemas.request import (
    Conversation,
    ImagePart,
    Message,
    Request,
    Response,
    Role,
    Tags,
    TextPart,
    ToolCall,
)
from omibench.schemas.tables import read_jsonl
from omibench.settings.present import present
from omibench.stages.analyze.explorer.pages import write_explorer
from omibench.stages.analyze.explorer.requests import Trail
from omibench.stages.analyze.pages import cell_anchor
from omibench.store.store import Store

CELL = Cell("sim-strong", "cot")


def keep(store: Path, who: str, role: Role, told: Conversation, response: Response) -> str:
    """Put a response into a store as a model's; its key."""
    with Store(store) as opened:
        partition = opened.open_partition({"provider": "openai", "id": who})
        request = Request(conversation=told, tags=Tags(role=role, problem="q"))
        key = partition.key(request)
        partition.append(key, request, response)
    return key


def said(*parts: str | ImagePart) -> Conversation:
    told = tuple(TextPart(text=p) if isinstance(p, str) else p for p in parts)
    return Conversation(messages=(Message(role="user", parts=told),))


@pytest.fixture
def picture(tmp_path: Path) -> ImagePart:
    """One that the store alone keeps."""
    path = tmp_path / "zoomed.png"
    Image.new("RGB", (8, 8), "red").save(path)
    part = ImagePart(sha256=hashlib.sha256(path.read_bytes()).hexdigest(), path=str(path))
    with Store(tmp_path / "store") as store:
        store.images.keep(part)
    return part


def test_each_new_picture_is_shown_where_it_is_first_sent(
    tmp_path: Path, picture: ImagePart
) -> None:
    store = tmp_path / "store"
    own = ImagePart(sha256="0" * 64)
    call = ToolCall(id="1", name="zoom", arguments='{"box": [0, 0, 1, 1]}')
    keys = [
        keep(store, "eyes", "captioner", said("Describe", own), Response(text="A cart.")),
        keep(store, "m", "respondent", said("1", own), Response(text="Closer.", calls=(call,))),
        keep(store, "m", "respondent", said("2", own, picture), Response(text="B", simulated=True)),
    ]
    kept = tmp_path / "explorer" / "images"
    trail = Trail(store, tmp_path / "pictures", tmp_path / "freeze")
    page = tmp_path / "pages" / "q.html"
    link = partial(trail.link_picture, page=page, copies=kept)
    caption, turn, last = trail.steps(keys, [own.sha256], link)
    assert (caption["who"], caption["text"]) == ("captioner eyes", "A cart.")
    assert caption["pictures"] == []
    assert (caption["of"], turn["of"]) == (["IMAGE0"], [])
    assert turn["calls"] == ['zoom {"box": [0, 0, 1, 1]}']
    assert last["simulated"]
    (seen,) = last["pictures"]
    assert seen["src"] is not None
    copy = (page.parent / seen["src"]).resolve()
    assert copy == kept / f"{picture.sha256}.png"
    assert copy.read_bytes() == Path(picture.path).read_bytes()


def test_what_tools_gave_is_told_with_the_turn_that_saw_it(
    tmp_path: Path, picture: ImagePart
) -> None:
    call = ToolCall(id="1", name="zoom", arguments=HOSTILE)
    words = tuple(TextPart(text=text) for text in ("result_1: zoom.", "Now answer."))
    messages = (
        *said("The problem").messages,
        Message(role="assistant", parts=(TextPart(text="Closer."),), calls=(call,)),
        Message(role="tool", parts=(words[0], picture), answers="1"),
        Message(role="user", parts=words[1:]),
    )
    store = tmp_path / "store"
    asked = Conversation(messages=messages)
    keys = [
        keep(store, "m", "respondent", said("The problem"), Response(text="", calls=(call,))),
        keep(store, "m", "respondent", asked, Response(text="B")),
    ]
    first, last = Trail(store, tmp_path, tmp_path).steps(keys, [], lambda _: None)
    assert (first["told"], first["calls"]) == ([], [f"zoom {HOSTILE}"])
    assert last["told"] == ["result_1: zoom.", "Now answer."]
    assert [seen["sha256"] for seen in last["pictures"]] == [picture.sha256]


def test_what_the_store_lacks_is_left_out(tmp_path: Path, picture: ImagePart) -> None:
    key = keep(
        tmp_path / "store", "m", "respondent", said("1"), Response(text="", drawn=(picture,))
    )
    trail = Trail(tmp_path / "store", tmp_path, tmp_path)
    (step,) = trail.steps(["ab" * 32, key], [], lambda _: None)
    assert step["drawn"] == [{"sha256": picture.sha256, "src": None, "at": 0}]
    assert Trail(tmp_path, tmp_path, tmp_path).steps([key], [], lambda _: None) == []


def test_a_page_tells_captions_and_shows_made_pictures(tmp_path: Path) -> None:
    folders: Folders = make_study(tmp_path, per_subject=1)
    blocks = folders.study.model_dump(mode="json", exclude_defaults=True)
    blocks["study"]["store"] = str(tmp_path / "store")
    blocks["settings"]["cot"]["images"] = {"show": "degraded", "by": ["blur"], "grade": 1}
    study = type(folders.study).model_validate(blocks)
    question = read_jsonl(folders.freeze / "questions.jsonl", Question)[0]
    blurred = present(question, study.settings["cot"], folders.freeze)
    caption = keep(
        tmp_path / "store", "eyes", "captioner", said("Describe"), Response(text=HOSTILE + " cart")
    )
    last = keep(tmp_path / "store", "m", "respondent", blurred, Response(text="B"))
    file = folders.infer / CELL.model / f"{CELL.setting}.parquet"
    for path, steps in ((file, True), (folders.score / file.relative_to(folders.infer), False)):
        frame = pl.read_parquet(path)
        mine = pl.col("id") == question.id
        changed = frame.with_columns(key=pl.when(mine).then(pl.lit(last)).otherwise("key"))
        if steps:
            told = pl.when(mine).then(pl.lit([caption, "cd" * 32])).otherwise("steps")
            changed = changed.with_columns(steps=told)
        changed.write_parquet(path)
    results = folders.load(study)
    write_explorer(folders.out / "explorer", results, folders.out / "report.html")
    page = Page(folders.out / "explorer" / "pages" / f"{question.id}.html")
    page.assert_harmless()
    (step,) = page.data["sent"][last]["steps"]
    assert (step["who"], step["text"]) == ("captioner eyes", HOSTILE + " cart")
    assert set(page.data["sent"]) == {caption, last}
    sources = [page.target(link)[0] for link in page.pictures]
    made = [path for path in sources if "pictures" in path.parts]
    assert len(set(made)) == len(question.images)
    assert all(path.is_file() for path in made)
    assert cell_anchor(CELL) in page.anchors
