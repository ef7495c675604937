"""The process that reads one exam, on systems that cannot bound its memory."""

from __future__ import annotations

import io
import json
import resource
import sys
from pathlib import Path

import pytest

from omibench.ocr import run, worker
from omibench.ocr.sources import Source
from omibench.ocr.worker import Job
from omibench.params import OcrParams


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
    job = Job(source=Source(name="x", paper=str(paper)), folder=tmp_path, params=OcrParams())
    monkeypatch.setattr(resource, "setrlimit", refuse)
    monkeypatch.setattr(sys, "stdin", io.StringIO(job.model_dump_json()))
    worker.main()
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["error"], outcome["codes"], outcome["pages"]) == (None, [], 2)


def test_the_limit_of_memory_is_set_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[object] = []
    monkeypatch.setattr(resource, "setrlimit", lambda *given: limits.append(given))
    worker._limit_memory(512)
    assert limits == [(resource.RLIMIT_AS, (512 * 2**20, 512 * 2**20))]


@pytest.mark.parametrize(("counted", "cores"), [(3, 3), (None, 1)])
def test_a_system_without_affinity_counts_its_cores(
    monkeypatch: pytest.MonkeyPatch, counted: int | None, cores: int
) -> None:
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: counted)
    assert run._cores() == cores
