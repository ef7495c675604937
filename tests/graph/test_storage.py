"""Files of a storage that is the study's folder are known by their paths in it."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from omibench.errors import UntrustedError
from omibench.graph.hooks import OutputRecorder, refuse_changed, refuse_strangers
from omibench.graph.provenance import read_record, write_record
from omibench.graph.storage import name_file, refresh_copies

CELL = "results/infer/m/cot.parquet"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def stored(path: str) -> Any:
    """A file of a job in the storage, as Snakemake has it."""
    io = pytest.importorskip("snakemake.io")
    address = f"{Path.cwd()}/{path}"
    copy = io.flag(
        f".snakemake/storage/fs{address}", "storage_object", SimpleNamespace(query=address)
    )
    return io.IOFile(copy)


def test_a_file_edited_in_the_storage_is_refused_at_the_next_start() -> None:
    Path(CELL).parent.mkdir(parents=True)
    recorder = OutputRecorder("results")
    jobs: list[Any] = []
    recorder.start(
        SimpleNamespace(touch=False, dag=SimpleNamespace(jobs=jobs), scheduler=SimpleNamespace())
    )
    try:
        jobs.append(SimpleNamespace(jobid=7, output=[stored(CELL)]))  # added by a checkpoint
        Path(CELL).write_text("answers")
        record = logging.LogRecord("snakemake", logging.INFO, "", 0, "", (), None)
        record.event, record.job_id = "job_finished", 7
        recorder.emit(record)
    finally:
        logging.getLogger("snakemake").removeHandler(recorder)
    refuse_changed("results", [], ["params.yaml"])
    Path(CELL).write_text("others!")
    with pytest.raises(UntrustedError, match=f"{CELL} was edited or exchanged"):
        refuse_changed("results", [], ["params.yaml"])


def test_results_with_metadata_under_their_address_are_no_strangers() -> None:
    Path(CELL).parent.mkdir(parents=True)
    Path(CELL).touch()
    with pytest.raises(UntrustedError):
        refuse_strangers("results")
    write_record(str(Path(CELL).resolve()), {"rule": "infer"})
    refuse_strangers("results")
    assert read_record(CELL) == {"rule": "infer"}
    assert name_file("x/y") == "x/y"


def test_copies_that_differ_from_the_storage_are_renewed() -> None:
    here = str(Path.cwd())
    prefix = Path(".snakemake/storage/fs")
    copies = Path(prefix, here.strip("/"))
    copies.mkdir(parents=True)
    for name in ("edited", "same", "removed"):
        Path(name).write_text("1")
        (copies / name).write_text("1")
    Path("edited").write_text("2")
    os.utime("edited", (1, 1))  # also with an older time
    Path("removed").unlink()
    provider = SimpleNamespace(local_prefix=prefix)
    workflow = SimpleNamespace(
        storage_registry=SimpleNamespace(default_storage_provider=provider),
        storage_settings=SimpleNamespace(
            default_storage_provider="fs", default_storage_prefix=here
        ),
    )
    refresh_copies(workflow)
    assert {path.name: path.read_text() for path in copies.iterdir()} == {
        "edited": "2",
        "same": "1",
    }
