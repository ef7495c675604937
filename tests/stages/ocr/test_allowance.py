"""The time of a file is CPU time, and pages that were read in it are kept."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.stages.ocr.conftest import exam

from omibench.errors import PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import OcrReport, PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import jobs as allowance
from omibench.stages.ocr import read_papers
from omibench.stages.ocr import stage as run
from omibench.stages.ocr.jobs import Allowance, OcrJob, page_noted
from omibench.stages.ocr.pipeline import read_source
from omibench.stages.ocr.sources.manifest import Source

OUTCOME = """
import json, sys, time
job = json.loads(sys.stdin.read())
for name in ("problems", "pages"):
    open(f"{job['folder']}/{name}.jsonl", "w").close()
"""


def job(paper: Path, folder: Path, key: Path | None = None) -> OcrJob:
    source = Source(name="x", paper=str(paper), key=str(key) if key else None)
    folder.mkdir()
    return OcrJob(source=source, folder=folder, params=OcrParams(timeout_s=5))


def worked(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(run, "_WORKER", (sys.executable, "-c", OUTCOME + script))


def clock(monkeypatch: pytest.MonkeyPatch, *seconds: float) -> None:
    """What the clock shows each time that it is looked at; the last for good."""
    shown = list(seconds)
    monkeypatch.setattr(
        allowance, "cpu_spent", lambda: shown.pop(0) if len(shown) > 1 else shown[0]
    )


def test_a_reader_that_waits_for_a_busy_machine_is_not_given_up(
    bad_papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked(monkeypatch, 'time.sleep(1); print(json.dumps({"pages": 2}))')
    report = read_papers([bad_papers / "whole.pdf"], tmp_path / "out", OcrParams(timeout_s=0.2))
    assert (report.files[0].status, report.files[0].pages) == ("ok", 2)


def test_pages_that_were_read_in_time_are_kept_and_the_others_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam(4).save(tmp_path / "paper.pdf")
    whole = job(tmp_path / "paper.pdf", tmp_path / "whole")
    read_source(whole)
    numbers = [p.number for p in read_jsonl(whole.folder / "problems.jsonl", Problem)]
    assert not whole.note.exists()

    cut = job(tmp_path / "paper.pdf", tmp_path / "cut")
    clock(monkeypatch, 100, 100, 103, 106)
    outcome = read_source(cut)
    assert outcome.codes == ["page_timeout"]
    assert outcome.where == {"page_timeout": "pages 3-4"}
    kept = read_jsonl(cut.folder / "problems.jsonl", Problem)
    assert [p.number for p in kept] == numbers[: len(numbers) // 2]
    pages = read_jsonl(cut.folder / "pages.jsonl", PageText)
    assert [page.engine for page in pages] == ["textlayer", "textlayer", "none", "none"]


def test_pages_of_a_key_that_were_not_read_are_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam(2).save(tmp_path / "paper.pdf")
    exam(3).save(tmp_path / "key.pdf")
    with_key = job(tmp_path / "paper.pdf", tmp_path / "out", tmp_path / "key.pdf")
    clock(monkeypatch, 0, 0, 0, 0, 0, 9)
    outcome = read_source(with_key)
    assert outcome.where == {"page_timeout": "pages 2-3 of key.pdf"}
    assert "page_timeout" in outcome.codes


def test_a_page_over_which_the_process_was_ended_is_left_out(
    bad_papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked(
        monkeypatch,
        """
if not job["skipped"]:
    open(f"{job['folder']}/page", "w").write("0 2")
    import os
    os.kill(os.getpid(), 24)
print(json.dumps({"pages": 3, "codes": ["page_timeout"], "where": {"page_timeout": "page 2"}}))
""",
    )
    report = read_papers([bad_papers / "whole.pdf"], tmp_path / "out", OcrParams())
    (file,) = report.files
    assert (file.status, file.codes, file.pages) == ("warning", ["page_timeout"], 3)
    written = OcrReport.model_validate_json((tmp_path / "out/report.json").read_text("utf-8"))
    assert written.files[0].where == {"page_timeout": "page 2"}


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 11)", "sys.exit('MemoryError')"])
def test_pages_on_which_the_process_fails_are_left_out(
    bad_papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    worked(
        monkeypatch,
        f"""
import os, sys
failed = job["failed"].get("0", [])
if len(failed) < 2:
    open(f"{{job['folder']}}/page", "w").write(f"0 {{3 - len(failed)}}")
    {end}
where = {{"page_failed": f"pages {{failed}}"}}
print(json.dumps({{"pages": 3, "codes": ["page_failed"], "where": where}}))
""",
    )
    (file,) = read_papers([bad_papers / "whole.pdf"], tmp_path / "out", OcrParams()).files
    assert (file.status, file.codes) == ("warning", ["page_failed"])
    assert file.where == {"page_failed": "pages [3, 2]"}


def test_a_process_that_fails_on_every_page_fails_the_paper(
    bad_papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked(
        monkeypatch,
        """
import sys
pages = len(job["failed"].get("0", []))
open(f"{job['folder']}/page", "w").write(f"0 {pages + 1}")
sys.exit(f"attempt {pages}")
""",
    )
    (file,) = read_papers([bad_papers / "whole.pdf"], tmp_path / "out", OcrParams()).files
    assert (file.status, file.codes) == ("error", ["paper_failed"])


def test_a_failed_page_is_not_read(tmp_path: Path) -> None:
    exam(3).save(tmp_path / "paper.pdf")
    some = job(tmp_path / "paper.pdf", tmp_path / "out")
    outcome = read_source(some.model_copy(update={"failed": {0: [1], 1: [2]}, "skipped": {0: [3]}}))
    assert outcome.where == {"page_failed": "page 1", "page_timeout": "page 3"}
    with pytest.raises(PaperError, match="no page can be read"):
        read_source(some.model_copy(update={"failed": {0: [1, 2, 3]}}))


def test_pages_of_an_engine_have_more_time(tmp_path: Path) -> None:
    some = job(tmp_path / "a.pdf", tmp_path / "out", tmp_path / "b.pdf")
    more = some.model_copy(update={"waiting": {1: 3}})
    assert [more.limit_s(0), more.limit_s(1)] == [5, 5 + 3 * 60]
    assert more.most_s == 5 + 5 + 180 + 30


def test_the_note_names_the_page_that_is_read(tmp_path: Path) -> None:
    note = tmp_path / "page"
    own = Allowance(60, note, 1)
    assert own.begins(7)
    assert page_noted(note) == (1, 7)
    own.end()
    assert page_noted(note) is None
    note.write_text("broken")
    assert page_noted(note) is None


def test_a_process_ends_when_its_cpu_time_is_used_up() -> None:
    code = "from omibench.stages.ocr.jobs import limit_cpu; limit_cpu(0.5)\nwhile True: pass"
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=300)
    assert done.returncode == -signal.SIGXCPU
