"""The page of a paper with the boxes of an item, as a review keeps it."""

from __future__ import annotations

from pathlib import Path

from tests.explore.app.conftest import Open
from tests.explore.app.studies import copy_results, make_sources
from tests.explore.app.test_pictures import draw

from omibench.explore.app.pictures import read_page_pictures
from omibench.schemas.pages import PagePicture
from omibench.schemas.problem import Question
from omibench.schemas.review import ReviewTask, TaskPicture
from omibench.schemas.tables import read_jsonl, write_jsonl

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


def test_pages_that_ocr_drew_come_first(results: Path, tmp_path: Path, open_client: Open) -> None:
    folder = copy_results(results, tmp_path / "results")
    sources = make_sources(folder, pages=tmp_path / "review")
    path = folder / "freeze" / "questions.jsonl"
    questions = read_jsonl(path, Question)
    name = questions[0].id
    figure = questions[0].images[0].model_copy(update={"page": 2, "bbox": (50, 100, 100, 200)})
    changes = {"images": [figure, *questions[0].images[1:]], "source": "ipho", "pages": [2]}
    write_jsonl(path, [questions[0].model_copy(update=changes), *questions[1:]])
    write_review(tmp_path / "review", name)
    data, sha256 = draw("navy")
    (folder / "ocr" / "pages").mkdir(parents=True)
    (folder / "ocr" / "pages" / "p0002.png").write_bytes(data)
    picture = PagePicture(
        source="ipho", page=2, file="pages/p0002.png", sha256=sha256, width=200, height=400
    )
    write_jsonl(folder / "ocr" / "page_pictures.jsonl", [picture])
    client = open_client(sources)
    (page,) = client.get(f"/api/items/{name}").json()["item"]["pages_drawn"]
    assert page == {
        "address": f"/pictures/{sha256}", "label": "Page 2", "boxes": [[0.25, 0.25, 0.5, 0.5]]
    }  # fmt: skip
    assert client.get(page["address"]).content == data
    assert client.get(f"/api/items/{questions[1].id}").json()["item"]["pages_drawn"] == []


def test_a_review_without_readable_tasks_has_no_pages(tmp_path: Path) -> None:
    assert read_page_pictures(tmp_path) == {}
    (tmp_path / "tasks.jsonl").write_text("{broken\n")
    assert read_page_pictures(tmp_path) == {}
