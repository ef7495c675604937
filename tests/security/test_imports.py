"""Python code that lies beside papers or results is never imported."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.stages.ocr.conftest import exam

from omibench.answers.formulas.symbolic import Worker
from omibench.files.programs import isolate, isolate_env, python_module

NAMES = (
    "pymupdf", "pydantic", "yaml", "omibench", "PIL", "numpy", "polars", "typer", "json", "csv",
    "encodings", "site", "sitecustomize", "usercustomize", "math_verify", "sympy", "snakemake",
    "dvc", "hashlib", "rapidocr",
)  # fmt: skip
SRC = Path(__file__).parents[2]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder of papers whose modules leave a mark when they are imported."""
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in NAMES:
        mark = f"open({str(folder / 'owned')!r}, 'a').write({name!r})\n"
        (folder / f"{name}.py").write_text(mark + "raise SystemExit(66)\n")
    (folder / "exam.pdf").write_bytes(exam().tobytes())
    return folder


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True,
        check=False, timeout=250,
    )  # fmt: skip


def omibench() -> str:
    return str(Path(sys.executable).with_name("omibench"))


@pytest.mark.slow
def test_papers_are_read_beside_hostile_modules(hostile: Path) -> None:
    done = run(hostile, omibench(), "ocr", "exam.pdf", "--out", "out")
    assert not (hostile / "owned").exists()
    assert done.returncode == 0, done.stderr
    assert len((hostile / "out/problems.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize("empty", ["", ".", "papers/.."])
def test_a_reader_takes_nothing_from_relative_entries_of_the_path(
    hostile: Path, empty: str
) -> None:
    command = python_module("omibench.stages.ocr.worker")
    done = subprocess.run(
        command, cwd=hostile, input="{}", capture_output=True, text=True, check=False,
        env=isolate_env(os.environ | {"PYTHONPATH": f"{empty}{os.pathsep}{hostile.parent}"}),
    )  # fmt: skip
    assert "ValidationError" in done.stderr, "it got as far as reading its job"
    assert not (hostile / "owned").exists()


def test_a_scoring_worker_starts_beside_hostile_modules(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    worker = Worker()
    try:
        assert worker.ask("equal", ("x+1", "1+x"), 20.0).result is True
    finally:
        worker.stop()
    assert not (hostile / "owned").exists()


def test_what_a_child_is_given() -> None:
    given = {"A": "1", "PYTHONPATH": os.pathsep.join(["", "/lib", "rel", "."])}
    assert isolate_env(given) == {"A": "1", "PYTHONPATH": "/lib", "PYTHONSAFEPATH": "1"}
    assert isolate_env({"PYTHONPATH": ""}) == {"PYTHONSAFEPATH": "1"}
    isolate(given)
    assert given == {"A": "1", "PYTHONPATH": "/lib", "PYTHONSAFEPATH": "1"}


def test_every_python_that_we_start_is_isolated() -> None:
    """`sys.executable` and `python -m` stand in one place: nobody forgets the switch."""
    files = [p for d in ("src", "workflows", "rules") for p in (SRC / d).rglob("*")]
    files += [SRC / "Snakefile", SRC / "dvc.yaml", SRC / "prefect.yaml"]
    starts = re.compile(r"sys\.executable|[\"'\s]python3? -[mc]\b|shell=True|os\.system|os\.popen")
    found = [
        f"{path.relative_to(SRC)}: {line.strip()}"
        for path in files
        if path.suffix in (".py", ".smk", ".yaml", "") and path.is_file()
        for line in path.read_text("utf-8").splitlines()
        if starts.search(line) and path.name != "programs.py"
    ]
    told = ("python -m workflows.", '"""')  # how a user starts a flow, in docstrings
    odd = [line for line in found if not any(word in line for word in told)]
    assert odd == [
        f"rules/common.smk: {line.strip()}"
        for line in (SRC / "rules/common.smk").read_text("utf-8").splitlines()
        if "Path(sys.executable).parent" in line
    ]


def test_python_m_omibench_leaves_the_current_folder_out(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise SystemExit(66)")
    done = run(tmp_path, sys.executable, "-m", "omibench", "--version")
    assert (done.returncode, done.stdout[:8]) == (0, "omibench")


@pytest.mark.slow
def test_snakemake_in_a_folder_of_hostile_modules_imports_none(hostile: Path) -> None:
    (hostile / "sources.yaml").write_text("sources:\n- {name: a, paper: exam.pdf}\n")
    (hostile / "params.yaml").write_text(
        "study: {name: mine}\nocr: {sources: sources.yaml}\nfreeze: {name: a, version: 1.0.0}\n"
    )
    done = run(
        hostile, str(Path(sys.executable).with_name("snakemake")), "results/ocr/problems.jsonl",
        "--snakefile", str(SRC / "Snakefile"), "--cores", "1",
    )  # fmt: skip
    assert not (hostile / "owned").exists(), (hostile / "owned").read_text()
    assert done.returncode == 0, done.stderr
    assert len((hostile / "results/ocr/problems.jsonl").read_text().splitlines()) == 2
