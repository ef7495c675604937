"""Ids, texts and labels of others are shown, and do nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.explore.app.conftest import Open
from tests.explore.app.studies import copy_results, make_sources

NAMES = (
    "../../etc/passwd",
    "a/b?c=d&e#f",
    "<script>alert(1)</script>",
    'x" onload="alert(1)',
    "{{7*7}}",
    "é\u202e\u0000z",
)
TEXT = "</script><script>alert(1)</script>\u2028{{7*7}} [IMAGE0] $\\href{javascript:alert(1)}{x}$"


def rename_items(folder: Path) -> None:
    """Give the first items ids of a hostile dataset."""
    for file in ("questions.jsonl", "answers.jsonl"):
        path = folder / "freeze" / file
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for row, name in zip(rows, NAMES, strict=False):
            texts = {"question": f"{TEXT} [IMAGE1]"} if "question" in row else {"answer": [TEXT]}
            row.update({"id": name, **texts})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def client(results: Path, tmp_path: Path, open_client: Open) -> Any:
    """A browser of a hostile dataset."""
    folder = copy_results(results, tmp_path / "<b>results")
    rename_items(folder)
    return open_client(make_sources(folder))


@pytest.mark.parametrize("name", NAMES)
def test_an_item_is_found_by_whatever_id_it_has(client: Any, name: str) -> None:
    address = quote(name, safe="")
    answer = client.get(f"/api/items/{address}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["item"]["id"] == name
    assert answer.json()["item"]["question"].startswith(TEXT)
    page = client.get(f"/items/{address}").text
    assert "<script>alert" not in page
    assert 'onload="alert' not in page
    assert "49" not in page


def test_lists_hold_hostile_texts_as_texts(client: Any) -> None:
    page = client.get("/api/items").json()
    assert [item["id"] for item in page["items"]][: len(NAMES)] == list(NAMES)
    assert page["items"][0]["gold"] == TEXT[:160]
    assert "<b>" not in client.get("/").text
    found = client.get("/api/items", params={"search": "{JavaScript:alert(1)}"}).json()
    assert found["total"] == len(NAMES)


def test_addresses_are_bounded(client: Any) -> None:
    assert client.get("/api/items", params={"search": "x" * 300}).status_code == 400
    assert len(client.get("/api/items?limit=100000").json()["items"]) <= 500
    many = "&".join("cells=sim-weak/cot" for _ in range(5))
    assert client.get(f"/api/items/{quote(NAMES[1], safe='')}?{many}").status_code == 400
