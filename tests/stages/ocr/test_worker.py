"""The process that reads one exam, on systems that cannot bound its memory."""

from __future__ import annotations

import io
import json
import resource
import sys
from pathlib import Path

import pymupdf
import pytest

from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr import jobs, read_papers, worker
from omibench.stages.ocr import jobs as allowance
from omibench.stages.ocr.jobs import OcrJob
from omibench.stages.ocr.sources.manifest import Source


@pytest.mark.parametrize(
    "refusal", [ValueError("current limit exceeds maximum"), OSError(22, "no")]
)
def test_a_system_that_refuses_the_limit_of_memory_still_reads_papers(
    bad_papers: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    refusal: Exception,
) -> None:
    def refuse(*_: object) -> None:
        raise refusal

    paper = bad_papers / "whole.pdf"
    job = OcrJob(source=Source(name="x", paper=str(paper)), folder=tmp_path, params=OcrParams())
    monkeypatch.setattr(resource, "setrlimit", refuse)
    monkeypatch.setattr(sys, "stdin", io.StringIO(job.model_dump_json()))
    worker.main()
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["error"], outcome["codes"], outcome["pages"]) == (None, [], 2)


def test_the_limit_of_memory_is_set_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[object] = []
    monkeypatch.setattr(resource, "setrlimit", lambda *given: limits.append(given))
    allowance.limit_memory(512)
    assert limits == [(resource.RLIMIT_AS, (512 * 2**20, 512 * 2**20))]


@pytest.mark.parametrize(("counted", "cores"), [(3, 3), (None, 1)])
def test_a_system_without_affinity_counts_its_cores(
    monkeypatch: pytest.MonkeyPatch, counted: int | None, cores: int
) -> None:
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: counted)
    assert jobs.count_workers(4) == cores


def test_a_paper_is_not_charged_with_the_memory_of_who_reads_it(tmp_path: Path) -> None:
    # A process begins with its parent's peak on its account; only its own counts.
    held = bytearray(200 * 2**20)
    held[:: 2**12] = b"\1" * len(held[:: 2**12])
    paper = tmp_path / "paper.pdf"
    with pymupdf.open() as pdf:
        pdf.new_page().insert_text((72, 72), "1. How long is the rod, in metres, of the figure?")
        pdf.save(paper)
    (file,) = read_papers([paper], tmp_path / "out", OcrParams()).files
    del held
    assert file.peak_mb is not None
    assert 10 < file.peak_mb < 400


def test_memory_that_a_library_lacks_is_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: OcrJob) -> None:  # as PyMuPDF does for a page of millions of drawings
        raise SystemError("a result with an exception set") from MemoryError()

    job = OcrJob(source=Source(name="x", paper="x.pdf"), folder=tmp_path, params=OcrParams())
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO(job.model_dump_json()))
    monkeypatch.setattr(worker, "read_source", fail)
    worker.main()
    assert json.loads(capsys.readouterr().out)["error"][0] == "paper_out_of_memory"
