"""Judgements and heat maps beside the responses of an item."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.explore.app.conftest import Open
from tests.explore.app.studies import copy_results, make_sources

from omibench.schemas.columns import SaliencyRow, map_file
from omibench.schemas.tables import JudgementRow, write_parquet

CELL = "sim-weak/cot"
HOSTILE = "../<b>"


@pytest.fixture
def folder(results: Path, tmp_path: Path) -> Path:
    """A copy of the results."""
    return copy_results(results, tmp_path / "results")


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
        for option, value in (("A", -0.1), (HOSTILE, -2.0))
        for x in (0, 10)
    ]
    write_parquet(folder / "saliency" / f"{CELL}.parquet", rows, SaliencyRow)
    saliency = open_column(client, name)["saliency"]
    assert [(o["option"], o["logprob"]) for o in saliency["options"]] == [
        ("A", -0.1),
        (HOSTILE, -2),
    ]
    assert saliency["maps"] == []
    file = BytesIO()
    Image.new("RGB", (2, 2)).save(file, "PNG")
    for option in ("A", HOSTILE):
        path = map_file(folder / "saliency" / CELL, name, 0, option)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.getvalue())
    maps = open_column(client, name)["saliency"]["maps"]
    assert [entry["option"] for entry in maps] == ["A", HOSTILE]
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
