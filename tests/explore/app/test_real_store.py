"""What was sent, from a store that the stage `infer` has filled: captions, made pictures."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from tests.explore.app.conftest import Open
from tests.explore.app.studies import make_sources
from tests.stages.analyze.pages import Page
from tests.stages.infer.pictured import pictured_questions, pictured_study

from omibench.explore.app.live import LiveStudy
from omibench.explore.export import choose_items, export_items
from omibench.explore.query import ItemQuery
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import TextPart
from omibench.schemas.tables import (
    FrozenManifest,
    content_hash,
    read_jsonl,
    write_json,
    write_jsonl,
)
from omibench.stages.infer import infer_cell, list_requests

CELLS = [Cell("a", "words"), Cell("a", "joined"), Cell("a", "worse")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictured")


@pytest.fixture(scope="module")
def study(place: Path) -> Study:
    return pictured_study(place)


@pytest.fixture(scope="module")
def results(place: Path, study: Study) -> Path:
    """Three items under captions, a composite, and blurred pictures; nothing is scored."""
    path = pictured_questions(place)
    questions = read_jsonl(path, Question)
    answers = [Answer(id=q.id, answer=["1"], answer_type="open", n_images=2) for q in questions]
    write_jsonl(path.with_name("answers.jsonl"), answers)
    manifest = FrozenManifest(
        name="pictured", version="1", problems=3, images=6, subjects={"other": 3},
        questions_sha256=content_hash(questions), answers_sha256=content_hash(answers),
    )  # fmt: skip
    write_json(path.with_name("manifest.json"), manifest)
    folder = path.parents[1]
    for cell in CELLS:
        out = folder / "infer" / cell.model / f"{cell.setting}.parquet"
        infer_cell(path, out, study, cell)
    return folder


def list_sent(client: Any, cell: Cell) -> list[Any]:
    """What the explorer says was sent for the first item under a cell, by sample."""
    name = f"{cell.model}/{cell.setting}"
    (column,) = client.get(f"/api/items/p0?cells={name}").json()["columns"]
    return [client.get(f"/api/sent/{sample['key']}").json() for sample in column["samples"]]


def list_parts(sent: Any) -> list[Any]:
    return [part for message in sent["sent"]["messages"] for part in message["parts"]]


@pytest.mark.parametrize("cell", CELLS[1:], ids=lambda cell: cell.setting)
def test_made_pictures_are_shown_as_they_were_sent(
    results: Path, study: Study, open_client: Open, cell: Cell
) -> None:
    client = open_client(make_sources(results, study, store=Path(study.study.store)))
    (sent,) = list_sent(client, cell)
    request = list_requests(results / "freeze" / "questions.jsonl", study, cell)[0]
    asked = [part for message in request.conversation.messages for part in message.parts]
    parts = list_parts(sent)
    assert len(parts) == len(asked)
    for part, expected in zip(parts, asked, strict=True):
        if isinstance(expected, TextPart):
            assert part == {"text": expected.text}
            continue
        assert part["picture"]["sha256"] == expected.sha256
        data = client.get(part["picture"]["src"]).content
        assert hashlib.sha256(data).hexdigest() == expected.sha256
    question = read_jsonl(results / "freeze" / "questions.jsonl", Question)[0]
    shown = {part["picture"]["sha256"] for part in parts if "picture" in part}
    assert shown
    assert not shown & {figure.sha256 for figure in question.images}
    assert sent["said"]["text"]


def test_captions_are_steps_before_the_answer(
    results: Path, study: Study, open_client: Open
) -> None:
    client = open_client(make_sources(results, study, store=Path(study.study.store)))
    samples = list_sent(client, CELLS[0])
    assert len(samples) == 2
    for sent in samples:
        assert [step["text"] for step in sent["steps"]] == ["cart 0", "road 0"]
        assert [step["of"] for step in sent["steps"]] == [["IMAGE0"], ["IMAGE1"]]
        words = "\n".join(part.get("text", "") for part in list_parts(sent))
        assert "cart 0" in words
        assert "road 0" in words


def test_exported_pages_hold_the_same(results: Path, study: Study, tmp_path: Path) -> None:
    sources = make_sources(results, study, store=Path(study.study.store))
    snapshot = LiveStudy(sources).read()
    out = tmp_path / "out"
    export_items(out, snapshot, choose_items(snapshot.study, ["p0"], ItemQuery()))
    page = Page(out / "pages" / "p0.html")
    page.assert_harmless()
    for cell in CELLS[1:]:
        request = list_requests(results / "freeze" / "questions.jsonl", study, cell)[0]
        for image in request.conversation.images:
            assert [link for link in page.pictures if image.sha256 in link]
    captions = [s["key"] for c in page.data["place"]["columns"][:1] for s in c["samples"]]
    for key in captions:
        assert [step["text"] for step in page.data["sent"][key]["steps"]] == ["cart 0", "road 0"]
    assert all(page.target(link)[0].is_relative_to(out.resolve()) for link in page.pictures)
