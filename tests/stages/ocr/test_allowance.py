"""The time of a file is CPU time, and pages that were read in it are kept."""

from __future__ import annotations

import resource
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


def clock(monkeypatch: pytest.MonkeyPatch, *seconds: float) -> None:
    """What the clock shows each time that it is looked at; the last for good."""
    shown = list(seconds)
    monkeypatch.setattr(
        allowance, "cpu_spent", lambda: shown.pop(0) if len(shown) > 1 else shown[0]
    )


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


SKIPS = """
import os
if not job["skipped"]:
    open(f"{job['folder']}/page", "w").write("0 2")
    os.kill(os.getpid(), 24)
print(json.dumps({"pages": 3, "codes": ["page_timeout"], "where": {"page_timeout": "page 2"}}))
"""
FAILS = """
import os
failed = job["failed"].get("0", [])
if len(failed) < MOST:
    open(f"{job['folder']}/page", "w").write(f"0 {3 - len(failed)}")
    END
where = {"page_failed": f"pages {failed}"}
print(json.dumps({"pages": 3, "codes": ["page_failed"], "where": where}))
"""


@pytest.mark.parametrize(
    ("script", "status", "where", "codes"),
    [
        ('time.sleep(1); print(json.dumps({"pages": 3}))', "ok", {}, []),
        (SKIPS, "warning", {"page_timeout": "page 2"}, ["page_timeout"]),
        *(
            (FAILS.replace("MOST", "2").replace("END", end), "warning",
             {"page_failed": "pages [3, 2]"}, ["page_failed"])
            for end in ("os.kill(os.getpid(), 11)", "sys.exit('MemoryError')")
        ),
        (FAILS.replace("MOST", "9").replace("END", "sys.exit('no')"), "error", {},
         ["paper_failed"]),
        ("import os; os.kill(os.getpid(), 11)", "error", {}, ["paper_failed"]),
    ],
)  # fmt: skip
def test_pages_that_end_the_process_are_left_out_and_a_slow_machine_is_no_failure(
    bad_papers: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    status: str,
    where: dict[str, str],
    codes: list[str],
) -> None:
    monkeypatch.setattr(run, "_WORKER", (sys.executable, "-c", OUTCOME + script))
    out, params = tmp_path / "out", OcrParams(timeout_s=0.2)
    (file,) = read_papers([bad_papers / "whole.pdf"], out, params).files
    assert (file.status, file.where, file.codes) == (status, where, codes)
    assert file.pages == (0 if status == "error" else 3)
    assert OcrReport.model_validate_json((out / "report.json").read_text("utf-8")).files == [file]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os.kill(os.getpid(), 11)", "was ended by signal 11 (Segmentation fault, a fault in a"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9 (Killed, as the system does if memory"),
        ("sys.exit('broken')", "ended with exit code 1: broken"),
    ],
)
def test_the_end_of_a_reader_has_a_reason(
    bad_papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, said: str
) -> None:
    monkeypatch.setattr(run, "_WORKER", (sys.executable, "-c", f"import os, sys; {end}"))
    outcome = run.run_job(job(bad_papers / "whole.pdf", tmp_path / "out"))
    assert outcome.error is not None
    assert f"whole.pdf: the reader {said}" in outcome.error[1]


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "limit_cpu(0.5)",
        "limit_cpu(1e3); Allowance(1e3, Path('page'), 0, page_s=0.1).begins(7)",
        "limit_cpu(0.5); own = Allowance(1e3, Path('p'), 0, page_s=1e3); own.begins(7); own.end()",
    ],
)
def test_a_process_ends_when_the_cpu_time_of_a_page_or_of_all_is_used_up(
    code: str, tmp_path: Path
) -> None:
    head = "from pathlib import Path; from omibench.stages.ocr.jobs import Allowance, limit_cpu"
    done = subprocess.run(
        [sys.executable, "-c", f"{head}; {code}\nwhile True: pass"],
        check=False, timeout=300, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == -signal.SIGXCPU


def test_a_process_without_a_limit_gets_none_for_a_page(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_CPU)
    own = Allowance(60, tmp_path / "page", 0, page_s=0.1)
    assert own.begins(1)
    assert resource.getrlimit(resource.RLIMIT_CPU) == before
    own.end()
