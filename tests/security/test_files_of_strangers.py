"""Files that came along with another person's data or results: each way of hanging is one line."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from omibench.answers.judges.gptscore import GPTSCORE
from omibench.answers.judges.instrument import build_prompt
from omibench.datasets.registry import load_benchmark
from omibench.errors import FileFormatError, MissingInputError, OmibenchError, PaperError
from omibench.files import parquet as frames
from omibench.graph.provenance import FOLDER, NAME, read_provenance, read_record
from omibench.models.cost import image_size
from omibench.models.recorded import _rows
from omibench.papers.tables import read_table
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Question
from omibench.schemas.tables import (
    FrozenManifest,
    ResponseRow,
    read_jsonl,
    read_parquet,
    read_typed_json,
)
from omibench.settings.present import load_prompt
from omibench.stages.analyze.certificates import _has_reasoning_certificates
from omibench.stages.certify.labels import read_labels
from omibench.stages.filter.candidate import difference_hash
from omibench.stages.ocr.sources.files import hash_regular_file
from omibench.store.merge import merge_store
from omibench.study.reevaluate.changes import read_standings
from omibench.study.status.runs import _read_run as read_run

DEEP = '{"a":' * 50_000
READERS: dict[str, Callable[[Path], object]] = {
    "x.jsonl": lambda path: read_jsonl(path, Question),
    "manifest.json": lambda path: read_typed_json(path, FrozenManifest),
    "x.parquet": lambda path: read_parquet(path, ResponseRow),
    "labels.csv": read_labels,
    "labels.jsonl": read_labels,
    "printed.csv": read_table,
    "metrics.json": read_standings,
    NAME: lambda path: read_provenance(path.parent),
    "recorded.jsonl": lambda path: list(_rows(path)),
    "recorded.parquet": lambda path: list(_rows(path)),
    "picture.png": difference_hash,
    "own.txt": lambda path: build_prompt(GPTSCORE, str(path)),
    "prompt.txt": lambda path: load_prompt(str(path)),
}
BENCHMARKS = {
    "problems.csv": "folder", "problems.json": "folder", "problems.jsonl": "folder",
    "problems.parquet": "folder", "x.parquet": "emma",
}  # fmt: skip


def load(path: Path) -> object:
    params = BenchmarkParams.model_validate({"name": BENCHMARKS[path.name]})
    return load_benchmark(params, str(path.parent), path.parent)


@pytest.mark.parametrize(
    ("make", "message"),
    [(os.mkfifo, "it is a named pipe, not a file"), (os.mkdir, "folder")],
)
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_is_an_error_and_not_waited_for(
    tmp_path: Path, name: str, make: Callable[[Path], None], message: str
) -> None:
    make(tmp_path / name)
    with pytest.raises(OmibenchError, match=message):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", [n for n in READERS if n.endswith((".json", ".jsonl"))])
@pytest.mark.parametrize("content", [DEEP, DEEP + "1" + "}" * 50_000, '{"a": NaN}', "\xff" * 9])
def test_json_that_is_none_is_an_error(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(OmibenchError) as error:
        READERS[name](tmp_path / name)
    assert "\n" not in str(error.value)
    assert name in str(error.value)


@pytest.mark.parametrize("name", ["problems.json", "problems.jsonl"])
@pytest.mark.parametrize("content", [DEEP, '[{"id": NaN}]', '[{"a":1,"a":2}]', r'["\ud83d"]'])
def test_problems_that_are_no_json_are_an_error(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(FileFormatError, match=name):
        load(tmp_path / name)


def test_long_fields_are_read_and_endless_ones_refused(tmp_path: Path) -> None:
    file = tmp_path / "problems.csv"
    file.write_text(f"id,question,answer\na,{'x' * 300_000},1\n", "utf-8")
    load(file)
    file.write_text(f'id,question,answer\na,"{"x" * (17 * 2**20)},1\n', "utf-8")
    with pytest.raises(FileFormatError, match=r"problems\.csv, line 2: is not CSV: field larger"):
        load(file)
    (tmp_path / "labels.csv").write_text(f'id,label\n"{"x" * (17 * 2**20)},1\n', "utf-8")
    with pytest.raises(FileFormatError, match="is not CSV: field larger"):
        read_labels(tmp_path / "labels.csv")


@pytest.mark.parametrize("name", ["x.parquet", "recorded.parquet", "problems.parquet"])
def test_a_bomb_of_parquet_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(frames, "_FLOOR", 10_000_000)
    rows = pa.table({"id": ["y" * 1_000_000] * 60})
    pq.write_table(rows, tmp_path / name, compression="zstd", use_dictionary=False)
    read = load if name in BENCHMARKS and name not in READERS else READERS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileFormatError, match=r"unpacks to 60\.0 MB, but at most 10\.0 MB"):
        read(tmp_path / name)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_notes_that_are_broken_are_no_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for content in (DEEP, "[1]", '"x"', "\xff"):
        file = tmp_path / "run.jsonl"
        file.write_bytes(content.encode("latin-1"))
        assert read_run(file) is None
        assert not _has_reasoning_certificates(file)
        record = FOLDER / "metadata" / "eA=="
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_bytes(content.encode("latin-1"))
        assert read_record("x") is None
    os.mkfifo(tmp_path / "pipe")
    assert read_run(tmp_path / "pipe") is None
    assert not _has_reasoning_certificates(tmp_path / "pipe")
    assert image_size(str(tmp_path / "pipe")) is None
    with pytest.raises(PaperError, match="it is a named pipe"):
        hash_regular_file(tmp_path / "pipe")


@pytest.mark.parametrize(
    "content",
    [
        {"files": {"../../secret": "0" * 64}, "records": {}},
        {"files": {"/etc/passwd": "0" * 64}, "records": {}},
        {"files": {}, "records": {"results/score/m/s.parquet": {}}},
        {"files": {}, "records": {"results/infer/../../x": {}}},
        {"files": {}, "records": {"/etc/passwd": {}}},
    ],
)
def test_provenance_speaks_of_its_own_stage_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: dict[str, object]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("results/infer")
    folder.mkdir(parents=True)
    (folder / NAME).write_text(json.dumps(content), "utf-8")
    with pytest.raises(FileFormatError, match="which is not a file of this stage"):
        read_provenance(folder)


def test_a_pipe_in_a_store_of_others_is_not_waited_for(tmp_path: Path) -> None:
    name = "ab" + "0" * 62
    (tmp_path / "theirs/images/ab").mkdir(parents=True)
    os.mkfifo(tmp_path / "theirs/images/ab" / name)
    merged = merge_store(tmp_path / "theirs", tmp_path / "ours")
    assert (merged.images, len(merged.faults)) == (0, 1)


def test_a_missing_file_is_still_told_as_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="the file does not exist"):
        read_parquet(tmp_path / "none.parquet", ResponseRow)
