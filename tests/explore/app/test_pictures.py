"""Pictures are found by their content and by nothing else."""

from __future__ import annotations

import hashlib
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.explore.app.conftest import Open
from tests.explore.app.studies import copy_results, make_sources

from omibench.store.images import ImageStore


def draw(colour: str) -> tuple[bytes, str]:
    """A small PNG and its SHA-256."""
    file = BytesIO()
    Image.new("RGB", (3, 2), colour).save(file, "PNG")
    return file.getvalue(), hashlib.sha256(file.getvalue()).hexdigest()


@pytest.fixture
def folder(results: Path, tmp_path: Path) -> Path:
    """A copy of the results."""
    return copy_results(results, tmp_path / "results")


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
