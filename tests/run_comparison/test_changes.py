"""What differs between two runs is named, from the records beside their results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.run_comparison.runs import MadeRun, make_run

from omibench.errors import FileFormatError
from omibench.results.comparison.compare import compare_run_folders
from omibench.results.comparison.report import RunComparison
from omibench.schemas.cells import CellOrigin
from omibench.schemas.tables import ResponseRow, read_parquet, write_frame


def write_run(folder: Path, run: MadeRun, values: dict[str, Any], **record: object) -> Path:
    """A run with the record of the job that asked its only cell."""
    run.write(folder)
    texts = [repr("c0de"), repr(json.dumps(values))]
    records = {"results/infer/m/cot.parquet": {"params": texts, **record}}
    provenance = {"files": {}, "records": records}
    (folder / "infer/provenance.json").write_text(json.dumps(provenance), "utf-8")
    return folder


def changes(comparison: RunComparison) -> dict[str, tuple[str, str]]:
    return {change.field: (change.a, change.b) for change in comparison.changes}


A, B = make_run("ABCD"), make_run("BBCD").change(revision="2")
B = B.change(golds=A.golds)


def make_params(temperature: float = 0.0, **model: object) -> dict[str, Any]:
    settings = {"cot": {"decoding": {"temperature": temperature}}}
    return {"models": {"m": {"provider": "openai", **model}}, "settings": settings}


def test_parameters_of_the_jobs_are_named(tmp_path: Path) -> None:
    comparison = compare_run_folders(
        write_run(tmp_path / "a", A, make_params(model="x-2025")),
        write_run(tmp_path / "b", B, make_params(0.7, model="x-2026")),
    )
    assert changes(comparison) == {
        "models.m.model": ('"x-2025"', '"x-2026"'),
        "settings.cot.decoding.temperature": ("0.0", "0.7"),
    }
    assert {change.cause for change in comparison.changes} == {"response"}


def test_prompt_files_are_named_and_results_of_the_study_are_not(tmp_path: Path) -> None:
    sums = [{"prompts/cot.txt": f"sha256:{i}", "results/freeze/questions.jsonl": i} for i in "12"]
    comparison = compare_run_folders(
        write_run(tmp_path / "a", A, make_params(), input_checksums=sums[0]),
        write_run(tmp_path / "b", B, make_params(), input_checksums=sums[1]),
    )
    assert changes(comparison) == {"file prompts/cot.txt": ("sha256:1", "sha256:2")}


def test_secrets_are_never_shown(tmp_path: Path) -> None:
    secret = "sk-abcdef0123456789abcdef"
    comparison = compare_run_folders(
        write_run(tmp_path / "a", A, make_params(api_key=secret, note=f"with {secret}")),
        write_run(tmp_path / "b", B, make_params(api_key="other", note="with none")),
    )
    text = comparison.model_dump_json()
    assert secret not in text
    assert changes(comparison)["models.m.note"] == ('"with ***"', '"with none"')


@pytest.mark.parametrize(
    "text", ["__import__('os')", "'{'", "'[1]'", "'" + "[" * 5000, "1 + 1", "(" * 9000]
)
def test_records_of_others_are_data(tmp_path: Path, text: str) -> None:
    a = write_run(tmp_path / "a", A, make_params())
    b = write_run(tmp_path / "b", B, make_params(0.7), params=[text])
    assert "settings.cot.decoding.temperature" not in changes(compare_run_folders(a, b))


def test_a_record_of_another_job_says_nothing(tmp_path: Path) -> None:
    folders = [
        write_run(tmp_path / "a", A, make_params()),
        write_run(tmp_path / "b", B, make_params(0.7)),
    ]
    for folder, job in zip(folders, ("1" * 16, "2" * 16), strict=True):
        path = folder / "infer/m/cot.parquet"
        frame = read_parquet(path, ResponseRow)
        write_frame(path, frame, ResponseRow, CellOrigin("infer", "m", "cot", job))
    (found,) = changes(compare_run_folders(*folders)).items()
    assert found == ("parameters of infer (hash)", ("1" * 16, "2" * 16))


def test_a_broken_record_is_one_line(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", A, {}), write_run(tmp_path / "b", B, {})
    (b / "infer/provenance.json").write_text("{", "utf-8")
    with pytest.raises(FileFormatError, match=r"infer/provenance\.json: "):
        compare_run_folders(a, b)


def test_what_responses_say_without_any_record(tmp_path: Path) -> None:
    a, b = A.write(tmp_path / "a"), B.change(served_model="m-2").write(tmp_path / "b")
    assert changes(compare_run_folders(a, b)) == {"served model": ("(absent)", "m-2")}


def test_the_same_requests_asked_again(tmp_path: Path) -> None:
    again = make_run("BBCD").change(golds=A.golds)
    comparison = compare_run_folders(A.write(tmp_path / "a"), again.write(tmp_path / "b"))
    assert changes(comparison) == {"requests": ("the same", "asked again")}
