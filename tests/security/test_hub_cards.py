"""A hostile card of the hub: nothing that it says is followed; the pinned commit's files alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from omibench.datasets.registry import fetch
from omibench.errors import FileFormatError, MissingInputError
from omibench.files import parquet as frames

REVISION = "5" * 40
ROWS = pa.table({"id": ["q-1"], "question": ["?"], "answer": [["1"]]})


class Asked(ThreadingHTTPServer):
    """Notes each path that it is asked for, and has nothing."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Nothing)
        self.paths: list[str] = []


class Nothing(BaseHTTPRequestHandler):
    """404, always."""

    def do_GET(self) -> None:
        """One request."""
        assert isinstance(self.server, Asked)
        self.server.paths.append(self.path)
        self.send_error(404)

    do_HEAD = do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def asked() -> Iterator[Asked]:
    pytest.importorskip("huggingface_hub", reason="the extra `hub` is not installed")
    with Asked() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def hub(folder: Path, *files: str) -> Path:
    """A dataset whose card has the loader of the library `datasets` read `files`."""
    (folder / "data").mkdir(parents=True)
    pq.write_table(ROWS, folder / "data/test-00000-of-00001.parquet")
    entries = [{"split": f"s{n}", "path": file} for n, file in enumerate(files)]
    config = {"config_name": "default", "data_files": entries}
    (folder / "README.md").write_text(f"---\nconfigs: {json.dumps([config])}\n---\n", "utf-8")
    return folder


def test_a_card_makes_nobody_fetch_an_address_or_a_file_of_this_machine(
    tmp_path: Path, asked: Asked
) -> None:
    pq.write_table(ROWS, tmp_path / "secret.parquet")
    address = f"http://127.0.0.1:{asked.server_port}/x.parquet"
    data = hub(tmp_path / "hub", address, str(tmp_path / "secret.parquet"), "../secret.parquet")
    out = tmp_path / "out"
    out.mkdir()
    fetch(str(data), REVISION, out)
    assert [path.name for path in out.iterdir()] == ["test.parquet"]
    assert asked.paths == []


def test_no_loader_of_a_dataset_is_run(tmp_path: Path) -> None:
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub/hub.py").write_text("raise SystemExit('run')\n", "utf-8")
    with pytest.raises(MissingInputError, match="a dataset's loader script is never run"):
        fetch(str(tmp_path / "hub"), REVISION, tmp_path)


def test_a_link_in_a_dataset_leads_nowhere_else(tmp_path: Path) -> None:
    data = hub(tmp_path / "hub")
    pq.write_table(ROWS, tmp_path / "secret.parquet")
    (data / "data/train.parquet").symlink_to(tmp_path / "secret.parquet")
    with pytest.raises(FileFormatError, match="leads out of this folder by a link"):
        fetch(str(data), REVISION, tmp_path)


def test_the_hub_is_asked_for_the_pinned_commit_alone(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{asked.server_port}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with pytest.raises(MissingInputError, match=f"benchmark.hub: a/b at {REVISION[:12]} cannot be"):
        fetch("a/b", REVISION, tmp_path)
    datasets = [path for path in asked.paths if "datasets" in path]
    assert datasets
    assert all(f"a/b/tree/{REVISION}" in path for path in datasets), datasets


def test_a_bomb_among_the_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_FLOOR", 10_000_000)
    (tmp_path / "hub").mkdir()
    bomb = pa.table({"id": ["y" * 1_000_000] * 60})
    file = tmp_path / "hub/test.parquet"
    pq.write_table(bomb, file, compression="zstd", use_dictionary=False)
    with pytest.raises(FileFormatError, match=r"test\.parquet: unpacks to 60\.0 MB"):
        fetch(str(tmp_path / "hub"), REVISION, tmp_path)
