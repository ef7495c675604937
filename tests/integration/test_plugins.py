"""A study whose provider, prompt and scorer are files of the user's own, through the graph."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image
from tests.integration.conftest import Run

from omibench.plugins.allowance import allow_folder
from omibench.schemas.tables import VerdictRow, read_parquet

pytestmark = pytest.mark.slow

PARAMS = """\
study: {name: mine}
plugins: [single_file.py, their_provider.py]
benchmark: {name: folder}
data: problems
models: {echo: {provider: their-provider, id: one, reply: B}}
settings: {letter: {prompt: letter-only}}
infer: {models: [echo], settings: [letter]}
score: {scorers: [first-letter]}
"""
PROBLEMS = """\
id,question,answer,images,choices,subject
first,Which of [IMAGE0] and [IMAGE1]?,A,a.png | b.png,x | y,physics
second,Which of [IMAGE0] and [IMAGE1]?,B,b.png | a.png,x | y,physics
"""


@pytest.fixture(scope="module")
def study(checkout: Path, run: Run, root: Path) -> Path:
    """The folder of the study, in which it has run."""
    allow_folder(checkout)
    shutil.copy(root / "examples/plugin/single_file.py", checkout)
    run("omibench", "new", "provider", "their-provider", "--plugin")
    (checkout / "problems").mkdir()
    (checkout / "problems/problems.csv").write_text(PROBLEMS)
    for number, name in enumerate("ab", 8):
        Image.new("RGB", (number, number)).save(checkout / f"problems/{name}.png")
    (checkout / "params.yaml").write_text(PARAMS)
    run("snakemake", "--cores", "2", "score_all")
    return checkout


def planned(run: Run) -> set[str]:
    """The rules of which jobs would run."""
    done = run("snakemake", "-n", "score_all")
    said = done.stdout + done.stderr
    return {name for name in ("freeze", "infer", "score") if f"rule {name}:" in said}


def test_their_parts_are_used_in_jobs(study: Path, run: Run) -> None:
    rows = read_parquet(study / "results/score/echo/letter.parquet", VerdictRow)
    assert dict(zip(rows["id"], rows["verdict"], strict=True)) == {"first": 0.0, "second": 1.0}
    assert set(rows["rules"]) == {"first-letter"}


@pytest.mark.long
def test_what_a_file_means_decides_what_reruns(study: Path, run: Run) -> None:
    file = study / "their_provider.py"
    text = file.read_text()
    assert planned(run) == set()
    file.write_text(f"# A remark.\n{text}")
    assert planned(run) == set()
    file.write_text(text.replace('finish_reason="stop"', 'finish_reason="length"'))
    assert {"infer"} <= planned(run)
    file.write_text("raise ValueError('no')\n")
    said = run("snakemake", "-n", "score_all", ok=False)
    assert (
        "params.yaml, line 2: plugins.1: their_provider.py, line 1: ValueError: no" in said.stderr
    )
    assert "Traceback" not in said.stderr
    file.write_text(text)
    assert planned(run) == set()
