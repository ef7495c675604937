"""Without PyMuPDF, which is under the AGPL, all runs that reads no paper."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BLOCK = """
import sys
from importlib.machinery import PathFinder
_find = PathFinder.find_spec
def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in ("pymupdf", "fitz") else _find(name, path, target)
PathFinder.find_spec = find_spec
"""
COMMANDS = """
import json, sys
from omibench.cli.main import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["omibench", *words]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
"""
PARAMS = {
    "study": {"name": "free"},
    "benchmark": {"name": "frozen"},
    "data": "release",
    "models": {"m": {"provider": "simulated", "oracle": "oracle.jsonl"}},
    "settings": {"cot": {}},
    "infer": {"models": ["m"], "settings": ["cot"]},
    "score": {"scorers": ["robust"]},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(BLOCK)
    (tmp_path / "params.yaml").write_text(json.dumps(PARAMS))
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder / "site")}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def omibench(folder: Path, *commands: tuple[str, ...]) -> str:
    """Several commands in one process, which imports once."""
    done = run(folder, "-c", COMMANDS, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_study_of_a_frozen_dataset_runs_whole(folder: Path) -> None:
    missing = run(folder, "-c", "import omibench, pymupdf")
    assert "No module named 'pymupdf'" in missing.stderr
    assert "ocr" in omibench(folder, ("--help",))
    (folder / "problems.csv").write_text("id,question,answer\na,How much is 1 + 2?,3\nb,4?,4\n")
    rows = [{"id": "a", "answer": ["3"], "n_images": 0}, {"id": "b", "answer": ["4"]}]
    (folder / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    own = json.dumps({"benchmark": {"name": "folder"}, "data": "."})
    questions, out = "results/freeze/questions.jsonl", "results/infer/m/cot.parquet"
    answers = ("--answers", "results/freeze/answers.jsonl", "--questions", questions)
    params = ("--params", "params.yaml")
    shown = omibench(
        folder,
        ("freeze", "--out", "release", "--params", own),
        ("freeze", "--out", "results/freeze"),
        ("plan",),
        ("infer", questions, "--model", "m", "--setting", "cot", "--out", out),
        ("score", out, *answers, *params, "--out", "results/score/m/cot.parquet"),
        ("analyze", "results", "--out", "results/analyze"),
    )
    assert "Plan of the study 'free'" in shown
    assert (folder / "results/analyze/report.html").is_file()


def test_a_paper_is_told_what_it_lacks(folder: Path) -> None:
    (folder / "exam.pdf").write_bytes(b"%PDF-1.7")
    done = run(folder, "-m", "omibench", "ocr", "exam.pdf", "--out", "out")
    assert done.returncode == 2
    assert done.stderr.startswith("omibench: ocr: reading papers needs pymupdf, which is not")
    assert "pip install 'omibench[pdf]'" in done.stderr


def test_rows_of_benchmarks_are_taken_without_it(folder: Path) -> None:
    (folder / "own").mkdir()
    (folder / "own/problems.csv").write_text("id,question,answer\na,Why?,4\n")
    (folder / "sources.yaml").write_text("benchmarks:\n- {name: own, folder: own}\n")
    omibench(folder, ("ocr", "--manifest", "sources.yaml", "--out", "out"))
    assert len((folder / "out/problems.jsonl").read_text().splitlines()) == 1
