"""The last words of a run that made a dataset: how much there is, and where it lies."""

from __future__ import annotations

from pathlib import Path

from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Problem
from omibench.schemas.tables import FrozenManifest, write_json, write_jsonl
from omibench.stages.filter import filter_problems
from omibench.study.status.runs import FOLDER
from omibench.study.status.text import describe_ending

EVENTS = """{"time": 1, "pid": 1, "host": "h", "process": null, "command": [], "jobs": \
[{"id": 1, "stage": "filter", "output": "a"}, {"id": 2, "stage": "freeze", "output": "b"}], \
"current": []}
{"time": 2, "job": 1, "state": "done"}
{"time": 3, "job": 2, "state": "done"}
{"time": 4, "end": "done"}
"""


def problem(number: int, answer: list[str] | None) -> Problem:
    return Problem(
        id=f"p-{number}", question="How far?", source="p", source_sha256="0" * 64,
        number=str(number), pages=[1], answer=answer,
    )  # fmt: skip


def test_a_run_that_filtered_and_froze_says_how_much_and_where(tmp_path: Path) -> None:
    results = tmp_path / "results"
    study = parse_study(
        {"study": {"results": str(results), "store": str(tmp_path / "store")}}, "test"
    )
    write_jsonl(tmp_path / "problems.jsonl", [problem(1, ["3 m"]), problem(2, None)])
    filter_problems(tmp_path / "problems.jsonl", results / "filter", Study())
    manifest = FrozenManifest(
        name="n", version="1", problems=7, images=1, questions_sha256="", answers_sha256="",
        subjects={}, licence=None, synthetic=None,
    )  # fmt: skip
    write_json(results / "freeze/manifest.json", manifest)
    notes = results / FOLDER / "1.jsonl"
    notes.parent.mkdir()
    notes.write_text(EVENTS)
    told = describe_ending(study, notes)
    assert "2 problems, 1 with an answer; 0 kept, 2 rejected (2 statement_incomplete): " in told
    assert f"{results}/filter/rejects.html" in told
    assert f"Frozen: 7 problems, 1 picture: {results}/freeze/README.md" in told
    assert "Report" not in told
    (results / "filter/rejects.parquet").unlink()
    (results / "freeze/manifest.json").write_text("{")
    assert "2 jobs done" in describe_ending(study, notes), (
        "what is broken is not told, and ends nothing"
    )
