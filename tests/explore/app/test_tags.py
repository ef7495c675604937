"""Tags: shared by all who use a review folder, and kept through bad lines and kills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.explore.app.conftest import Open
from tests.explore.app.studies import make_sources

from omibench.errors import FileFormatError
from omibench.review.tags import TAGS, TagEvent, append_tags, read_tag_events, read_tags


@pytest.fixture
def review(tmp_path: Path) -> Path:
    return tmp_path / "review"


@pytest.fixture
def users(results: Path, review: Path, open_client: Open) -> list[Any]:
    """Browsers of two servers that share a review folder."""
    return [open_client(make_sources(results, review=review)) for _ in range(2)]


def send(client: Any, **values: Any) -> Any:
    tag = {"id": "physics_00", "tag": "odd", "person": "ann"}
    return client.post("/api/tags", json=tag | values)


def read(client: Any, name: str = "physics_00") -> list[dict[str, Any]]:
    tags: list[dict[str, Any]] = client.get(f"/api/items/{name}").json()["tags"]
    return tags


def test_a_tag_is_seen_by_the_users_of_another_server(users: list[Any]) -> None:
    first, second = users
    assert send(first, tag="  blurred\tscan ").status_code == 201
    assert [(tag["tag"], tag["person"]) for tag in read(second)] == [("blurred scan", "ann")]
    send(second, tag="odd", person="ben", cell="sim-weak/cot", index=0)
    assert {tag["tag"]: (tag["cell"], tag["index"]) for tag in read(first)} == {
        "blurred scan": ("", None),
        "odd": ("sim-weak/cot", 0),
    }
    page = first.get("/api/items?tags=odd").json()
    assert [item["tags"] for item in page["items"]] == [["blurred scan", "odd"]]
    assert page["counts"]["tags"] == {"odd": 1, "blurred scan": 1}
    assert first.get("/api/items/physics_01").json()["known"] == ["blurred scan", "odd"]


def test_anyone_removes_a_tag_whatever_its_case(users: list[Any], review: Path) -> None:
    first, second = users
    for _ in range(2):
        send(first, tag="Odd")
    assert len(read(second)) == 1
    assert send(second, tag="odd", person="ben", removed=True).json()["tags"] == []
    assert read(first) == []
    assert [event.person for event in read_tag_events(review / TAGS).rows] == ["ann", "ann", "ben"]


def test_a_removal_without_effect_leaves_no_line(users: list[Any], review: Path) -> None:
    send(users[0], tag="odd")
    before = (review / TAGS).read_bytes()
    assert send(users[0], tag="even", removed=True).status_code == 201
    assert send(users[0], removed=True, cell="sim-weak/cot", index=0).status_code == 201
    assert (review / TAGS).read_bytes() == before
    assert len(read(users[1])) == 1


def test_two_spellings_of_a_tag_are_one_facet(users: list[Any]) -> None:
    send(users[0], tag="Bug")
    send(users[1], tag="bug", id="physics_01")
    page = users[0].get("/api/items?tags=BUG").json()
    assert page["counts"]["tags"] == {"Bug": 2}
    assert {item["id"]: item["tags"] for item in page["items"]} == {
        "physics_00": ["Bug"],
        "physics_01": ["Bug"],
    }
    assert users[0].get("/api/items/physics_01").json()["known"] == ["Bug"]


def test_a_list_is_downloaded_with_its_tags(users: list[Any]) -> None:
    send(users[0])
    answer = users[1].get("/list.csv?tags=odd")
    assert answer.headers["content-type"].startswith("text/csv")
    assert 'filename="problems.csv"' in answer.headers["content-disposition"]
    lines = answer.text.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("physics_00,")
    assert users[1].get("/list.jsonl?tags=odd").json()["tags"] == ["odd"]
    assert users[1].get("/list.exe").status_code == 404


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"tag": ""}, 400),
        ({"tag": "x" * 61}, 400),
        ({"tag": "a\u202eb"}, 400),
        ({"tag": ["a"]}, 400),
        ({"person": " "}, 400),
        ({"id": "nothing"}, 404),
        ({"cell": "nobody/cot", "index": 0}, 404),
        ({"cell": "sim-weak/cot", "index": -1}, 400),
        ({"cell": "sim-weak/cot", "index": "0x"}, 400),
        ({"cell": "sim-weak/cot", "index": "0"}, 400),
        ({"cell": "sim-weak/cot", "index": True}, 400),
        ({"cell": "sim-weak/cot", "index": 10**30}, 400),
        ({"cell": "sim-weak/cot"}, 400),
        ({"cell": "sim-weak/cot", "index": 99}, 404),
        ({"cell": "sim-weak", "index": 0}, 400),
        ({"cell": "/cot", "index": 0}, 404),
        ({"removed": "false"}, 400),
    ],
)
def test_what_is_no_tag_is_refused(
    users: list[Any], review: Path, values: dict[str, Any], status: int
) -> None:
    answer = send(users[0], **values)
    assert answer.status_code == status
    assert answer.json()["message"]
    assert not (review / TAGS).exists()


def test_only_known_people_tag_where_people_are_listed(users: list[Any], review: Path) -> None:
    review.mkdir()
    (review / "reviewers.yaml").write_text("- {name: ann, roles: [annotator]}\n")
    assert send(users[0], person="eve").status_code == 404
    assert send(users[0]).status_code == 201


def test_without_a_review_folder_tags_are_off(client: Any) -> None:
    answer = send(client)
    assert answer.status_code == 400
    assert "--review DIR" in answer.json()["message"]


def test_bad_lines_are_skipped_and_a_cut_line_is_ended(users: list[Any], review: Path) -> None:
    send(users[0])
    with (review / TAGS).open("a") as file:
        file.write('{"tag": 7}\nnot json\n{"id": "cut')
    assert [tag["tag"] for tag in read(users[1])] == ["odd"]
    send(users[1], tag="next")
    assert [tag.tag for tag in read_tags(review)] == ["odd", "next"]
    assert len(read_tag_events(review / TAGS).errors) == 3


def test_events_are_added_once(review: Path) -> None:
    event = TagEvent(person="ann", tag="odd", problem="p")
    assert append_tags(review, [event, event]) == 1
    assert append_tags(review, [event]) == 0
    with pytest.raises(FileFormatError, match="belongs to another tag"):
        append_tags(review, [event.model_copy(update={"tag": "even"})])
    assert read_tags(review) == [event]


def test_a_thumbnail_is_a_small_picture(client: Any) -> None:
    item = client.get("/api/items?limit=1").json()["items"][0]
    assert item["thumbnails"]
    answer = client.get(item["thumbnails"][0])
    assert answer.headers["content-type"] == "image/png"
    width, height = (int.from_bytes(answer.content[n : n + 4]) for n in (16, 20))
    assert 0 < width <= 144
    assert 0 < height <= 72
    assert client.get("/thumbnails/" + "0" * 64).status_code == 404
    assert client.get("/thumbnails/..%2Fx").status_code == 404
