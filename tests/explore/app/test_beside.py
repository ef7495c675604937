"""Pictures by their content, pages of papers, judgements, heat maps, and what was sent."""

from __future__ import annotations

import hashlib
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from tests.explore.app.conftest import Open
from tests.explore.app.studies import draw, make_sources, write_ocr_page
from tests.stages.analyze.explorer.test_steps import keep, said

from omibench.explore.app.pictures import read_page_pictures
from omibench.schemas.request import ImagePart, Response
from omibench.schemas.review import ReviewTask, TaskPicture
from omibench.schemas.tables import (
    JudgementRow,
    ResponseRow,
    SaliencyRow,
    map_file,
    read_parquet,
    write_frame,
    write_parquet,
)
from omibench.store.store import ImageStore


def list_pictures(client: Any) -> list[str]:
    """The pictures of the first item."""
    name = client.get("/api/items?limit=1").json()["items"][0]["id"]
    item = client.get(f"/api/items/{name}").json()["item"]
    return [picture["sha256"] for picture in item["pictures"]]


def test_pictures_of_the_dataset_are_sent_as_what_they_are(client: Any) -> None:
    for sha256 in list_pictures(client):
        answer = client.get(f"/pictures/{sha256}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("image/")
        assert hashlib.sha256(answer.content).hexdigest() == sha256


def test_pictures_that_models_drew_or_settings_derived_are_found(
    folder: Path, open_client: Open
) -> None:
    (drawn, drawn_sha), (derived, derived_sha) = draw("red"), draw("blue")
    store = folder.parent / "store"
    path = ImageStore(store / "images").path(drawn_sha)
    path.parent.mkdir(parents=True)
    path.write_bytes(drawn)
    made = folder / "pictures" / "composite" / f"p.{'0' * 16}-{derived_sha[:16]}.png"
    made.parent.mkdir(parents=True)
    made.write_bytes(derived)
    client = open_client(make_sources(folder, store=store))
    for sha256 in (drawn_sha, derived_sha):
        assert client.get(f"/pictures/{sha256}").status_code == 200
    other = derived_sha[:16] + "0" * 48
    assert client.get(f"/pictures/{other}").status_code == 404


def test_what_is_no_picture_is_not_sent(folder: Path, open_client: Open) -> None:
    page = b"<script>alert(1)</script>"
    sha256 = hashlib.sha256(page).hexdigest()
    store = folder.parent / "store"
    path = ImageStore(store / "images").path(sha256)
    path.parent.mkdir(parents=True)
    path.write_bytes(page)
    assert (
        open_client(make_sources(folder, store=store)).get(f"/pictures/{sha256}").status_code == 404
    )


def test_no_name_leads_out_of_a_dataset(folder: Path, open_client: Open) -> None:
    data, sha256 = draw("green")
    (folder.parent / "secret.png").write_bytes(data)
    path = folder / "freeze" / "questions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["images"][0] |= {"file": "../../secret.png", "sha256": sha256}
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    client = open_client(make_sources(folder))
    assert sha256 in list_pictures(client)
    assert client.get(f"/pictures/{sha256}").status_code == 404


def test_a_picture_that_was_exchanged_is_not_sent(folder: Path, open_client: Open) -> None:
    client = open_client(make_sources(folder))
    sha256 = list_pictures(client)[0]
    name = next(path for path in (folder / "freeze" / "images").iterdir() if sha256 in path.name)
    name.write_bytes(draw("black")[0])
    assert client.get(f"/pictures/{sha256}").status_code == 404


# The page of a paper with the boxes of an item, as a review keeps it.


BOX = (0.1, 0.2, 0.5, 0.4)


def write_review(folder: Path, name: str) -> str:
    """A review with a page of an item; the hash of its picture."""
    data, sha256 = draw("white")
    picture = TaskPicture(sha256=sha256, suffix="png", part="page", label="Page 3", boxes=[BOX])
    task = ReviewTask(
        id=f"page:{name}",
        kind="page",
        problem=name,
        content={"question": "?"},
        content_hash="0" * 64,
        pictures=[TaskPicture(sha256="1" * 64, suffix="png"), picture],
    )
    (folder / "pictures").mkdir(parents=True)
    (folder / picture.file).write_bytes(data)
    (folder / "tasks.jsonl").write_text(task.model_dump_json() + "\n")
    return sha256


def test_an_item_has_its_pages_with_boxes(results: Path, tmp_path: Path, open_client: Open) -> None:
    sources = make_sources(results, pages=tmp_path / "review")
    name = open_client(sources).get("/api/items?limit=1").json()["items"][0]["id"]
    sha256 = write_review(tmp_path / "review", name)
    client = open_client(sources)
    (page,) = client.get(f"/api/items/{name}").json()["item"]["pages_drawn"]
    assert page == {"address": f"/pictures/{sha256}", "label": "Page 3", "boxes": [list(BOX)]}
    assert client.get(page["address"]).status_code == 200


def test_pages_that_ocr_drew_come_first(folder: Path, tmp_path: Path, open_client: Open) -> None:
    questions, data, sha256 = write_ocr_page(folder)
    sources = make_sources(folder, pages=tmp_path / "review")
    write_review(tmp_path / "review", questions[0].id)
    client = open_client(sources)
    (page,) = client.get(f"/api/items/{questions[0].id}").json()["item"]["pages_drawn"]
    assert page == {
        "address": f"/pictures/{sha256}", "label": "Page 2", "boxes": [[0.25, 0.25, 0.5, 0.5]]
    }  # fmt: skip
    assert client.get(page["address"]).content == data
    assert client.get(f"/api/items/{questions[1].id}").json()["item"]["pages_drawn"] == []


def test_a_review_without_readable_tasks_has_no_pages(tmp_path: Path) -> None:
    assert read_page_pictures(tmp_path) == {}
    (tmp_path / "tasks.jsonl").write_text("{broken\n")
    assert read_page_pictures(tmp_path) == {}


# Judgements and heat maps beside the responses of an item.


CELL = "sim-weak/cot"
OPTION = "../<b>"


def open_column(client: Any, name: str) -> Any:
    """The column of one cell."""
    return client.get(f"/api/items/{name}?cells={CELL}").json()["columns"][0]


def first_id(client: Any) -> str:
    """The id of the first item."""
    return str(client.get("/api/items?limit=1").json()["items"][0]["id"])


def test_judgements_stand_beside_their_response(folder: Path, open_client: Open) -> None:
    client = open_client(make_sources(folder))
    name = first_id(client)
    assert open_column(client, name)["samples"][0]["judgements"] == []
    base: dict[str, Any] = {"id": name, "index": 0, "key": "k", "version": 1, "outcome": "scored"}
    rows = [
        JudgementRow(**base, instrument="quality", judge="j", overall=3.0, judge_key="a" * 64),
        JudgementRow(**base, instrument="tempo", judge="j", mark=3.0, lowest=0.0, highest=10.0),
        JudgementRow(**(base | {"index": 5}), instrument="tempo", judge="j"),
    ]
    write_parquet(folder / "judge" / f"{CELL}.parquet", rows, JudgementRow)
    first, second = open_column(client, name)["samples"][0]["judgements"]
    assert (first["instrument"], first["words"]) == ("quality", "overall 3 of 5")
    assert first["key"] == "a" * 64
    assert second["words"] == "3 of 0 to 10"
    (folder / "judge" / f"{CELL}.parquet").write_bytes(b"nothing")
    assert open_column(client, name)["samples"][0]["judgements"] == []


def test_a_heat_map_is_found_by_its_row(folder: Path, open_client: Open) -> None:
    client = open_client(make_sources(folder))
    name = first_id(client)
    assert open_column(client, name)["saliency"] is None
    rows = [
        SaliencyRow(id=name, option=option, logprob=value, chosen=value > -1, sha256="0" * 64, x=x)
        for option, value in (("A", -0.1), (OPTION, -2.0))
        for x in (0, 10)
    ]
    write_parquet(folder / "saliency" / f"{CELL}.parquet", rows, SaliencyRow)
    saliency = open_column(client, name)["saliency"]
    assert [(o["option"], o["logprob"]) for o in saliency["options"]] == [
        ("A", -0.1),
        (OPTION, -2),
    ]
    assert saliency["maps"] == []
    file = BytesIO()
    Image.new("RGB", (2, 2)).save(file, "PNG")
    for option in ("A", OPTION):
        path = map_file(folder / "saliency" / CELL, name, 0, option)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.getvalue())
    maps = open_column(client, name)["saliency"]["maps"]
    assert [entry["option"] for entry in maps] == ["A", OPTION]
    for entry in maps:
        answer = client.get(entry["address"])
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
        assert answer.content == file.getvalue()
    path.write_text("<script>alert(1)</script>")
    assert client.get(maps[1]["address"]).status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        "",
        "model=sim-weak&setting=cot&id=x&image=0&option=A",
        "model=..&setting=..&id=x&image=0&option=A",
        "model=sim-weak&setting=cot&id=x&image=-1&option=A",
        "model=sim-weak&setting=cot&id=" + "x" * 3000 + "&image=0&option=A",
        "model=sim-weak&setting=cot&id=x&image=99999999999&option=A",
    ],
)
def test_an_address_of_no_heat_map_is_refused(client: Any, query: str) -> None:
    assert client.get(f"/heat-map?{query}").status_code == 404


