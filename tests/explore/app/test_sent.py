"""What was really sent, as the store holds it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.explore.app.conftest import Open
from tests.explore.app.studies import copy_results, make_sources
from tests.stages.analyze.explorer.test_steps import keep, said

from omibench.schemas.request import ImagePart, Response
from omibench.schemas.tables import ResponseRow, read_parquet, write_frame

HOSTILE = "<script>alert(1)</script> [IMAGE0]"


@pytest.fixture
def folder(results: Path, tmp_path: Path) -> Path:
    """A copy of the results."""
    return copy_results(results, tmp_path / "results")


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
