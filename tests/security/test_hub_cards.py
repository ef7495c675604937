"""A hostile card of the hub: nothing that it says is followed; the pinned commit's files alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.security.hostile import Answer, Got, Hostile, hostile

from omibench.datasets import registry
from omibench.datasets.registry import fetch, load_benchmark
from omibench.errors import FileFormatError, MissingInputError, OmibenchError
from omibench.files import parquet as frames
from omibench.params.benchmark import BenchmarkParams

REVISION = "5" * 40
ROWS = pa.table({"id": ["q-1"], "question": ["?"], "answer": [["1"]]})


@pytest.fixture
def files() -> list[dict[str, object]]:
    """What the server lists as the files of any dataset."""
    return []


@pytest.fixture
def asked(files: list[dict[str, object]]) -> Iterator[Hostile]:
    """A server that has nothing but the list of files, if there are some."""
    pytest.importorskip("huggingface_hub", reason="the extra `hub` is not installed")

    def reply(got: Got) -> Answer:
        if not files or "/tree/" not in got.path:
            return Answer(404)
        return Answer(200, {"Content-Type": "application/json"}, [json.dumps(files).encode()])

    with hostile(reply) as server:
        yield server


def hub(folder: Path, *files: str) -> Path:
    """A dataset whose card has the loader of the library `datasets` read `files`."""
    (folder / "data").mkdir(parents=True)
    pq.write_table(ROWS, folder / "data/test-00000-of-00001.parquet")
    entries = [{"split": f"s{n}", "path": file} for n, file in enumerate(files)]
    config = {"config_name": "default", "data_files": entries}
    (folder / "README.md").write_text(f"---\nconfigs: {json.dumps([config])}\n---\n", "utf-8")
    return folder


def test_a_card_makes_nobody_fetch_an_address_or_a_file_of_this_machine(
    tmp_path: Path, asked: Hostile
) -> None:
    pq.write_table(ROWS, tmp_path / "secret.parquet")
    data = hub(
        tmp_path / "hub",
        f"{asked.url}/x.parquet",
        str(tmp_path / "secret.parquet"),
        "../secret.parquet",
    )
    out = tmp_path / "out"
    out.mkdir()
    fetch(str(data), REVISION, out)
    assert [path.name for path in out.iterdir()] == ["test.parquet"]
    assert asked.got == []


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


@pytest.fixture
def remote(asked: Hostile, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    """The server as the hub."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", asked.url)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    return asked


def test_more_than_a_disk_holds_is_not_downloaded(
    tmp_path: Path, remote: Hostile, files: list[dict[str, object]]
) -> None:
    entry = {"type": "file", "oid": "0" * 40}
    files.append(entry | {"path": "data/test-00000-of-00001.parquet", "size": 2**40})
    files.append({"type": "directory", "oid": "0" * 40, "path": "data"})
    with pytest.raises(FileFormatError, match=r"00001\.parquet \(1,099\.5 GB\) is not downloaded"):
        fetch("a/b", REVISION, tmp_path)
    assert [got.path for got in remote.got if "resolve" in got.path] == []


def test_the_hub_is_asked_for_the_pinned_commit_alone(tmp_path: Path, remote: Hostile) -> None:
    with pytest.raises(MissingInputError, match=f"benchmark.hub: a/b at {REVISION[:12]} cannot be"):
        fetch("a/b", REVISION, tmp_path)
    datasets = [got.path for got in remote.got if "datasets" in got.path]
    assert datasets
    assert all(f"a/b/tree/{REVISION}" in path for path in datasets), datasets


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["../x.jsonl"], "leads out"), (["..\\x.jsonl"], "leads out"), (["/x.jsonl"], "leads out"),
        (["a\0.jsonl"], "is not a path"), (["x" * 300 + ".jsonl"], "is not a path"),
        (["d/" * 1500 + "x.jsonl"], "is not a path"), (["\ud800.jsonl"], "is not a path"),
        (["a.jsonl", "a.jsonl/b.jsonl"], "'a.jsonl/b.jsonl' cannot be copied"),
        (["x" * 300 + ".parquet"], "is not a path"),
        (["x y.parquet", "x-y.parquet"], "two files with the same name"),
        (["SHA256SUMS", "manifest.jsonl", "provenance.json", "../x.json"], "leads out"),
    ],
)  # fmt: skip
def test_a_name_that_no_file_can_have_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], said: str
) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    out.mkdir()
    pq.write_table(ROWS, source)
    monkeypatch.setattr(registry, "_remote", lambda *_: (names, lambda name: source))
    with pytest.raises(OmibenchError, match=said) as raised:
        fetch("a/b", REVISION, out)
    assert len(str(raised.value)) < 500
    assert [path.name for path in tmp_path.iterdir() if path not in (source, out)] == []


def test_what_is_no_file_is_not_copied_and_the_disk_is_not_filled(tmp_path: Path) -> None:
    file = tmp_path / "hub/a.jsonl"
    file.parent.mkdir()
    os.mkfifo(file)
    with pytest.raises(MissingInputError, match="it is a named pipe"):
        fetch(str(file.parent), REVISION, tmp_path)
    file.unlink()
    file.touch()
    os.truncate(file, 2**40)
    with pytest.raises(FileFormatError, match=r"a\.jsonl: has 1099\.5 GB"):
        fetch(str(file.parent), REVISION, tmp_path)


def test_a_long_text_that_many_rows_repeat_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "_FLOOR", 10_000_000)
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 2000, pa.int32()), ["x" * 20_000])
    rows = {"id": [str(n) for n in range(2000)], "question": text, "answer": [["1"]] * 2000}
    pq.write_table(pa.table(rows), tmp_path / "problems.parquet", compression="zstd")
    with pytest.raises(FileFormatError, match=r"unpacks to 1\d\.\d MB, but at most 10\.\d MB"):
        load_benchmark(BenchmarkParams(name="folder"), str(tmp_path), tmp_path)


def test_a_bomb_among_the_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_FLOOR", 10_000_000)
    (tmp_path / "hub").mkdir()
    bomb = pa.table({"id": ["y" * 1_000_000] * 60})
    file = tmp_path / "hub/test.parquet"
    pq.write_table(bomb, file, compression="zstd", use_dictionary=False)
    with pytest.raises(FileFormatError, match=r"test\.parquet: unpacks to 60\.0 MB"):
        fetch(str(tmp_path / "hub"), REVISION, tmp_path)