# What was really sent, as the store holds it.


HOSTILE = "<script>alert(1)</script> [IMAGE0]"


def test_a_request_is_shown_with_its_pictures_and_the_steps_before(
    folder: Path, open_client: Open
) -> None:
    store = folder.parent / "store"
    client = open_client(make_sources(folder, store=store))
    name = client.get("/api/items?limit=1").json()["items"][0]["id"]
    picture = client.get(f"/api/items/{name}").json()["item"]["pictures"][0]["sha256"]
    path = next((folder / "freeze" / "images").glob(f"*{picture}*"))
    part = ImagePart(sha256=picture, path=str(path))
    caption = keep(store, "eyes", "captioner", said("Describe", part), Response(text="A cart."))
    key = keep(store, "m", "respondent", said(HOSTILE, part, "then"), Response(text="B"))
    cell = folder / "infer" / "sim-weak" / "cot.parquet"
    rows = read_parquet(cell, ResponseRow)
    is_first = pl.col("id") == name
    rows = rows.with_columns(
        key=pl.when(is_first).then(pl.lit(key)).otherwise("key"),
        steps=pl.when(is_first).then(pl.lit([caption])).otherwise("steps"),
    )
    write_frame(cell, rows, ResponseRow)
    sent = client.get(f"/api/sent/{key}").json()
    (message,) = sent["sent"]["messages"]
    assert message["role"] == "user"
    text, shown, after = message["parts"]
    assert text == {"text": HOSTILE}
    assert shown["picture"] == {"sha256": picture, "src": f"/pictures/{picture}"}
    assert after == {"text": "then"}
    assert sent["said"]["text"] == "B"
    (step,) = sent["steps"]
    assert step["who"].startswith("captioner")
    assert (step["text"], step["of"]) == ("A cart.", ["IMAGE0"])


def test_what_the_store_lacks_is_said(folder: Path, open_client: Open) -> None:
    nothing = {"sent": None, "said": None, "steps": []}
    without = open_client(make_sources(folder))
    assert without.get("/api/sent/" + "0" * 64).json() == nothing
    store = folder.parent / "store"
    keep(store, "m", "respondent", said("1"), Response(text="B"))
    client = open_client(make_sources(folder, store=store))
    assert client.get("/api/sent/" + "0" * 64).json() == nothing
    for key in ("x", "..%2f..%2fx", "A" * 64):
        assert client.get(f"/api/sent/{key}").status_code == 404
